/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state-client/model.h"

typedef enum AldPinResult {
        ALD_PIN_FOUND,
        ALD_PIN_NO_NODE,
        ALD_PIN_AMBIGUOUS,
        ALD_PIN_NO_DEVICE,
} AldPinResult;

/*
 * Resolves a node or device in an option, "NODE" or "NODE/DEVICE", where NODE is a name, an id or its first
 * digits. *ret has the id of the node instead, as the planner requires it. For ALD_PIN_AMBIGUOUS,
 * *ret_candidates has the ids of the matching nodes, for a message. Free both with g_free().
 */
AldPinResult ald_pin_resolve(
        AldModel *model, const char *text, bool with_device, char **ret, char **ret_candidates);
