/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/judge.h"

/* Sets the fields of a result (record/messages/link-probe.xml) for the verdict on one direction; `way` is
 * upload or download. */
#define ALD_VERDICT_TO_MESSAGE(message, way, verdict)                                     \
        do {                                                                              \
                (message)->way##_bits_per_second = (verdict)->bits_per_second;            \
                (message)->way##_mean_bits_per_second = (verdict)->mean;                  \
                if ((verdict)->interval > 0 && (verdict)->bits_per_second > 0) {          \
                        (message)->way##_interval_bits_per_second = (verdict)->interval;  \
                        (message)->way##_interval = 100 * (double) (verdict)->interval /  \
                                                    (double) (verdict)->bits_per_second;  \
                }                                                                         \
                if ((verdict)->spread.known)                                              \
                        (message)->way##_spread = (double) (verdict)->spread.value / 1e4; \
                (message)->way##_bytes = (verdict)->bytes;                                \
                (message)->way##_bins = (verdict)->bins;                                  \
                (message)->way##_seconds = (double) (verdict)->nsec / 1e9;                \
        } while (0)

/* The same of the message by which one side reports its verdict to the other, SocketVerdict or RdmaStop; all
 * but the number of streams. */
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
