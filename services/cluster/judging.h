/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/cluster/receiver.h"

/* The timer that makes the receiver judge the other nodes again as time passes. */
typedef struct AldJudging AldJudging;

/* The receiver stays the caller's. Nothing is due yet. */
AldJudging *ald_judging_new(AldReceiver *receiver);
void ald_judging_free(AldJudging *judging);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldJudging, ald_judging_free)

/* The time at which the receiver next has to judge, as its handler gets it: CLOCK_MONOTONIC in µs. */
void ald_judging_set_due(AldJudging *judging, uint64_t due_usec);
