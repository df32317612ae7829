/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/judge.h"

/* Sets the fields of a result (record/messages/link-probe.xml) that tell the verdict about one direction, of
 * which `way` is upload or download. */
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
