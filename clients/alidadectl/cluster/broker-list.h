/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * The brokers of a cluster as `brokers=` names them: each once, since one that is reached by two addresses
 * would take a node's second connection for its first.
 */

/* The list with this host in the place of those under which the same broker was known, else at the end. */
char **ald_broker_list_put(char **brokers, char **known, const char *host);

/* The list without those on any of these hosts. */
char **ald_broker_list_drop(char **brokers, char **hosts);
