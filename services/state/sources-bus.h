/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/*
 * The services of this node that measure: reads their records, follows their changes, and has the bus start
 * them when they are gone.
 */
typedef struct AldSources AldSources;

int ald_sources_new(AldService *service, AldStateManager *manager, AldSources **ret);
void ald_sources_free(AldSources *sources);
