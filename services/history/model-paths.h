/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/history/node-names.h"
#include "state/alerts/alert-paths.h"

/* Whether a node is heard, so that its records are of now: this machine, and others that are online or
 * stale. */
bool ald_node_is_heard(AldModel *model, const AldEntity *node);

/* What the links of the cluster pass, for ald_alerts_update(); valid until the model changes. */
AldAlertPaths *ald_model_paths_new(AldModel *model, const AldNodeNames *names);
