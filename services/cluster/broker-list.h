/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/broker.h"

/* Arrays of AldBroker *, that own them: how a new list is made out of an old one. */
GPtrArray *ald_broker_list_new(void);

/* Appends the brokers at these addresses (AldAddress), each once: out of the old list, else new ones, which
 * are started. */
void ald_broker_list_append(
        GPtrArray *list, GPtrArray *old, const GArray *addresses, bool discovered, AldBrokerCommon *common);

/* Appends the discovered ones of the old list that are connected. */
void ald_broker_list_append_connected(GPtrArray *list, GPtrArray *old);
