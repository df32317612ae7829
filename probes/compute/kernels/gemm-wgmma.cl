/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matrix product by the warpgroup instructions of NVIDIA's Hopper, with those of nvidia.cl and nvidia-hopper.cl:
 * C = A*B, A and B in fp16 as raw bits, the columns of B one after the other, C and the sums in fp32, n a
 * multiple of 256.
 * A work-group of two warpgroups does 128 x 256, each of them 64 x 256 in registers. Slices 64 deep lie in a ring
 * of four in local memory, of which one is multiplied, one may still be, and two are on their way.
 */
#define ROWS 128
#define COLUMNS 256
#define DEPTH 64
#define SLICES 4
#define ROW_BYTES (DEPTH * 2)
#define SLICE_BYTES ((ROWS + COLUMNS) * ROW_BYTES)

/* Where sixteen bytes, of which a row has eight, lie: as the 128-byte swizzle has them. */
static uint place(int row, int chunk)
{
        return row * ROW_BYTES + ((chunk ^ (row & 7)) << 4);
}

/* Work-groups that run together share rows and columns: they go through C in stripes of sixteen tiles. */
static void choose_tile(int *left, int *top)
{
        int columns = get_num_groups(0), rows = get_num_groups(1);
        int group = get_group_id(1) * columns + get_group_id(0), stripe = group / (16 * columns);
        int height = min(16, rows - stripe * 16), within = group - stripe * 16 * columns;

        *top = (stripe * 16 + within % height) * ROWS;
        *left = within / height * COLUMNS;
}

/* Each work-item copies four times 32 rows of A below each other, and eight times of B. */
#define LOAD_SLICE(k, to)                                                                              \
        {                                                                                              \
                uint slice_ = ring + (to) * SLICE_BYTES + place(item >> 3, item & 7);                  \
                UNROLL for (int i_ = 0; i_ < ROWS / 32; i_++)                                          \
                        COPY_16(slice_ + i_ * 32 * ROW_BYTES, a + (k) + (size_t) (i_ * 32) * n);       \
                slice_ += ROWS * ROW_BYTES;                                                            \
                UNROLL for (int i_ = 0; i_ < COLUMNS / 32; i_++)                                       \
                        COPY_16(slice_ + i_ * 32 * ROW_BYTES, b + (k) + (size_t) (i_ * 32) * n);       \
        }

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void gemm(
        __global const ushort *a, __global const ushort *b, __global float *c, int n)
{
        __local uint slices[SLICES * SLICE_BYTES / 4] __attribute__((aligned(1024)));
        KERNEL_LOCALS
        int item = get_local_id(0), lane = item & 31, warpgroup = item >> 7, warp = item >> 5 & 3, left, top;
        uint ring = ADDRESS(slices);
        float sums[128];

        choose_tile(&left, &top);
        a += (size_t) (top + (item >> 3)) * n + (item & 7) * 8;
        b += (size_t) (left + (item >> 3)) * n + (item & 7) * 8;
        UNROLL for (int i = 0; i < 128; i++)
                sums[i] = 0;
        LOAD_SLICE(0, 0)
        COPIES_COMMIT();
        LOAD_SLICE(DEPTH, 1)
        COPIES_COMMIT();
        for (int k = 0, now = 0; k < n; k += DEPTH, now = (now + 1) % SLICES) {
                uint slice_a = ring + now * SLICE_BYTES + warpgroup * 64 * ROW_BYTES;
                uint slice_b = ring + now * SLICE_BYTES + ROWS * ROW_BYTES;

                COPIES_WAIT(1);
                COPIES_SHOW();
                barrier(CLK_LOCAL_MEM_FENCE);
                WARPGROUP_BEGIN();
                UNROLL for (int i = 0; i < DEPTH; i += 16)
                        WARPGROUP_MULTIPLY_ADD(sums, DESCRIBE(slice_a + i * 2), DESCRIBE(slice_b + i * 2));
                WARPGROUP_COMMIT();
                /* All have seen the end of what was read from there two slices ago. */
                if (k + 2 * DEPTH < n)
                        LOAD_SLICE(k + 2 * DEPTH, (now + 2) % SLICES)
                COPIES_COMMIT();
                WARPGROUP_WAIT(1);
        }
        WARPGROUP_WAIT(0);
        c += (size_t) (top + warpgroup * 64 + warp * 16 + (lane >> 2)) * n + left + (lane & 3) * 2;
        UNROLL for (int j = 0; j < 32; j++) {
                vstore2((float2) (sums[4 * j], sums[4 * j + 1]), 0, c + j * 8);
                vstore2((float2) (sums[4 * j + 2], sums[4 * j + 3]), 0, c + (size_t) 8 * n + j * 8);
        }
}
