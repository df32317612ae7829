/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/receiver.h"

/* The timer that has the receiver judge the other nodes anew as time passes. */
typedef struct AldJudging AldJudging;

/* The receiver stays the caller's. Nothing is due yet. */
AldJudging *ald_judging_new(AldReceiver *receiver);
void ald_judging_free(AldJudging *judging);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldJudging, ald_judging_free)

/* As the handler of the receiver is told; in µs of CLOCK_MONOTONIC. */
void ald_judging_set_due(AldJudging *judging, uint64_t due_usec);
