/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include <glib.h>

#include "clients/alidadectl/ctl.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus, sd_bus_flush_close_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(sd_bus_message, sd_bus_message_unref)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(sd_bus_error, sd_bus_error_free)

#define ALD_STATE_NAME "org.alidade.State1"
#define ALD_STATE_PATH "/org/alidade/State1"
#define ALD_STATE_INTERFACE "org.alidade.State1"
#define ALD_CLUSTER_NAME "org.alidade.Cluster1"
#define ALD_CLUSTER_PATH "/org/alidade/Cluster1"
#define ALD_CLUSTER_INTERFACE "org.alidade.Cluster1"
#define ALD_CLUSTER_UNIT "alidade-clusterd"
#define ALD_STATE_UNIT "alidade-stated"
#define ALD_LINK_PROBE_NAME "org.alidade.LinkProbe1"
#define ALD_LINK_PROBE_PATH "/org/alidade/LinkProbe1"
#define ALD_LINK_PROBE_INTERFACE "org.alidade.LinkProbe1"
#define ALD_LINK_PROBE_UNIT "alidade-link-probed"
#define ALD_IDENTITY_NAME "org.alidade.Identity1"
#define ALD_IDENTITY_UNIT "alidade-identityd"
#define ALD_IDENTITY_PATH "/org/alidade/Identity1"
#define ALD_IDENTITY_INTERFACE "org.alidade.Identity1"

/* After so long one is told what is waited for, and after so long without an answer it is given up. */
#define ALD_NOTICE_USEC (UINT64_C(3) * 1000 * 1000)
#define ALD_ANSWER_USEC (UINT64_C(10) * 1000 * 1000)

/* A bus at this address; a negative errno where there is none. */
int ald_bus_open_address(const char *address, sd_bus **ret);

/* Opens the bus that was asked for. Says what is wrong and returns an exit code, 0 where all is well. */
int ald_bus_open(const AldCtl *ctl, sd_bus **ret);

/* Whether it can be the host of a login by ssh: [USER@]HOST[:PORT]. */
bool ald_bus_is_host(const char *text);

/* Finds out whether a service answers, starting it where it can be started, and says so if it takes its time.
 */
int ald_bus_await(sd_bus *bus, const char *name, sd_bus_error *error);

/* Puts a failure into words where no error was sent with it. */
void ald_bus_ensure_error(sd_bus_error *error, int r);

/* What a failed call means to the one who ran us. */
int ald_bus_exit_code(const sd_bus_error *error);

/* Says why something that the unit does failed: the text of the error, made safe. Returns the exit code for
 * it.
 */
int ald_bus_complain(const sd_bus_error *error, const char *what, const char *unit);
