/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What amd.cl has, in plain OpenCL C for any device, after AMD's tables of which lane holds what. -DWAVE, -DUNIT,
 * -DUNIT_DEPTH, -DPER_LANE choose among its kinds.
 */
#define UNROLL
#define KERNEL_LOCALS __local numbers em_a[256], em_b[256]; int em_item = get_local_id(0);
#define SUMS (UNIT * UNIT / WAVE)

/* Lanes that share a row hold its numbers one after the other, but where each holds all. */
#define FIRST_NUMBER(lane) (PER_LANE == UNIT_DEPTH ? 0 : (lane) / UNIT * PER_LANE)
#define SUM_ROW(i, lane)                                                                               \
        (UNIT == 32 ? 8 * ((i) / 4) + 4 * ((lane) / 32) + (i) % 4                                      \
                    : PER_LANE == 16 ? 2 * (i) + (lane) / 16 : 8 * ((lane) / 16) + (i))

typedef float sums_of_unit __attribute__((ext_vector_type(SUMS)));
typedef ushort numbers __attribute__((ext_vector_type(PER_LANE)));
/* As they lie in local memory. */
typedef ushort stored_numbers __attribute__((ext_vector_type(PER_LANE), aligned(PER_LANE < 8 ? 8 : 16)));

#define EM_HALF(held, index, k)                                                                        \
        vload_half((k) % PER_LANE, (__local const half *) &(held)[em_item / WAVE * WAVE + (index) % UNIT + \
                                           (PER_LANE == UNIT_DEPTH ? 0 : (k) / PER_LANE * UNIT)])
#define MULTIPLY_ADD(c, a, b)                                                                          \
        {                                                                                              \
                em_a[em_item] = (a);                                                                   \
                em_b[em_item] = (b);                                                                   \
                barrier(CLK_LOCAL_MEM_FENCE);                                                          \
                for (int i_ = 0; i_ < SUMS; i_++) {                                                    \
                        int row_ = SUM_ROW(i_, em_item % WAVE);                                        \
                                                                                                       \
                        for (int k_ = 0; k_ < UNIT_DEPTH; k_++)                                        \
                                (c)[i_] += EM_HALF(em_a, row_, k_) * EM_HALF(em_b, em_item, k_);       \
                }                                                                                      \
                barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        }

/* Rows of a, or columns of b, lie in local memory so many numbers apart. */
#define ROW 40
#define LOAD_A(to, from) (to) = *(__local stored_numbers *) ((from) + lane % UNIT * ROW + FIRST_NUMBER(lane))
#define LOAD_B(to, from) LOAD_A(to, from)
#define CLEAR(sums) (sums) = (sums_of_unit) (0)
#define STORE(to, sums)                                                                                \
        for (int s_ = 0; s_ < SUMS; s_++)((to) + lane % UNIT)[(size_t) SUM_ROW(s_, lane) * n] = (sums)[s_]

/* All numbers the same, by their bits in fp16; one of a lane's sums. */
#define FILL(to, bits) (to) = (numbers) ((ushort) (bits))
#define SUM(sums, i) (sums)[i]
