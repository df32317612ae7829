/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * intel_sub_group_f16_f16_matrix_mad_k16() in plain OpenCL C, after the extension's text. Of row i of a, lane l
 * holds numbers 2l and 2l + 1 in its element i where sub-groups have 8 lanes, number l where they have 16. Of
 * column l of b, lane l holds numbers 2i and 2i + 1 in its element i. Of c, it holds row i of column l.
 */
#define UNROLL
#define SUBGROUP_KERNEL
#define KERNEL_LOCALS __local ushort em_a[8][GROUP * 2]; __local int8 em_b[GROUP]; int em_item = get_local_id(0);
#define EM_FIRST (em_item / SUBGROUP * SUBGROUP)
#define MULTIPLY_ADD(c, a, b)                                                                          \
        {                                                                                              \
                const ushort *of_a_ = (const ushort *) &(a);                                           \
                float *sums_ = (float *) &(c);                                                         \
                                                                                                       \
                for (int i_ = 0; i_ < 8; i_++)                                                         \
                        for (int p_ = 0; p_ < 16 / SUBGROUP; p_++)                                     \
                                em_a[i_][em_item * (16 / SUBGROUP) + p_] = of_a_[i_ * (16 / SUBGROUP) + p_]; \
                em_b[em_item] = (b);                                                                   \
                barrier(CLK_LOCAL_MEM_FENCE);                                                          \
                for (int i_ = 0; i_ < 8; i_++)                                                         \
                        for (int k_ = 0; k_ < 16; k_++)                                                \
                                sums_[i_] += vload_half(EM_FIRST * (16 / SUBGROUP) + k_,               \
                                                     (__local const half *) em_a[i_]) *                \
                                             vload_half(k_, (__local const half *) &em_b[em_item]);    \
                barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        }
