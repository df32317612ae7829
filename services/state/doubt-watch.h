/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/state/state-manager.h"

/*
 * Keeps Node1.Doubts of all nodes in step with their other records. All figures are judged together, soon
 * after a change; with more nodes, more changes are judged together.
 */
typedef struct AldDoubtWatch AldDoubtWatch;

AldDoubtWatch *ald_doubt_watch_new(AldStateManager *manager);
void ald_doubt_watch_free(AldDoubtWatch *watch);
