/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/memory/pattern.h"

/* Mixes a number, so that each bit of the input flips each bit of the output half of the time. */
static uint32_t mix(uint32_t x)
{
        x ^= x >> 16;
        x *= 0x7feb352du;
        x ^= x >> 15;
        x *= 0x846ca68bu;
        return x ^ x >> 16;
}

uint32_t ald_pattern_word(uint64_t index)
{
        uint32_t period = (uint32_t) (index / ALD_PATTERN_PERIOD);

        return mix((uint32_t) (index % ALD_PATTERN_PERIOD)) * (period * 2 + 1);
}

/* Each period has the next odd number as a factor, and the first n odd numbers add up to n². */
uint32_t ald_pattern_sum(uint64_t periods)
{
        uint32_t one = 0;

        for (uint64_t i = 0; i < ALD_PATTERN_PERIOD; i++)
                one += mix((uint32_t) i);
        return one * (uint32_t) (periods * periods);
}
