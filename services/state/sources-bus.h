/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/*
 * The services of this node that provide records. Reads the records, follows their changes, and makes the bus
 * start the services if they are not running.
 */
typedef struct AldSources AldSources;

int ald_sources_new(AldService *service, AldStateManager *manager, AldSources **ret);
void ald_sources_free(AldSources *sources);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldSources, ald_sources_free)
