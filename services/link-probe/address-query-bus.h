/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/members.h"

/* Asks the state service at which addresses the nodes say they are. */
typedef struct AldAddressQuery AldAddressQuery;

/* The members must outlive it; own_id is left out of them. */
AldAddressQuery *ald_address_query_new(AldService *service, const char *own_id, AldMembers *members);
void ald_address_query_free(AldAddressQuery *query);

/* Asks where `now` is set, the last answer is some minutes old, or there was none; not while it is asked. */
void ald_address_query_run(AldAddressQuery *query, bool now);
