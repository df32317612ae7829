/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/listen/members.h"
#include "services/link-probe/state/state-query-bus.h"

/* Keeps the members up to date with the addresses that nodes report. */
typedef struct AldAddresses AldAddresses;

/* The members must outlive it; the query is freed first. Addresses of `own_id` are not added. */
AldAddresses *ald_addresses_new(AldStateQuery *query, const char *own_id, AldMembers *members);
void ald_addresses_free(AldAddresses *addresses);

/* Requests the addresses if `now` is set, or if the last reply is missing or some minutes old. Does nothing
 * while a request is pending. */
void ald_addresses_update(AldAddresses *addresses, bool now);
