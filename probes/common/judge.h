/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "probes/common/estimate.h"

/*
 * Judges one direction by what its receiver has: when the start-up is over, whether more connections help,
 * when enough is known, and the rate. Pure: times are arguments, ns of any clock that never goes back.
 */

#define ALD_JUDGE_BINS_MIN 16u

typedef struct AldJudgeLimits {
        uint64_t soft_ns; /* from here on fewer bins and a wider interval are enough, on all but slow links */
        uint64_t hard_ns; /* here it ends, whatever is known */
        uint64_t slow_ns; /* the same as long as few bytes came, where that is later */
        uint64_t bytes;   /* here too */
        unsigned streams; /* at most */
} AldJudgeLimits;

typedef enum AldJudgeStep {
        ALD_JUDGE_GO_ON,
        ALD_JUDGE_MORE_STREAMS,  /* twice as many */
        ALD_JUDGE_FEWER_STREAMS, /* half as many: they did harm */
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
        bool settled; /* the number of connections is final */
        bool any;     /* there was a sample */
        AldMoved first, last;
        uint64_t phase_begin;
        /* Start-up: rounds of at least an RTT. */
        AldMoved round;
        double round_best;
        unsigned rounds_flat;
        /* Begin where the start-up ended. */
        GArray *points;  /* AldPoint */
        uint64_t judged; /* when it was judged last */
        double segment;  /* bytes in a segment: the most that there ever were */
} AldJudge;

typedef struct AldVerdict {
        uint64_t bits_per_second; /* the mean without outliers, where these are few */
        uint64_t mean;            /* of all the time, start-up included, bits/s: a stall shows here */
        uint64_t interval;        /* half of the 95 % interval, bits/s, at most the rate; 0: it is unknown */
        AldOptional spread;       /* standard deviation of the bins, in ppm of their mean */
        uint64_t bytes;           /* all that came, start-up included */
        uint64_t nsec;
        unsigned bins; /* 0: it ended within the start-up, and the rate is that of all of it */
        unsigned streams;
} AldVerdict;

void ald_judge_init(AldJudge *judge, const AldJudgeLimits *limits, uint64_t min_rtt);
void ald_judge_clear(AldJudge *judge);

/*
 * Takes in what had come by then. bound: one connection is what holds the rate down, so more may help. After
 * STOP there is nothing more to take in.
 */
AldJudgeStep ald_judge_sample(AldJudge *judge, const AldMoved *moved, bool bound);

/* False where nothing has come. */
bool ald_judge_verdict(const AldJudge *judge, AldVerdict *ret);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldJudge, ald_judge_clear)
