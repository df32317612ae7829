/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* A person is told after so long what is waited for; a bus here that gives no answer for so long is given up.
 */
#define ALD_NOTICE_USEC (UINT64_C(3) * 1000 * 1000)
#define ALD_ANSWER_USEC (UINT64_C(10) * 1000 * 1000)

/* Whether it can be the host of a login by ssh: [USER@]HOST[:PORT]. */
bool ald_connection_is_host(const char *text);

/* Begins to connect to a bus at this address. Negative errno. */
int ald_connection_open_address(const char *address, sd_bus **ret);

/*
 * Begins to connect to the bus of another host, by ssh; of this machine where that is NULL: the system bus,
 * or that at $ALIDADE_BUS_ADDRESS. Negative errno; -EINVAL for what is no host, -ENOPKG where ssh is not
 * installed.
 */
int ald_connection_open(const char *host, sd_bus **ret);

/* What it connects to, for people: the host, the address, or "the system bus". Points into its argument or
 * the environment. */
const char *ald_connection_place(const char *host);

/*
 * Waits for the bus to greet us, so that a bus that cannot be used is noticed here, and calls `notice`
 * (maybe NULL) once if that takes its time. -ETIMEDOUT where it gives no answer; another host is waited for
 * as long as ssh does, since a person may be typing a password into it. Other errors are those of sd-bus.
 */
int ald_connection_await(sd_bus *bus, bool is_remote, void (*notice)(void *userdata), void *userdata);
