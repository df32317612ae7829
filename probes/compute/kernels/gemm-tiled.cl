/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Matrix product for GPUs of any vendor, without special instructions: C = A B, C in fp32, rows one after the
 * other, n a multiple of 128. A work-group of 16 x 16 does 128 x 128, each work-item 8 x 8 in registers; slices
 * 16 deep lie in local memory while the next ones are on their way.
 *
 * -DFP16: A and B are fp16 in memory, as raw bits, which needs no cl_khr_fp16. -DHALF: they are multiplied and
 * summed as such, which does.
 */
#define TILE 128
#define DEPTH 16
#define UNROLL _Pragma("unroll")

#ifdef HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
typedef half number;
typedef half4 vector;
#else
typedef float number;
typedef float4 vector;
#endif

/* Eight operands on their way. */
#ifdef FP16
typedef ushort stored;
typedef uint4 octet;
#else
typedef float stored;
typedef float8 octet;
#endif

static octet fetch(__global const stored *from)
{
#ifdef FP16
        return *(__global const uint4 *) from;
#else
        return vload8(0, from);
#endif
}

static void unpack(octet from, number *to)
{
#ifdef HALF
        vector low = as_half4(from.xy), high = as_half4(from.zw);

        to[0] = low.x, to[1] = low.y, to[2] = low.z, to[3] = low.w;
        to[4] = high.x, to[5] = high.y, to[6] = high.z, to[7] = high.w;
#elif defined(FP16)
        uint words[4] = { from.x, from.y, from.z, from.w };

        UNROLL for (int i = 0; i < 4; i++) {
                float2 pair = vload_half2(0, (const half *) &words[i]);

                to[2 * i] = pair.x, to[2 * i + 1] = pair.y;
        }
#else
        vstore8(from, 0, to);
#endif
}

/* Eight numbers of a row of A become a column of the slice. */
static void put_a(__local number (*slice)[TILE], octet from, int row, int k)
{
        number numbers[8];

        unpack(from, numbers);
        UNROLL for (int i = 0; i < 8; i++)
                slice[k + i][row] = numbers[i];
}

static void put_b(__local number (*slice)[TILE], octet from, int k, int column)
{
        number numbers[8];

        unpack(from, numbers);
        UNROLL for (int i = 0; i < 8; i++)
                slice[k][column + i] = numbers[i];
}

/* Each work-item has two times four rows and columns, half a tile apart: so no bank of local memory is asked
 * twice. */
static void multiply(__local number (*a)[TILE], __local number (*b)[TILE], int x, int y, vector sums[8][2])
{
        UNROLL for (int k = 0; k < DEPTH; k++) {
                vector top = *(__local vector *) &a[k][4 * y], bottom = *(__local vector *) &a[k][64 + 4 * y];
                vector left = *(__local vector *) &b[k][4 * x], right = *(__local vector *) &b[k][64 + 4 * x];
                number rows[8] = { top.x, top.y, top.z, top.w, bottom.x, bottom.y, bottom.z, bottom.w };

                UNROLL for (int i = 0; i < 8; i++) {
                        sums[i][0] = fma((vector) rows[i], left, sums[i][0]);
                        sums[i][1] = fma((vector) rows[i], right, sums[i][1]);
                }
        }
}

__kernel __attribute__((reqd_work_group_size(16, 16, 1))) void gemm(__global const stored *restrict a,
        __global const stored *restrict b, __global float *restrict c, int n)
{
        __local number slice_a[DEPTH][TILE] __attribute__((aligned(16)));
        __local number slice_b[DEPTH][TILE] __attribute__((aligned(16)));
        int x = get_local_id(0), y = get_local_id(1), item = 16 * y + x;
        int row = item / 2, a_k = item % 2 * 8, b_k = item / 16, column = item % 16 * 8;
        int left = (int) get_group_id(0) * TILE, top = (int) get_group_id(1) * TILE;
        __global const stored *next_a = a + (size_t) (top + row) * n + a_k;
        __global const stored *next_b = b + (size_t) b_k * n + left + column;
        octet coming_a = fetch(next_a), coming_b = fetch(next_b);
        vector sums[8][2];

        UNROLL for (int i = 0; i < 8; i++)
                sums[i][0] = sums[i][1] = 0;
        for (int k = 0; k < n; k += DEPTH) {
                put_a(slice_a, coming_a, row, a_k);
                put_b(slice_b, coming_b, b_k, column);
                barrier(CLK_LOCAL_MEM_FENCE);
                if (k + DEPTH < n) {
                        next_a += DEPTH;
                        next_b += (size_t) DEPTH * n;
                        coming_a = fetch(next_a);
                        coming_b = fetch(next_b);
                }
                multiply(slice_a, slice_b, x, y, sums);
                barrier(CLK_LOCAL_MEM_FENCE);
        }
        UNROLL for (int i = 0; i < 8; i++) {
                size_t at = (size_t) (top + i / 4 * 64 + 4 * y + i % 4) * n + left + 4 * x;
                __global float4 *to = (__global float4 *) (c + at);

                to[0] = convert_float4(sums[i][0]);
                to[16] = convert_float4(sums[i][1]);
        }
}
