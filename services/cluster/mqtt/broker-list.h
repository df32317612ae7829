/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/mqtt/broker.h"

/* Arrays that own their AldBroker *: builds a new list from an old one. */
GPtrArray *ald_broker_list_new(void);

/* Appends the brokers at these addresses (AldBrokerAddress), each once: those of the old list are kept,
 * others are created and started. */
void ald_broker_list_append(
        GPtrArray *list, GPtrArray *old, const GArray *addresses, bool discovered, AldBrokerCommon *common);

/* Appends the discovered ones of the old list that are connected. */
void ald_broker_list_append_connected(GPtrArray *list, GPtrArray *old);
