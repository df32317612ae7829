/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "probes/compute/run/opencl-session.h"

typedef enum AldFlags {
        ALD_FLAG_BUSY = 1 << 0,       /* other work was running */
        ALD_FLAG_UNSTABLE = 1 << 1,   /* the interval remained wide */
        ALD_FLAG_SUSPECT = 1 << 2,    /* more than the device can do */
        ALD_FLAG_REDUCED = 1 << 3,    /* smaller than usual, since too little memory was free */
        ALD_FLAG_WALL_CLOCK = 1 << 4, /* event times and clock disagree; measured by the clock */
} AldFlags;

#define ALD_N_FLAGS 5u

/* Converts flags to words, NULL-terminated, and back; unknown words are ignored. words may be NULL. */
void ald_flags_to_words(unsigned flags, const char *ret[ALD_N_FLAGS + 1]);
unsigned ald_flags_from_words(const char *const *words);

/*
 * Called before anything that may crash or hang, so that the last call identifies the cause. `variant` is its
 * name, NULL before there is one.
 */
typedef void (*AldPhaseCallback)(
        AldComputeStepPhase phase, const char *variant, double fraction, void *userdata);

typedef struct AldMeasureOptions {
        double seconds_max;
        bool gives_way;            /* fails as busy when other work is detected */
        const char *variant;       /* only this one; NULL for the fastest correct one */
        unsigned size;             /* n of a matrix product; 0 to choose it for the device */
        const char *simpler_than;  /* only those after this one, which crashed; NULL for all */
        AldPhaseCallback progress; /* may be NULL */
        void *userdata;
} AldMeasureOptions;

#define ALD_THROTTLE_SIZE 128
#define ALD_REFUSED_SIZE 64

/* Rates are work per second: floating point operations or bytes. */
typedef struct AldMeter {
        double best, mean, median; /* of the best window, mean of all, median of all */
        double interval;           /* half the 95 % interval of the mean, relative to it */
        double seconds;            /* measured duration */
        unsigned windows;
        unsigned flags;                   /* AldFlags */
        double theoretical;               /* rate that the driver implies as a limit; 0 if unknown */
        uint64_t clock_hz;                /* 0 if unknown */
        uint64_t power_limit;             /* microwatts; 0 if unknown */
        char throttle[ALD_THROTTLE_SIZE]; /* reasons, separated by spaces */
} AldMeter;

typedef struct AldMeasure {
        AldMeter meter;
        const char *method;             /* the variant */
        const char *precision;          /* of the multiplicands: fp16 bf16 fp32; NULL for memory */
        const char *accumulator;        /* fp16 fp32 */
        bool fp16_hardware;             /* the multiplicands are fp16 in hardware */
        char refused[ALD_REFUSED_SIZE]; /* variants whose results were wrong, separated by spaces */
} AldMeasure;

int ald_gemm_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure);
int ald_peak_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure);
int ald_read_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure);
int ald_copy_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure);
int ald_to_device_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure);
int ald_to_host_measure(
        AldOpenclSession *session, const AldMeasureOptions *options, AldMeasure *ret, AldFailure *failure);

/* Calls options->progress, if there is one. The measuring functions use this. */
void ald_measure_report(
        const AldMeasureOptions *options, AldComputeStepPhase phase, const char *variant, double fraction);
