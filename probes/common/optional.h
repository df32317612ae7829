/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A figure that may be unknown, which 0 is not. */
typedef struct AldOptional {
        bool known;
        uint64_t value;
} AldOptional;

/* The larger of those that are known. */
static inline AldOptional ald_optional_max(AldOptional a, AldOptional b)
{
        return b.known && (!a.known || b.value > a.value) ? b : a;
}
