/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The brokers of a cluster as `brokers=` names them: each once, since a broker with two addresses would
 * replace a node's first connection with its second.
 */

/* The list with this host instead of those under which the same broker was known, else at its end. */
char **ald_broker_list_put(char **brokers, char **known, const char *host);

/* The list without those on any of these hosts. */
char **ald_broker_list_drop(char **brokers, char **hosts);
