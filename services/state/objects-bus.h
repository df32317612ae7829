/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/* Exports nodes and links as objects below /org/alidade/State1, with an interface for each record that is
 * shown. */
typedef struct AldObjects AldObjects;

int ald_objects_new(AldService *service, AldStateManager *manager, AldObjects **ret);
void ald_objects_free(AldObjects *objects);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldObjects, ald_objects_free)
