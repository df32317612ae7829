/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/cluster/broker/mosquitto-conf.h"

/*
 * Returns the lines of the drop-in that limit the clients of all listeners. A new subscriber gets everything
 * that is retained at once, some 14 messages for each node, and mosquitto drops what does not fit into its
 * queue. The queue is therefore sized for `nodes`, but at least for 1000: 64 messages and 256 KiB for each.
 *
 * If mosquitto serves others, only what the cluster needs is set, and nothing that takes away from them. What
 * a line changes for them, and what a line elsewhere sets instead, is appended to `ret_notes` (char *), which
 * may be NULL.
 */
char *ald_broker_limits_format(const AldMosquittoConf *conf, uint64_t nodes, GPtrArray *ret_notes);
