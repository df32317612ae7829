/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* GPUs: as in read-gpu.cl. */
#define COPY_GRID(name, LOADS)                                                                              \
        __kernel void name(__global const uint4 *restrict from, __global uint4 *restrict to, ulong n)       \
        {                                                                                                   \
                ulong all = n * 4, step = get_global_size(0), at = get_global_id(0);                        \
                                                                                                            \
                for (; at + (LOADS - 1) * step < all; at += LOADS * step) {                                 \
                        uint4 got[LOADS];                                                                   \
                                                                                                            \
                        _Pragma("unroll") for (int i = 0; i < LOADS; i++) got[i] = from[at + i * step];     \
                        _Pragma("unroll") for (int i = 0; i < LOADS; i++) to[at + i * step] = got[i];       \
                }                                                                                           \
                for (; at < all; at += step)                                                                \
                        to[at] = from[at];                                                                  \
        }

#define COPY_TILE(name, LOADS)                                                                              \
        __kernel void name(__global const uint4 *restrict from, __global uint4 *restrict to, ulong n)       \
        {                                                                                                   \
                ulong side = get_local_size(0), step = get_num_groups(0) * side * LOADS;                    \
                                                                                                            \
                for (ulong at = get_group_id(0) * side * LOADS + get_local_id(0); at < n * 4; at += step) { \
                        uint4 got[LOADS];                                                                   \
                                                                                                            \
                        _Pragma("unroll") for (int i = 0; i < LOADS; i++) got[i] = from[at + i * side];     \
                        _Pragma("unroll") for (int i = 0; i < LOADS; i++) to[at + i * side] = got[i];       \
                }                                                                                           \
        }

COPY_GRID(copy_grid_2, 2)
COPY_GRID(copy_grid_4, 4)
COPY_GRID(copy_grid_8, 8)
COPY_TILE(copy_tile_2, 2)
COPY_TILE(copy_tile_4, 4)
COPY_TILE(copy_tile_8, 8)
