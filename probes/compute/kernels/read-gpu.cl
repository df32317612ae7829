/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GPUs: 16 bytes a load, several of them under way in each work-item. "grid": neighbours read neighbouring
 * vectors, each next load a whole grid further; "tile": a work-group reads a contiguous tile. n is in vectors
 * of 16 words. A launch goes through the memory once: in several passes groups drift apart, and read out of a
 * cache what others have just read. All sums are added to what the item found before, so that no launch can be
 * left out unseen.
 */
uint add_up(uint4 sum)
{
        return sum.x + sum.y + sum.z + sum.w;
}

#define READ_GRID(name, LOADS)                                                                              \
        __kernel void name(__global const uint4 *restrict from, __global uint *restrict sums, ulong n)      \
        {                                                                                                   \
                ulong all = n * 4, step = get_global_size(0), at = get_global_id(0);                        \
                uint4 sum = 0;                                                                              \
                                                                                                            \
                for (; at + (LOADS - 1) * step < all; at += LOADS * step) {                                 \
                        uint4 got[LOADS];                                                                   \
                                                                                                            \
                        _Pragma("unroll") for (int i = 0; i < LOADS; i++) got[i] = from[at + i * step];     \
                        _Pragma("unroll") for (int i = 0; i < LOADS; i++) sum += got[i];                    \
                }                                                                                           \
                for (; at < all; at += step)                                                                \
                        sum += from[at];                                                                    \
                sums[get_global_id(0)] += add_up(sum);                                                      \
        }

/* Buffers are multiples of any tile. */
#define READ_TILE(name, LOADS)                                                                              \
        __kernel void name(__global const uint4 *restrict from, __global uint *restrict sums, ulong n)      \
        {                                                                                                   \
                ulong side = get_local_size(0), step = get_num_groups(0) * side * LOADS;                    \
                uint4 sum = 0;                                                                              \
                                                                                                            \
                for (ulong at = get_group_id(0) * side * LOADS + get_local_id(0); at < n * 4; at += step) { \
                        uint4 got[LOADS];                                                                   \
                                                                                                            \
                        _Pragma("unroll") for (int i = 0; i < LOADS; i++) got[i] = from[at + i * side];     \
                        _Pragma("unroll") for (int i = 0; i < LOADS; i++) sum += got[i];                    \
                }                                                                                           \
                sums[get_global_id(0)] += add_up(sum);                                                      \
        }

READ_GRID(read_grid_4, 4)
READ_GRID(read_grid_8, 8)
READ_GRID(read_grid_16, 16)
READ_TILE(read_tile_4, 4)
READ_TILE(read_tile_8, 8)
READ_TILE(read_tile_16, 16)
