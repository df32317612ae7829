/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/metric-set.h"
#include "state-client/model.h"

/*
 * The metrics of the whole cluster, as the model knows it. Nodes and links are in the order of their ids.
 * Unknown values are omitted. An offline node has only alidade_node_up, which is 0; a node whose presence is
 * unknown, or that two machines claim to be, has only its presence; links of such nodes are omitted. Names of
 * nodes are in alidade_node_info alone, so that a renamed node keeps its series. A node has at most
 * ALD_METRIC_SAMPLES_PER_NODE samples of what it reports, and ALD_METRIC_SAMPLES_PER_PEER more for each node
 * that it may have links to; alidade_node_samples_left_out counts the others.
 */
#define ALD_METRIC_SAMPLES_PER_NODE 10000u
#define ALD_METRIC_SAMPLES_PER_PEER 64u

AldMetricSet *ald_open_metrics_new(AldModel *model);
