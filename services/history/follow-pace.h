/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "state-client/follow.h"

/*
 * Sets the pace at which the history follows the state service: refreshes what no signal reports, requests
 * signals if the broadcasts have stopped, and wakes up less often for the many changes of a large cluster.
 */
typedef struct AldFollowPace AldFollowPace;

AldFollowPace *ald_follow_pace_new(AldService *service, AldModel *model, AldFollow *follow);
void ald_follow_pace_free(AldFollowPace *pace);

/* Call it when the model has changed; see AldModelChanged. */
void ald_follow_pace_changed(AldFollowPace *pace);
