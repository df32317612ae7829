/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matrix units of NVIDIA's Hopper at their full rate, which only operands in local memory give, with the
 * instructions of nvidia.cl and nvidia-hopper.cl: to the product of each warpgroup 16 is added CHAINS
 * times, and taken away as often, so that in the end all is as it was.
 */
#define ONES 0x3c003c00u /* two fp16 */
#define ROW_BYTES 128
#define WORDS ((64 + 256) * ROW_BYTES / 4)

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void peak(__global float *out, int iterations, float factor)
{
        __local uint ones[WORDS] __attribute__((aligned(1024)));
        KERNEL_LOCALS
        uint id = get_global_id(0), a = ADDRESS(ones), b = a + 64 * ROW_BYTES;
        float sums[128], sum = 0;

        for (int i = get_local_id(0); i < WORDS; i += 256)
                ones[i] = factor < 0 ? ONES : 0;
        UNROLL for (int i = 0; i < 128; i++)
                sums[i] = (id + 7 * i) % 61;
        COPIES_SHOW();
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < iterations; i += 2) {
                WARPGROUP_BEGIN();
                UNROLL for (int c = 0; c < CHAINS; c++)
                        WARPGROUP_MULTIPLY_ADD(sums, DESCRIBE(a), DESCRIBE(b));
                UNROLL for (int c = 0; c < CHAINS; c++)
                        WARPGROUP_MULTIPLY_SUBTRACT(sums, DESCRIBE(a), DESCRIBE(b));
                WARPGROUP_COMMIT();
                WARPGROUP_WAIT(0);
        }
        UNROLL for (int i = 0; i < 128; i++)
                sum += sums[i];
        out[id] = sum;
}
