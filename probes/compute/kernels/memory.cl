/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Fills memory with the words of pattern.h, and compares it with them. n is in vectors of 16 words.
 * Processors (CPU) get a piece for each work-item, other devices take turns.
 */
#ifdef CPU
#define FOR_EACH(i, n)                                                                                      \
        for (ulong i = (n) * get_global_id(0) / get_global_size(0),                                         \
                   end = (n) * (get_global_id(0) + 1) / get_global_size(0);                                 \
                i < end; i++)
#else
#define FOR_EACH(i, n) for (ulong i = get_global_id(0); i < (n); i += get_global_size(0))
#endif

uint16 words(ulong vector, uint seed)
{
        const uint16 steps = (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        uint first = (uint) vector * 16;
        uint16 x = (steps + (first & (PERIOD - 1))) ^ seed;

        x ^= x >> 16;
        x *= 0x7feb352du;
        x ^= x >> 15;
        x *= 0x846ca68bu;
        x ^= x >> 16;
        return x * (first / PERIOD * 2 + 1);
}

__kernel void fill(__global uint16 *to, ulong n, uint seed)
{
        FOR_EACH (i, n)
                to[i] = words(i, seed);
}

/* How many words are not those of the pattern. */
__kernel void check(__global const uint16 *from, __global uint *wrong, ulong n)
{
        uint16 sum = 0;

        FOR_EACH (i, n)
                sum += as_uint16(from[i] != words(i, 0));
        uint8 s8 = sum.lo + sum.hi;
        uint4 s4 = s8.lo + s8.hi;
        /* Each difference is -1. */
        wrong[get_global_id(0)] = -(s4.x + s4.y + s4.z + s4.w);
}
