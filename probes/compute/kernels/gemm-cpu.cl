/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matrix product for processors: C = A B, fp32, rows one after the other, n a multiple of 16 and of COLUMNS.
 * One work-item does a block of TILE_ROWS x TILE_COLUMNS, in tiles of ROWS x COLUMNS that stay in registers,
 * as COLUMNS/WIDTH vectors a row. No local memory and no barriers: a processor has neither.
 *
 * What the tiles read lies in panels, so that it is read in the order it lies in: A in panels of ROWS rows,
 * column after column; B in panels of COLUMNS columns, row after row. The rows of C are padded to whole panels.
 */
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define VECTORS (COLUMNS / WIDTH)
#define STEP 16
#define SLICE 256
#define UNROLL _Pragma("unroll")

typedef JOIN(float, WIDTH) vector;

/* A work-item a panel, SLICE columns of it. Below the last row the last row is repeated. */
__kernel void pack_a(__global const float *restrict a, __global float *restrict panels, int n)
{
        int first = (int) get_global_id(0) * ROWS, left = (int) get_global_id(1) * SLICE;
        __global float *to = panels + (size_t) first * n;

        for (int k = left; k < min(left + SLICE, n); k += STEP) {
                float block[ROWS][STEP];

                UNROLL for (int i = 0; i < ROWS; i++) {
                        __global const float *from = a + (size_t) min(first + i, n - 1) * n + k;

                        UNROLL for (int j = 0; j < STEP; j++)
                                block[i][j] = from[j];
                }
                UNROLL for (int j = 0; j < STEP; j++)
                        UNROLL for (int i = 0; i < ROWS; i++)
                                to[(k + j) * ROWS + i] = block[i][j];
        }
}

/* A work-item STEP rows, SLICE columns of them. */
__kernel void pack_b(__global const float *restrict b, __global float *restrict panels, int n)
{
        int first = (int) get_global_id(0) * STEP, left = (int) get_global_id(1) * SLICE;

        for (int column = left; column < min(left + SLICE, n); column += COLUMNS) {
                __global const float *from = b + (size_t) first * n + column;
                __global float *to = panels + (size_t) column * n + first * COLUMNS;

                UNROLL for (int k = 0; k < STEP; k++)
                        UNROLL for (int v = 0; v < VECTORS; v++)
                                ((__global vector *) (to + k * COLUMNS))[v] =
                                        ((__global const vector *) (from + (size_t) k * n))[v];
        }
}

/* A tile over `depth` columns of A; added to what C has unless this is the first. */
static void tile(__global const float *restrict x, __global const float *restrict y, __global float *restrict c,
        int n, int depth, int add)
{
        vector sums[ROWS][VECTORS];

        UNROLL for (int i = 0; i < ROWS; i++)
                UNROLL for (int v = 0; v < VECTORS; v++)
                        sums[i][v] = 0;
        for (int k = 0; k < depth; k++) {
                vector b[VECTORS];

                UNROLL for (int v = 0; v < VECTORS; v++)
                        b[v] = ((__global const vector *) (y + k * COLUMNS))[v];
                UNROLL for (int i = 0; i < ROWS; i++)
                        UNROLL for (int v = 0; v < VECTORS; v++)
                                sums[i][v] = fma((vector) (x[k * ROWS + i]), b[v], sums[i][v]);
        }
        UNROLL for (int i = 0; i < ROWS; i++)
                UNROLL for (int v = 0; v < VECTORS; v++) {
                        __global vector *to = (__global vector *) (c + (size_t) i * n) + v;

                        *to = add ? *to + sums[i][v] : sums[i][v];
                }
}

__kernel void gemm(__global const float *restrict a, __global const float *restrict b, __global float *restrict c,
        int n)
{
        int left = (int) get_global_id(0) * TILE_COLUMNS, top = (int) get_global_id(1) * TILE_ROWS;
        int right = min(left + TILE_COLUMNS, n), bottom = min(top + TILE_ROWS, n);

        for (int k = 0; k < n; k += DEPTH)
                for (int column = left; column < right; column += COLUMNS)
                        for (int row = top; row < bottom; row += ROWS)
                                tile(a + (size_t) row * n + k * ROWS, b + (size_t) column * n + k * COLUMNS,
                                        c + (size_t) row * n + column, n, min(DEPTH, n - k), k > 0);
}
