/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matrix product by the matrix units of Intel's GPUs, with cl_intel_subgroup_matrix_multiply_accumulate: C = A*B,
 * A and B in fp16 as raw bits, the columns of B one after the other, C and the sums in fp32, n a multiple of 128.
 * -DSUBGROUP: 8 (Alchemist) or 16 (Ponte Vecchio, Battlemage), as the extension wants it there. A sub-group does
 * 32 rows by 4 * SUBGROUP columns in registers, 16 deep at a time; what a work-group shares comes from the cache.
 */
#define TILE 128
#define DEPTH 16
#define DOWN 4 /* times 8 rows */
#define ACROSS 4
#define COLUMNS (ACROSS * SUBGROUP)
#define SUBGROUPS (TILE / 32 * (TILE / COLUMNS))
#ifndef UNROLL
#define UNROLL _Pragma("unroll")
#endif

/* Of eight rows of a, a lane has what its number in the sub-group says: two numbers of each, or one. */
#if SUBGROUP == 8
typedef int8 rows;
typedef uint piece;
#else
typedef short8 rows;
typedef ushort piece;
#endif

#ifndef SUBGROUP_KERNEL
#define SUBGROUP_KERNEL __attribute__((intel_reqd_sub_group_size(SUBGROUP)))
#define MULTIPLY_ADD(c, a, b) (c) = intel_sub_group_f16_f16_matrix_mad_k16(a, b, c)
#define KERNEL_LOCALS
#endif

static rows load_rows(__global const ushort *from, int n, int lane)
{
        piece pieces[8];

        UNROLL for (int i = 0; i < 8; i++)
                pieces[i] = ((__global const piece *) (from + (size_t) i * n))[lane];
#if SUBGROUP == 8
        return as_int8(vload8(0, pieces));
#else
        return as_short8(vload8(0, pieces));
#endif
}

SUBGROUP_KERNEL __kernel __attribute__((reqd_work_group_size(SUBGROUPS *SUBGROUP, 1, 1))) void gemm(
        __global const ushort *a, __global const ushort *b, __global float *c, int n)
{
        KERNEL_LOCALS
        int item = get_local_id(0), lane = item % SUBGROUP, subgroup = item / SUBGROUP;
        int top = (int) get_group_id(1) * TILE + subgroup % (TILE / 32) * 32;
        int left = (int) get_group_id(0) * TILE + subgroup / (TILE / 32) * COLUMNS;
        float8 sums[DOWN][ACROSS];

        a += (size_t) top * n;
        b += (size_t) (left + lane) * n;
        UNROLL for (int i = 0; i < DOWN; i++)
                UNROLL for (int j = 0; j < ACROSS; j++)
                        sums[i][j] = 0;
        for (int k = 0; k < n; k += DEPTH) {
                rows of_a[DOWN];
                int8 of_b[ACROSS];

                UNROLL for (int i = 0; i < DOWN; i++)
                        of_a[i] = load_rows(a + (size_t) (i * 8) * n + k, n, lane);
                UNROLL for (int j = 0; j < ACROSS; j++)
                        of_b[j] = vload8(0, (__global const int *) (b + (size_t) (j * SUBGROUP) * n + k));
                UNROLL for (int i = 0; i < DOWN; i++)
                        UNROLL for (int j = 0; j < ACROSS; j++)
                                MULTIPLY_ADD(sums[i][j], of_a[i], of_b[j]);
        }
        c += (size_t) top * n + left + lane;
        UNROLL for (int i = 0; i < DOWN; i++)
                UNROLL for (int j = 0; j < ACROSS; j++) {
                        float of_lane[8];

                        vstore8(sums[i][j], 0, of_lane);
                        UNROLL for (int r = 0; r < 8; r++)
                                c[(size_t) (i * 8 + r) * n + j * SUBGROUP] = of_lane[r];
                }
}
