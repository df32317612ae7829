/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/field.h"

/* A figure that may be unknown, as distinct from 0. */
typedef struct AldOptional {
        bool known;
        uint64_t value;
} AldOptional;

/* Converts a field of a message, which may be absent. */
static inline AldOptional ald_optional_of_field(uint64_t field)
{
        bool known = field != ALD_ABSENT_UINT64;

        return (AldOptional){ known, known ? field : 0 };
}

static inline uint64_t ald_optional_to_field(AldOptional optional)
{
        return optional.known ? optional.value : ALD_ABSENT_UINT64;
}

/* Returns the larger of those that are known. */
static inline AldOptional ald_optional_max(AldOptional a, AldOptional b)
{
        return b.known && (!a.known || b.value > a.value) ? b : a;
}
