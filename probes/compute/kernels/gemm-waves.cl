/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matrix product by matrix units that waves work together, with the instructions of amd.cl or nvidia-volta.cl:
 * C = A*B, A and B in fp16 as raw bits, the columns of B one after the other, C and the sums in fp32, n a
 * multiple of 128. A work-group of 256 does 128 x 128, each wave as much of it as its registers hold. Slices 32
 * deep lie in local memory, one that is multiplied and one that is written, their rows apart so that neighbours
 * lie in other banks.
 */
#define TILE 128
#define DEPTH 32
#define GROUP 256
#define WAVE_ROWS WAVE
#define WAVE_COLUMNS 64
#define DOWN (WAVE_ROWS / UNIT)
#define ACROSS (WAVE_COLUMNS / UNIT)
#define FETCHES (TILE * DEPTH / 8 / GROUP)

static void fetch(uint4 *to, __global const ushort *from, int n, int item)
{
        UNROLL for (int i = 0; i < FETCHES; i++)
        {
                int chunk = i * GROUP + item;

                to[i] = *(__global const uint4 *) (from + (size_t) (chunk / 4) * n + chunk % 4 * 8);
        }
}

static void put(__local ushort *to, const uint4 *from, int item)
{
        UNROLL for (int i = 0; i < FETCHES; i++)
        {
                int chunk = i * GROUP + item;

                *(__local uint4 *) (to + chunk / 4 * ROW + chunk % 4 * 8) = from[i];
        }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gemm(
        __global const ushort *a, __global const ushort *b, __global float *c, int n)
{
        __local ushort slices[2][2][TILE * ROW] __attribute__((aligned(32)));
        KERNEL_LOCALS
        int item = get_local_id(0), lane = item % WAVE, wave = item / WAVE, now = 0;
        int wave_row = wave / 2 * WAVE_ROWS, wave_column = wave % 2 * WAVE_COLUMNS;
        int top = (int) get_group_id(1) * TILE, left = (int) get_group_id(0) * TILE;
        uint4 coming_a[FETCHES], coming_b[FETCHES];
        sums_of_unit sums[DOWN][ACROSS];

        a += (size_t) top * n;
        b += (size_t) left * n;
        UNROLL for (int i = 0; i < DOWN; i++)
                UNROLL for (int j = 0; j < ACROSS; j++)
                        CLEAR(sums[i][j]);
        fetch(coming_a, a, n, item);
        fetch(coming_b, b, n, item);
        for (int k = 0; k < n; k += DEPTH, now ^= 1) {
                __local ushort *rows = slices[now][0], *columns = slices[now][1];

                put(rows, coming_a, item);
                put(columns, coming_b, item);
                barrier(CLK_LOCAL_MEM_FENCE);
                if (k + DEPTH < n) {
                        fetch(coming_a, a + k + DEPTH, n, item);
                        fetch(coming_b, b + k + DEPTH, n, item);
                }
                UNROLL for (int d = 0; d < DEPTH; d += UNIT_DEPTH)
                {
                        numbers of_a[DOWN], of_b[ACROSS];

                        UNROLL for (int i = 0; i < DOWN; i++)
                                LOAD_A(of_a[i], rows + (wave_row + i * UNIT) * ROW + d);
                        UNROLL for (int j = 0; j < ACROSS; j++)
                                LOAD_B(of_b[j], columns + (wave_column + j * UNIT) * ROW + d);
                        UNROLL for (int i = 0; i < DOWN; i++)
                                UNROLL for (int j = 0; j < ACROSS; j++)
                                        MULTIPLY_ADD(sums[i][j], of_a[i], of_b[j]);
                }
        }
        c += (size_t) (top + wave_row) * n + left + wave_column;
        UNROLL for (int i = 0; i < DOWN; i++)
                UNROLL for (int j = 0; j < ACROSS; j++)
                        STORE(c + (size_t) (i * UNIT) * n + j * UNIT, sums[i][j]);
}
