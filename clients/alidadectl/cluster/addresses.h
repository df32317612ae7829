/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#define ALD_ADDRESSES_MAX 60u /* names and addresses of one broker */
#define ALD_BROKERS_MAX 32u   /* of a cluster */

/* Why a text is no name or address of a host, or NULL where it is one. IPv6 has no brackets here. */
const char *ald_host_refuse(const char *host);

/* Why a text is none that `brokers=` takes (host, host:port, [address]:port), or NULL. */
const char *ald_broker_refuse(const char *text);

/* A host as `brokers=` takes it, and the host of such an entry. */
char *ald_broker_from_host(const char *host);
char *ald_broker_host(const char *broker);

/* Says where a name does not resolve here, or nothing of it is an address of this machine. That may be as it
 * shall be: others may resolve it, or reach this machine through another one. */
void ald_address_note(const char *host);

/*
 * Names and addresses under which others may reach this machine, the one to tell them first: its full name
 * where it resolves to an address that is not its own only, else its first address, else its short name.
 * Bridges that join its containers or guests alone count only where there is nothing else.
 */
char **ald_addresses_of_machine(void);
