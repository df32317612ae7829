/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processors: each work-item reads a piece of its own from its start to its end with the widest loads there
 * are, into several sums, so that no addition waits for another. n is in vectors of 16 words; as many items
 * again go through it again, without waiting for each other. All sums are added to what the item found before,
 * so that no launch can be left out unseen.
 */
#ifdef __AVX512F__
typedef uint16 wide;
#define WIDE 1
#else
typedef uint8 wide;
#define WIDE 2
#endif
#define LOADS 8
#define PIECE (16 * WIDE) /* divides by LOADS in any number of streams */

uint add_up(const wide *sums)
{
        wide sum = sums[0];

        for (int i = 1; i < LOADS; i++)
                sum += sums[i];
#ifdef __AVX512F__
        uint8 s8 = sum.lo + sum.hi;
#else
        uint8 s8 = sum;
#endif
        uint4 s4 = s8.lo + s8.hi;
        return s4.x + s4.y + s4.z + s4.w;
}

/* Hardware fetches ahead within a page: one work-item keeps it busy in several. */
#define READ(name, STREAMS, AHEAD)                                                                          \
        __kernel void name(                                                                                 \
                __global const wide *restrict from, __global uint *restrict sums, ulong n, uint passes)     \
        {                                                                                                   \
                ulong items = get_global_size(0) / passes, item = get_global_id(0) % items;                 \
                ulong pieces = n * WIDE / PIECE, start = pieces * item / items * PIECE;                     \
                ulong stream = (pieces * (item + 1) / items * PIECE - start) / STREAMS;                     \
                wide sum[LOADS];                                                                            \
                                                                                                            \
                for (int i = 0; i < LOADS; i++)                                                             \
                        sum[i] = 0;                                                                         \
                for (ulong at = start; at < start + stream; at += LOADS / STREAMS) {                        \
                        AHEAD;                                                                              \
                        _Pragma("unroll") for (int i = 0; i < LOADS; i++) sum[i] +=                         \
                                from[at + i % STREAMS * stream + i / STREAMS];                              \
                }                                                                                           \
                sums[get_global_id(0)] += add_up(sum);                                                      \
        }

/* By 4 KiB; past the end it fetches nothing. */
#ifdef __clang__
#define FETCH                                                                                               \
        _Pragma("unroll") for (int i = 0; i < LOADS; i += WIDE)                                             \
                __builtin_prefetch((const void *) (ulong) (from + at + i + 64 * WIDE), 0, 0)
#else
#define FETCH prefetch(from + at + 64 * WIDE, LOADS)
#endif

READ(read_prefetch, 1, FETCH)
READ(read_plain, 1, )
READ(read_streams, 4, )
