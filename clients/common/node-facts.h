/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/facts.h"
#include "state-client/model.h"

/* An overview of a node, as AldFacts: model, processor, system, memory, load, devices, network, disks, and
 * when it was seen (now_usec is CLOCK_REALTIME). */
GPtrArray *ald_node_facts(const AldEntity *node, double now_usec);
