/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matrix units that waves work together, on registers alone, with the instructions of amd.cl or
 * nvidia-volta.cl: to each of CHAINS products 1 is added for every number of its depth, and taken away again, so
 * that in the end all is as it was. `factor` is -1, but the compiler does not know.
 */
#define ONE 0x3c00 /* in fp16 */

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void peak(__global float *out, int iterations, float factor)
{
        KERNEL_LOCALS
        uint id = get_global_id(0);
        numbers ones, minus;
        sums_of_unit sums[CHAINS];
        float sum = 0;

        FILL(ones, ONE);
        FILL(minus, factor < 0 ? ONE | 0x8000 : ONE);
        UNROLL for (int c = 0; c < CHAINS; c++)
                UNROLL for (int i = 0; i < SUMS; i++)
                        SUM(sums[c], i) = (id + 3 * c + 7 * i) % 61;
        for (int i = 0; i < iterations; i += 2) {
                UNROLL for (int c = 0; c < CHAINS; c++)
                        MULTIPLY_ADD(sums[c], ones, ones);
                UNROLL for (int c = 0; c < CHAINS; c++)
                        MULTIPLY_ADD(sums[c], ones, minus);
        }
        UNROLL for (int c = 0; c < CHAINS; c++)
                UNROLL for (int i = 0; i < SUMS; i++)
                        sum += SUM(sums[c], i);
        out[id] = sum;
}
