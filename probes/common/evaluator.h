/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "probes/common/estimate.h"
#include "record/schema.h"

/*
 * Evaluates one direction from the counters of its receiver: when the start-up is over, whether more
 * connections help, when to stop, and the rate. Pure: times are arguments, in ns of any monotonic clock.
 */

#define ALD_EVALUATOR_BINS_MIN 16u

typedef struct AldEvaluatorLimits {
        uint64_t soft_ns; /* from here on fewer bins and a wider interval are enough, on all but slow links */
        uint64_t hard_ns; /* the end unless only few bytes have arrived */
        uint64_t slow_ns; /* the end while only few bytes have arrived, if that is later */
        uint64_t bytes;   /* the end once this many have arrived */
        unsigned streams; /* at most */
} AldEvaluatorLimits;

typedef enum AldEvaluatorStep {
        ALD_EVALUATOR_GO_ON,
        ALD_EVALUATOR_MORE_STREAMS,  /* as many as `streams` says now */
        ALD_EVALUATOR_FEWER_STREAMS, /* half as many, since they reduced the rate */
        ALD_EVALUATOR_STOP,
} AldEvaluatorStep;

/* The known limit of the rate where more connections may help. */
typedef enum AldEvaluatorBound {
        ALD_EVALUATOR_UNBOUND,
        ALD_EVALUATOR_BOUND_SINGLY,  /* each connection is limited: twice as many are tried, and kept if they
                                        help */
        ALD_EVALUATOR_BOUND_BY_LOSS, /* segments get lost although the link is not full */
} AldEvaluatorBound;

typedef enum AldEvaluatorPhase {
        ALD_EVALUATOR_START_UP,
        ALD_EVALUATOR_TRIAL,
        ALD_EVALUATOR_MEASURE,
} AldEvaluatorPhase;

typedef struct AldEvaluator {
        AldEvaluatorLimits limits;
        uint64_t min_rtt; /* ns; 0: unknown */
        AldEvaluatorPhase phase;
        unsigned streams;
        double best;  /* rate of the best trial so far, bytes/ns; 0 before one */
        bool settled; /* the number of connections is fixed, unless segments get lost */
        bool lossy; /* segments get lost although the link is not full, so that pauses are part of its rate */
        bool any;   /* there was at least one sample */
        AldTransferCounters first, last;
        uint64_t phase_begin;
        /* Start-up: rounds of at least an RTT. */
        AldTransferCounters round;
        double round_best;
        unsigned rounds_flat;
        /* The measurement proper, after the start-up. */
        GArray *points;     /* AldPoint */
        uint64_t evaluated; /* when it was last evaluated */
        double segment;     /* bytes in a segment: the maximum so far */
} AldEvaluator;

typedef struct AldVerdict {
        uint64_t bits_per_second; /* the mean without outliers, if there are few and nothing gets lost */
        uint64_t mean;            /* over the whole time including the start-up, bits/s; it shows stalls */
        uint64_t interval;        /* half of the 95 % interval, bits/s, at most the rate; 0: unknown */
        AldOptional spread;       /* standard deviation of the bins, in ppm of their mean */
        uint64_t bytes;           /* everything that arrived, including during the start-up */
        uint64_t nsec;
        bool sure; /* the interval is narrow, and the mean over the time of the bins agrees with the rate */
        unsigned bins; /* 0: it ended during the start-up, and the rate is the overall one */
        unsigned streams;
} AldVerdict;

void ald_evaluator_init(AldEvaluator *evaluator, const AldEvaluatorLimits *limits, uint64_t min_rtt);
void ald_evaluator_clear(AldEvaluator *evaluator);

/* Adds a sample. Do not call it after STOP. */
AldEvaluatorStep ald_evaluator_sample(
        AldEvaluator *evaluator, const AldTransferCounters *counters, AldEvaluatorBound bound);

/* Returns false if nothing has arrived. */
bool ald_evaluator_verdict(const AldEvaluator *evaluator, AldVerdict *ret);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldEvaluator, ald_evaluator_clear)

/* Sets the fields of a direction in a result (record/messages/link-probe.xml) for the verdict on it. */
void ald_verdict_to_message(const AldVerdict *verdict, AldProbeDirection *message);

/* Sets the fields of the message by which one side reports its verdict to the other, SocketVerdict or
 * RdmaStop. The number of streams is not among them. */
#define ALD_VERDICT_TO_REPORT(message, verdict)                                         \
        do {                                                                            \
                (message)->bits_per_second = (verdict)->bits_per_second;                \
                (message)->mean_bits_per_second = (verdict)->mean;                      \
                (message)->interval_bits_per_second = ald_optional_to_field(            \
                        (AldOptional){ (verdict)->interval > 0, (verdict)->interval }); \
                (message)->spread_ppm = ald_optional_to_field((verdict)->spread);       \
                (message)->bytes = (verdict)->bytes;                                    \
                (message)->duration_nsec = (verdict)->nsec;                             \
                (message)->bins = (verdict)->bins;                                      \
        } while (0)

#define ALD_VERDICT_OF_REPORT(message)                                                            \
        ((AldVerdict){                                                                            \
                .bits_per_second = (message)->bits_per_second,                                    \
                .mean = (message)->mean_bits_per_second,                                          \
                .interval = MIN(ald_optional_of_field((message)->interval_bits_per_second).value, \
                        (message)->bits_per_second),                                              \
                .spread = ald_optional_of_field((message)->spread_ppm),                           \
                .bytes = (message)->bytes,                                                        \
                .nsec = (message)->duration_nsec,                                                 \
                .bins = (unsigned) (message)->bins,                                               \
        })
