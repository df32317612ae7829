/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matrix units of NVIDIA's GPUs on registers alone, with the instructions of nvidia.cl: to each of CHAINS
 * products of a warp 16 is added and taken away again, so that in the end all is as it was. `factor` is -1, but
 * the compiler does not know.
 */
#define ONES 0x3c003c00u /* two fp16 */

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void peak(__global float *out, int iterations, float factor)
{
        KERNEL_LOCALS
        uint id = get_global_id(0), ones[4] = { ONES, ONES, ONES, ONES };
        uint minus = factor < 0 ? ONES | 0x80008000u : ONES;
        float sums[CHAINS][4], sum = 0;

        UNROLL for (int c = 0; c < CHAINS; c++)
                UNROLL for (int i = 0; i < 4; i++)
                        sums[c][i] = (id + 3 * c + 7 * i) % 61;
        for (int i = 0; i < iterations; i += 2) {
                UNROLL for (int c = 0; c < CHAINS; c++)
                        MULTIPLY_ADD(sums[c], ones, ONES, ONES);
                UNROLL for (int c = 0; c < CHAINS; c++)
                        MULTIPLY_ADD(sums[c], ones, minus, minus);
        }
        UNROLL for (int c = 0; c < CHAINS; c++)
                UNROLL for (int i = 0; i < 4; i++)
                        sum += sums[c][i];
        out[id] = sum;
}
