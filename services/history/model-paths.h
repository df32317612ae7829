/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/node-names.h"
#include "state/alerts/alert-paths.h"

/* Returns whether a node is heard, so that its records are current: true for this machine and for nodes that
 * are online or stale. */
bool ald_node_is_heard(AldModel *model, const AldEntity *node);

/* Returns the paths of the links of the cluster for ald_alerts_update(); valid until the model changes. */
AldAlertPaths *ald_model_paths_new(AldModel *model, const AldNodeNames *names);
