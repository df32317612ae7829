/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/*
 * Judges one direction by what its receiver has: when the start-up is over, whether more connections help,
 * when enough is known, and the rate. Pure: times are arguments, ns of any clock that never goes back.
 */

#define ALD_JUDGE_BIN_NS (UINT64_C(50) * 1000 * 1000)
#define ALD_JUDGE_BINS_MIN 16u

typedef struct AldJudgeLimits {
        uint64_t soft_ns; /* from here on fewer bins, or less agreement among them, are enough */
        uint64_t hard_ns; /* here it ends, whatever is known */
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
        double best;    /* rate of the best trial so far, bytes/ns; 0 before one */
        bool settled;   /* the number of connections is final */
        bool any;       /* there was a sample */
        uint64_t first; /* when and with how many bytes it began */
        uint64_t first_bytes;
        uint64_t last; /* the newest sample */
        uint64_t last_bytes;
        uint64_t phase_begin;
        /* Start-up: rounds of at least an RTT. */
        uint64_t round_begin, round_bytes;
        double round_best;
        unsigned rounds_flat;
        /* Bins, which begin where the start-up ended. */
        uint64_t bin_begin, bin_bytes;
        uint64_t bins_begin, bins_bytes;
        GArray *bins; /* double: bytes/ns */
} AldJudge;

typedef struct AldVerdict {
        uint64_t bits_per_second; /* the mean of the middle half of the bins */
        uint64_t mean;            /* of all the time, start-up included, bits/s: a stall shows here */
        uint64_t interval; /* half of the 95 % interval of their median, bits/s; 0 where there is none */
        uint64_t bytes;    /* all that came, start-up included */
        uint64_t nsec;
        unsigned bins; /* 0: it ended within the start-up, and the rate is that of all of it */
        unsigned streams;
} AldVerdict;

void ald_judge_init(AldJudge *judge, const AldJudgeLimits *limits, uint64_t min_rtt);
void ald_judge_clear(AldJudge *judge);

/*
 * Takes in that so many bytes had come by then. bound: one connection is what holds the rate down, so more
 * may help. After STOP there is nothing more to take in.
 */
AldJudgeStep ald_judge_sample(AldJudge *judge, uint64_t when, uint64_t bytes, bool bound);

/* False where nothing has come. */
bool ald_judge_verdict(const AldJudge *judge, AldVerdict *ret);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldJudge, ald_judge_clear)
