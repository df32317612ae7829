/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/metric-set.h"
#include "state-client/model.h"

/*
 * Metrics of the whole cluster, as the model knows it. Nodes and links are in the order of their ids. What is
 * unknown is left out. Of a node that is offline, only alidade_node_up is there, and 0; of one whose presence
 * is unknown, or that two machines claim to be, only its presence; a link of such a node is left out.
 */
AldMetricSet *ald_open_metrics_new(AldModel *model);
