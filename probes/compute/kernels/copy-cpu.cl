/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processors: as in read-cpu.cl. Stores that pass by the caches, where the compiler has them, spare reading
 * what is overwritten.
 */
#ifdef __AVX512F__
typedef uint16 wide;
#define WIDE 1
#else
typedef uint8 wide;
#define WIDE 2
#endif
#define LOADS 8
#define PIECE (16 * WIDE)

#ifdef __clang__
#define STORE_PAST(value, at) __builtin_nontemporal_store(value, at)
#else
#define STORE_PAST(value, at) (*(at) = (value))
#endif
#define STORE(value, at) (*(at) = (value))

#define COPY(name, STREAMS, PUT)                                                                            \
        __kernel void name(                                                                                 \
                __global const wide *restrict from, __global wide *restrict to, ulong n, uint passes)       \
        {                                                                                                   \
                ulong items = get_global_size(0) / passes, item = get_global_id(0) % items;                 \
                ulong pieces = n * WIDE / PIECE, start = pieces * item / items * PIECE;                     \
                ulong stream = (pieces * (item + 1) / items * PIECE - start) / STREAMS;                     \
                                                                                                            \
                for (ulong at = start; at < start + stream; at += LOADS / STREAMS) {                        \
                        _Pragma("unroll") for (int i = 0; i < LOADS; i++)                                   \
                        {                                                                                   \
                                ulong one = at + i % STREAMS * stream + i / STREAMS;                        \
                                PUT(from[one], to + one);                                                   \
                        }                                                                                   \
                }                                                                                           \
        }

COPY(copy_past, 1, STORE_PAST)
COPY(copy_past_streams, 2, STORE_PAST)
COPY(copy_plain, 1, STORE)
