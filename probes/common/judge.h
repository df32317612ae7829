/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "probes/common/estimate.h"

/*
 * Evaluates one direction from what its receiver has: when the start-up is over, whether more connections
 * help, when to stop, and the rate. Pure: times are arguments, in ns of any monotonic clock.
 */

#define ALD_JUDGE_BINS_MIN 16u

typedef struct AldJudgeLimits {
        uint64_t soft_ns; /* from here on fewer bins and a wider interval are enough, on all but slow links */
        uint64_t hard_ns; /* the end in any case */
        uint64_t slow_ns; /* the end while only few bytes have arrived, if that is later */
        uint64_t bytes;   /* the end after this many */
        unsigned streams; /* at most */
} AldJudgeLimits;

typedef enum AldJudgeStep {
        ALD_JUDGE_GO_ON,
        ALD_JUDGE_MORE_STREAMS,  /* twice as many */
        ALD_JUDGE_FEWER_STREAMS, /* half as many, since they reduced the rate */
        ALD_JUDGE_STOP,
} AldJudgeStep;

typedef enum AldJudgePhase {
        ALD_JUDGE_START_UP,
        ALD_JUDGE_TRIAL,
        ALD_JUDGE_MEASURE,
} AldJudgePhase;

typedef struct AldJudge {
        AldJudgeLimits limits;
        uint64_t min_rtt; /* ns; 0: unknown */
        AldJudgePhase phase;
        unsigned streams;
        double best;  /* rate of the best trial so far, bytes/ns; 0 before one */
        bool settled; /* the number of connections is fixed */
        bool any;     /* there was at least one sample */
        AldMoved first, last;
        uint64_t phase_begin;
        /* Start-up: rounds of at least an RTT. */
        AldMoved round;
        double round_best;
        unsigned rounds_flat;
        /* The measurement proper, after the start-up. */
        GArray *points;  /* AldPoint */
        uint64_t judged; /* when it was last evaluated */
        double segment;  /* bytes in a segment: the maximum so far */
} AldJudge;

typedef struct AldVerdict {
        uint64_t bits_per_second; /* the mean without outliers, if there are few */
        uint64_t mean;            /* over the whole time including the start-up, bits/s; it shows stalls */
        uint64_t interval;        /* half of the 95 % interval, bits/s, at most the rate; 0: unknown */
        AldOptional spread;       /* standard deviation of the bins, in ppm of their mean */
        uint64_t bytes;           /* everything that arrived, including during the start-up */
        uint64_t nsec;
        unsigned bins; /* 0: it ended during the start-up, and the rate is the overall one */
        unsigned streams;
} AldVerdict;

void ald_judge_init(AldJudge *judge, const AldJudgeLimits *limits, uint64_t min_rtt);
void ald_judge_clear(AldJudge *judge);

/*
 * Adds a sample. bound: a single connection limits the rate, so more may help. Do not call it after STOP.
 */
AldJudgeStep ald_judge_sample(AldJudge *judge, const AldMoved *moved, bool bound);

/* False if nothing has arrived. */
bool ald_judge_verdict(const AldJudge *judge, AldVerdict *ret);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldJudge, ald_judge_clear)
