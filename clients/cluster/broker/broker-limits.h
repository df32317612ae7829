/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/cluster/broker/mosquitto-conf.h"

/*
 * The lines of the drop-in that limit the clients of all listeners. A new reader gets at once all that is
 * retained, some 14 messages for each node, and mosquitto drops what does not fit into its queue, so the
 * queue is sized for `nodes`, but for 1000 at least: 64 messages and 256 KiB for each.
 *
 * If mosquitto serves others, only what the cluster needs is set, and nothing that takes away from them. What
 * a line changes for them, and what a line elsewhere sets instead, is appended to `ret_notes` (char *), which
 * may be NULL.
 */
char *ald_broker_limits_format(const AldMosquittoConf *conf, uint64_t nodes, GPtrArray *ret_notes);
