/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/metric-set.h"
#include "state-client/model.h"

/*
 * Metrics of the whole cluster, as the model knows it. Nodes and links are in the order of their ids. What is
 * unknown is left out. Of a node that is offline, only alidade_node_up is there, and 0; of one whose presence
 * is unknown, or that two machines claim to be, only its presence; a link of such a node is left out. Names
 * of nodes are in alidade_node_info alone, so that a node that is renamed has the same series as before. Of
 * what a node reports, at most ALD_METRIC_SAMPLES_PER_NODE samples are there, and ALD_METRIC_SAMPLES_PER_PEER
 * more for each node that it may have links to; alidade_node_samples_left_out counts the others.
 */
#define ALD_METRIC_SAMPLES_PER_NODE 10000u
#define ALD_METRIC_SAMPLES_PER_PEER 64u

AldMetricSet *ald_open_metrics_new(AldModel *model);
