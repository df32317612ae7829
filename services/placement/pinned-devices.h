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
 * What options name, as the planner takes it: "NODE" or "NODE/DEVICE", where NODE is a name, an id or its
 * first digits, with the id of the node instead. ALD_PIN_AMBIGUOUS comes with the ids of the nodes that it
 * may mean, for a message. Both are to be freed with g_free().
 */
AldPinResult ald_pin_resolve(
        AldModel *model, const char *text, bool with_device, char **ret, char **ret_candidates);
