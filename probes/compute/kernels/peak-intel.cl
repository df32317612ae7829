/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matrix units of Intel's GPUs on registers alone, with cl_intel_subgroup_matrix_multiply_accumulate: to each
 * of CHAINS products of a sub-group 16 is added and taken away again, so that in the end all is as it was.
 * `factor` is -1, but the compiler does not know. -DSUBGROUP: as of gemm-intel.cl.
 */
#define ONES 0x3c003c00 /* two fp16 */
#define UNROLL _Pragma("unroll")

#if SUBGROUP == 8
typedef int8 rows;
#define ROWS_OF_ONES ((rows) (ONES))
#else
typedef short8 rows;
#define ROWS_OF_ONES ((rows) ((short) 0x3c00))
#endif

__attribute__((intel_reqd_sub_group_size(SUBGROUP))) __kernel __attribute__((reqd_work_group_size(256, 1, 1))) void
peak(__global float *out, int iterations, float factor)
{
        uint id = get_global_id(0);
        int8 plus = (int8) (ONES), minus = (int8) (factor < 0 ? ONES | (int) 0x80008000u : ONES);
        float8 sums[CHAINS], all = 0;

        UNROLL for (int c = 0; c < CHAINS; c++)
                sums[c] = convert_float8(((uint8) (id + 3 * c) + (uint8) (0, 7, 14, 21, 28, 35, 42, 49)) % 61u);
        for (int i = 0; i < iterations; i += 2) {
                UNROLL for (int c = 0; c < CHAINS; c++)
                        sums[c] = intel_sub_group_f16_f16_matrix_mad_k16(ROWS_OF_ONES, plus, sums[c]);
                UNROLL for (int c = 0; c < CHAINS; c++)
                        sums[c] = intel_sub_group_f16_f16_matrix_mad_k16(ROWS_OF_ONES, minus, sums[c]);
        }
        UNROLL for (int c = 0; c < CHAINS; c++)
                all += sums[c];
        out[id] = all.s0 + all.s1 + all.s2 + all.s3 + all.s4 + all.s5 + all.s6 + all.s7;
}
