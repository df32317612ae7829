/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* After ALD_NOTICE_USEC the user sees what the client waits for; after ALD_ANSWER_USEC the client gives
 * up. */
#define ALD_NOTICE_USEC (UINT64_C(3) * 1000 * 1000)
#define ALD_ANSWER_USEC (UINT64_C(10) * 1000 * 1000)
/* The timeout of a call for which the service may have polkit ask a person for a password. */
#define ALD_ASKING_USEC (UINT64_C(120) * 1000 * 1000)
/* The timeout for another host where ssh has no terminal to ask on; ssh may have to go through other
 * hosts. */
#define ALD_REMOTE_ANSWER_USEC (UINT64_C(30) * 1000 * 1000)

/* Returns true if ssh can take this as a host: [USER@]HOST[:PORT][/CONTAINER], or with :CONTAINER for the
 * latter. */
bool ald_connection_is_host(const char *text);

/* Returns true if ssh is installed. */
bool ald_connection_has_ssh(void);

/*
 * Begins to connect to the system bus of another host over ssh; check the host and ssh first. If the host is
 * NULL, connects to the bus at $ALIDADE_BUS_ADDRESS or else to the system bus. Returns a negative errno of
 * sd-bus on error.
 */
int ald_connection_open(const char *host, sd_bus **ret);

/* Returns the other end in words: the host, the address, or "the system bus". The result points into the
 * argument, the environment or the translations. */
const char *ald_connection_place(const char *host);

/*
 * Waits until the connection is established. Calls `notice` (may be NULL) once after ALD_NOTICE_USEC. Returns
 * -ETIMEDOUT if there is no answer: from another host after 90 s where there is a terminal, since the user
 * may be typing a password into ssh, else after ALD_REMOTE_ANSWER_USEC; from a bus of this machine after
 * ALD_ANSWER_USEC. Other errors are those of sd-bus.
 */
int ald_connection_await(sd_bus *bus, bool is_remote, void (*notice)(void *userdata), void *userdata);
