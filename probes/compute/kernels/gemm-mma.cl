/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matrix product by the matrix units of NVIDIA's GPUs from Turing on, with the instructions of nvidia.cl:
 * C = A*B, A and B in fp16 as raw bits, the columns of B one after the other, C and the sums in fp32, n a
 * multiple of 128. A work-group of four warps does 128 x 128, each warp 64 x 64 in registers. Slices 32 deep lie
 * in a ring of three in local memory, 48 KiB, which is what every device has; while one is multiplied the next
 * two are on their way.
 */
#define TILE 128
#define DEPTH 32
#define SLICES 3
#define SLICE_BYTES (TILE * DEPTH * 2)

/* Where sixteen bytes, of which a row has four, lie in a slice: so that eight rows are read from all banks. */
static uint place(int row, int chunk)
{
        return row * 64 + ((chunk ^ (row >> 1 & 3)) << 4);
}

/* Work-groups that run together share rows and columns: they go through C in stripes of sixteen tiles. */
static void choose_tile(int *left, int *top)
{
        int columns = get_num_groups(0), rows = get_num_groups(1);
        int group = get_group_id(1) * columns + get_group_id(0), stripe = group / (16 * columns);
        int height = min(16, rows - stripe * 16), within = group - stripe * 16 * columns;

        *top = (stripe * 16 + within % height) * TILE;
        *left = within / height * TILE;
}

#define LOAD_SLICE(ring, from_a, from_b, slice)                                                        \
        {                                                                                              \
                uint slice_ = (ring) + (slice) * 2 * SLICE_BYTES + place(item >> 2, item & 3);         \
                UNROLL for (int i_ = 0; i_ < 4; i_++) {                                                \
                        COPY_16(slice_ + i_ * 2048, (from_a) + (size_t) (i_ * 32) * n);                \
                        COPY_16(slice_ + i_ * 2048 + SLICE_BYTES, (from_b) + (size_t) (i_ * 32) * n);  \
                }                                                                                      \
        }

__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void gemm(
        __global const ushort *a, __global const ushort *b, __global float *c, int n)
{
        __local uint slices[SLICES * 2 * SLICE_BYTES / 4] __attribute__((aligned(128)));
        KERNEL_LOCALS
        int item = get_local_id(0), lane = item & 31, warp = item >> 5;
        int warp_row = (warp & 1) * 64, warp_column = (warp >> 1) * 64, left, top, now = 0, next = SLICES - 1;
        uint ring = ADDRESS(slices);
        float sums[4][8][4];

        choose_tile(&left, &top);
        a += (size_t) (top + (item >> 2)) * n + (item & 3) * 8;
        b += (size_t) (left + (item >> 2)) * n + (item & 3) * 8;
        UNROLL for (int i = 0; i < 4; i++)
                UNROLL for (int j = 0; j < 8; j++)
                        UNROLL for (int q = 0; q < 4; q++)
                                sums[i][j][q] = 0;
        UNROLL for (int i = 0; i < SLICES - 1; i++) {
                LOAD_SLICE(ring, a + i * DEPTH, b + i * DEPTH, i)
                COPIES_COMMIT();
        }
        for (int k = 0; k < n; k += DEPTH) {
                uint slice_a = ring + now * 2 * SLICE_BYTES, slice_b = slice_a + SLICE_BYTES;

                COPIES_WAIT(1);
                barrier(CLK_LOCAL_MEM_FENCE);
                if (k + (SLICES - 1) * DEPTH < n)
                        LOAD_SLICE(ring, a + k + (SLICES - 1) * DEPTH, b + k + (SLICES - 1) * DEPTH, next)
                COPIES_COMMIT();
                UNROLL for (int half_ = 0; half_ < 2; half_++) {
                        uint rows[4][4], columns[4][4];

                        UNROLL for (int i = 0; i < 4; i++)
                                LOAD_MATRICES(rows[i],
                                        slice_a + place(warp_row + i * 16 + (lane & 15), half_ * 2 + (lane >> 4)));
                        UNROLL for (int j = 0; j < 4; j++)
                                LOAD_MATRICES(columns[j],
                                        slice_b + place(warp_column + j * 16 + (lane & 7) + (lane >> 4) * 8,
                                                          half_ * 2 + (lane >> 3 & 1)));
                        UNROLL for (int i = 0; i < 4; i++)
                                UNROLL for (int j = 0; j < 8; j++)
                                        MULTIPLY_ADD(sums[i][j], rows[i], columns[j / 2][j % 2 * 2],
                                                columns[j / 2][j % 2 * 2 + 1]);
                }
                now = now == SLICES - 1 ? 0 : now + 1;
                next = next == SLICES - 1 ? 0 : next + 1;
        }
        c += (size_t) (top + warp_row + (lane >> 2)) * n + left + warp_column + (lane & 3) * 2;
        UNROLL for (int i = 0; i < 4; i++)
                UNROLL for (int j = 0; j < 8; j++) {
                        STORE_2(c + (size_t) (i * 16) * n + j * 8, sums[i][j][0], sums[i][j][1]);
                        STORE_2(c + (size_t) (i * 16 + 8) * n + j * 8, sums[i][j][2], sums[i][j][3]);
                }
}
