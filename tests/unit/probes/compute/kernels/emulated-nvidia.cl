/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What nvidia.cl has, in plain OpenCL C for a device that is not NVIDIA's: so that a kernel's reckoning with rows,
 * columns and lanes can be tried anywhere. Written after PTX's documentation, not after the kernels. All
 * work-items of a work-group execute them together.
 */
#define UNROLL
#define KERNEL_LOCALS __local uint em_words[6 * GROUP]; __local char *em_base; int em_item = get_local_id(0);
#define STORE_2(to, x, y) *(__global float2 *) (to) = (float2) (x, y)
#define ADDRESS(local) (em_base = (__local char *) (local), 0u)
#define COPY_16(to, from) *(__local uint4 *) (em_base + (to)) = *(__global const uint4 *) (from)
#define COPIES_COMMIT()
#define COPIES_WAIT(groups)

/* A lane gets two numbers of each matrix: of row lane / 4, columns lane % 4 * 2 and the next. */
#define LOAD_MATRICES(r, from)                                                                         \
        {                                                                                              \
                em_words[em_item] = (from);                                                            \
                barrier(CLK_LOCAL_MEM_FENCE);                                                          \
                for (int m_ = 0; m_ < 4; m_++) {                                                       \
                        uint row_ = em_words[em_item / 32 * 32 + m_ * 8 + em_item % 32 / 4];           \
                        (r)[m_] = *(__local uint *) (em_base + row_ + em_item % 4 * 4);                \
                }                                                                                      \
                barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        }

/* Number k of row `row` of a, whose four registers hold rows lane / 4 and 8 more, columns lane % 4 * 2 and 8
 * more; of column `column` of b, whose two hold rows lane % 4 * 2 and 8 more, column lane / 4. */
#define EM_NUMBER(reg, lane, k)                                                                        \
        vload_half((k) % 2, (__local half *) &em_words[(reg) * GROUP + em_item / 32 * 32 + (lane)])
#define EM_A(row, k) EM_NUMBER((row) / 8 + (k) / 8 * 2, (row) % 8 * 4 + (k) % 8 / 2, k)
#define EM_B(k, column) EM_NUMBER(4 + (k) / 8, (column) * 4 + (k) % 8 / 2, k)

/* Sums: rows lane / 4 (twice) and 8 more (twice), columns lane % 4 * 2 and the next. */
#define MULTIPLY_ADD(c, a, b0, b1)                                                                     \
        {                                                                                              \
                for (int i_ = 0; i_ < 4; i_++)                                                         \
                        em_words[i_ * GROUP + em_item] = (a)[i_];                                      \
                em_words[4 * GROUP + em_item] = (b0);                                                  \
                em_words[5 * GROUP + em_item] = (b1);                                                  \
                barrier(CLK_LOCAL_MEM_FENCE);                                                          \
                for (int i_ = 0; i_ < 4; i_++)                                                         \
                        for (int k_ = 0; k_ < 16; k_++)                                                \
                                (c)[i_] += EM_A(em_item % 32 / 4 + i_ / 2 * 8, k_) *                   \
                                           EM_B(k_, em_item % 4 * 2 + i_ % 2);                         \
                barrier(CLK_LOCAL_MEM_FENCE);                                                          \
        }
