/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nvidia-volta.cl has, in plain OpenCL C: numbers are left where they are until they are multiplied. */
#define UNROLL
#define KERNEL_LOCALS
#define WAVE 32
#define UNIT 16
#define UNIT_DEPTH 16
#define ROW 40

typedef struct {
        __local const half *from;
} numbers;
typedef struct {
        float of[8];
} sums_of_unit;

/* A lane sums up half a row. */
#define EM_ROW (lane / 2)
#define EM_COLUMN(i) (lane % 2 * 8 + (i))
#define LOAD_A(to, first) (to).from = (__local const half *) (first)
#define LOAD_B(to, first) LOAD_A(to, first)
#define CLEAR(sums)                                                                                    \
        for (int s_ = 0; s_ < 8; s_++)                                                                 \
        (sums).of[s_] = 0
#define MULTIPLY_ADD(c, a, b)                                                                          \
        for (int i_ = 0; i_ < 8; i_++)                                                                 \
                for (int k_ = 0; k_ < UNIT_DEPTH; k_++)                                                \
                        (c).of[i_] += vload_half(EM_ROW * ROW + k_, (a).from) *                        \
                                      vload_half(EM_COLUMN(i_) * ROW + k_, (b).from)
#define STORE(to, sums)                                                                                \
        for (int s_ = 0; s_ < 8; s_++)                                                                 \
        (to)[(size_t) EM_ROW * n + EM_COLUMN(s_)] = (sums).of[s_]
