/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/history/history-manager.h"

/* Keeps the model of a manager up to date with the state service. */
typedef struct AldStateFollow AldStateFollow;

int ald_state_follow_new(
        AldService *service, AldModel *model, AldHistoryManager *manager, AldStateFollow **ret);
void ald_state_follow_free(AldStateFollow *follow);
