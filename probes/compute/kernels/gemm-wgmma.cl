/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matrix product by the warpgroup instructions of NVIDIA's Hopper, with those of nvidia.cl and nvidia-hopper.cl:
 * C = A*B, A and B in fp16, in tiles as ald_operand_to_tiles() makes them, of rows of A and of columns of B, C
 * and the sums in fp32, n a multiple of 256.
 * A work-group of two warpgroups does 128 x 256, each of them 64 x 256 in registers, and then another such tile.
 * Slices 64 deep lie in a ring of four in local memory, of which one is multiplied, one may still be, and two are on
 * their way: also those of the next tile while this one is written.
 */
#define ROWS 128
#define COLUMNS 256
#define DEPTH 64 /* ALD_TILE_DEPTH */
#define SLICES 4
#define ROW_BYTES (DEPTH * 2)
#define SLICE_BYTES ((ROWS + COLUMNS) * ROW_BYTES)
#define AHEAD 2
#define STRIPE 16 /* tiles */

/* Groups that run together share rows and columns: they go through C in stripes. */
static void find_tile(int tile, int n, int *left, int *top)
{
        int columns = n / COLUMNS, rows = n / ROWS, stripe = tile / (STRIPE * columns);
        int height = min(STRIPE, rows - stripe * STRIPE), within = tile - stripe * STRIPE * columns;

        *top = (stripe * STRIPE + within % height) * ROWS;
        *left = within / height * COLUMNS;
}

/* Which slice is loaded next, by the first work-item. */
typedef struct Next {
        int tile, k, slice;
        __global const uchar *a, *b;
} Next;

static void choose_next(Next *next, __global const uchar *a, __global const uchar *b, int n)
{
        int left, top;

        if (next->tile >= n / ROWS * (n / COLUMNS))
                return;
        find_tile(next->tile, n, &left, &top);
        next->a = a + (size_t) top * n * 2;
        next->b = b + (size_t) left * n * 2;
        next->k = 0;
}

static void advance(Next *next, __global const uchar *a, __global const uchar *b, int n)
{
        next->slice = (next->slice + 1) % SLICES;
        next->a += ROWS * ROW_BYTES;
        next->b += COLUMNS * ROW_BYTES;
        next->k += DEPTH;
        if (next->k < n)
                return;
        next->tile += get_num_groups(0);
        choose_next(next, a, b, n);
}

/* By one work-item. */
#define LOAD_NEXT(next)                                                                                \
        if ((next).tile < n_tiles) {                                                                   \
                uint slice_ = ring + (next).slice * SLICE_BYTES, arrival_ = arrivals + (next).slice * 8; \
                                                                                                       \
                ARRIVAL_EXPECT(arrival_, SLICE_BYTES);                                                 \
                COPY_BYTES(slice_, (next).a, ROWS * ROW_BYTES, arrival_);                              \
                COPY_BYTES(slice_ + ROWS * ROW_BYTES, (next).b, COLUMNS * ROW_BYTES, arrival_);        \
                advance(&(next), a, b, n);                                                             \
        }

__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void gemm(
        __global const uchar *a, __global const uchar *b, __global float *c, int n)
{
        __local uint slices[SLICES * SLICE_BYTES / 4 + SLICES * 2] __attribute__((aligned(1024)));
        KERNEL_LOCALS
        int item = get_local_id(0), lane = item & 31, warpgroup = item >> 7, warp = item >> 5 & 3, now = 0;
        int n_tiles = n / ROWS * (n / COLUMNS);
        uint ring = ADDRESS(slices), arrivals = ring + SLICES * SLICE_BYTES, turn = 0;
        Next next = { .tile = get_group_id(0) };
        float sums[128];

        choose_next(&next, a, b, n);
        if (item == 0) {
                for (int i = 0; i < SLICES; i++)
                        ARRIVAL_INIT(arrivals + i * 8);
                COPIES_SHOW();
                for (int i = 0; i < AHEAD; i++)
                        LOAD_NEXT(next)
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int tile = get_group_id(0); tile < n_tiles; tile += get_num_groups(0)) {
                __global float *to;
                int left, top;

                UNROLL for (int i = 0; i < 128; i++)
                        sums[i] = 0;
                for (int k = 0; k < n; k += DEPTH) {
                        uint slice_a = ring + now * SLICE_BYTES + warpgroup * 64 * ROW_BYTES;
                        uint slice_b = ring + now * SLICE_BYTES + ROWS * ROW_BYTES;

                        ARRIVAL_WAIT(arrivals + now * 8, turn);
                        barrier(CLK_LOCAL_MEM_FENCE);
                        WARPGROUP_BEGIN();
                        UNROLL for (int i = 0; i < DEPTH; i += 16)
                                WARPGROUP_MULTIPLY_ADD(sums, DESCRIBE(slice_a + i * 2), DESCRIBE(slice_b + i * 2));
                        WARPGROUP_COMMIT();
                        /* All have seen the end of what was read from there two slices ago. */
                        if (item == 0)
                                LOAD_NEXT(next)
                        WARPGROUP_WAIT(1);
                        now = (now + 1) % SLICES;
                        turn ^= now == 0;
                }
                WARPGROUP_WAIT(0);
                find_tile(tile, n, &left, &top);
                to = c + (size_t) (top + warpgroup * 64 + warp * 16 + (lane >> 2)) * n + left + (lane & 3) * 2;
                UNROLL for (int j = 0; j < 32; j++) {
                        STORE_2(to + j * 8, sums[4 * j], sums[4 * j + 1]);
                        STORE_2(to + (size_t) 8 * n + j * 8, sums[4 * j + 2], sums[4 * j + 3]);
                }
        }
}
