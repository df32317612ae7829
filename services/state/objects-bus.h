/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/state/state-manager.h"

/* Nodes and links as objects below /org/alidade/State1: an interface for each record that is there and shown.
 */
typedef struct AldObjects AldObjects;

int ald_objects_new(AldService *service, AldStateManager *manager, AldObjects **ret);
void ald_objects_free(AldObjects *objects);
