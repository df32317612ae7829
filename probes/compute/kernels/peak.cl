/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Multiply-adds on registers alone: CHAINS vectors of WIDTH numbers of TYPE, each of which goes from x to
 * turn - x and, an even number of iterations being done, back to x. All are whole numbers that fp16 holds, so the
 * sum shows whether all was done. `factor` is -1, but the compiler does not know.
 */
#ifdef HALF
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define UNROLL _Pragma("unroll")

typedef JOIN(TYPE, WIDTH) vector;

__kernel void peak(__global float *restrict out, int iterations, float factor)
{
        uint id = get_global_id(0);
        vector x[CHAINS], minus = (vector) ((TYPE) factor), turn = (vector) ((TYPE) (101 + id % 20));
        TYPE lanes[WIDTH];
        float sum = 0;

        UNROLL for (int c = 0; c < CHAINS; c++) {
                UNROLL for (int l = 0; l < WIDTH; l++)
                        lanes[l] = (TYPE) ((id + 3 * c + 7 * l) % 61);
                x[c] = JOIN(vload, WIDTH)(0, lanes);
        }
        for (int i = 0; i < iterations; i += 2) {
                UNROLL for (int c = 0; c < CHAINS; c++)
                        x[c] = fma(x[c], minus, turn);
                UNROLL for (int c = 0; c < CHAINS; c++)
                        x[c] = fma(x[c], minus, turn);
        }
        UNROLL for (int c = 0; c < CHAINS; c++) {
                JOIN(vstore, WIDTH)(x[c], 0, lanes);
                UNROLL for (int l = 0; l < WIDTH; l++)
                        sum += (float) lanes[l];
        }
        out[id] = sum;
}
