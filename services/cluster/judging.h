/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/receiver.h"

/*
 * When it is judged anew whether the other nodes are there: as time passes, and as they can be heard better
 * or worse than before.
 */
typedef struct AldJudging AldJudging;

/* The receiver stays the caller's. No broker is connected yet, and all is mirrored. */
AldJudging *ald_judging_new(AldReceiver *receiver);
void ald_judging_free(AldJudging *judging);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldJudging, ald_judging_free)

/* Whether some broker is. */
void ald_judging_set_connected(AldJudging *judging, bool connected);
/* Whether more is heard of the other nodes than what they say of themselves now and then. */
void ald_judging_set_mirroring(AldJudging *judging, bool mirroring);

/* The presence of a node has changed. */
void ald_judging_note(AldJudging *judging, const AldNodePresence *presence);
