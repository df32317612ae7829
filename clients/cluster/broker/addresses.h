/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#define ALD_ADDRESSES_MAX 60u /* names and addresses of one broker */
#define ALD_BROKERS_MAX 32u   /* brokers of a cluster */

/* Returns why a text is not a host name or address, or NULL if it is one. IPv6 addresses have no brackets
 * here. A name may end in a dot; ald_pki_host_without_dot() removes it. */
const char *ald_host_refuse(const char *host);

/* Returns whether both are the same name or address, in whatever spelling. */
bool ald_host_equal(const char *a, const char *b);

/* Returns why `brokers=` would not accept a text (host, host:port, [address]:port), or NULL. */
const char *ald_broker_refuse(const char *text);

/* Converts a host to an entry of `brokers=`, and back, without a dot that ends its name. */
char *ald_broker_from_host(const char *host);
char *ald_broker_host(const char *broker);

/* Prints a note if a name does not resolve here, or to no address of this machine. That may be intended:
 * others may resolve it, or reach this machine through another one. */
void ald_broker_address_note(const char *host);

/*
 * Returns names and addresses at which others may reach this machine, the best one first: its full name if
 * that resolves to an address other than loopback, else its first address, else its short name. Bridges that
 * connect only its containers or guests count only if there is nothing else.
 */
char **ald_addresses_of_machine(void);

/*
 * The brokers of a cluster as `brokers=` names them. Each is listed once: a node would replace its first
 * connection to a broker with two addresses by its second.
 */

/* Returns the list with this host in the place of those under which the same broker was known, else at its
 * end. */
char **ald_broker_list_put(char **brokers, char **known, const char *host);

/* Returns the list without brokers on any of these hosts. */
char **ald_broker_list_drop(char **brokers, char **hosts);
