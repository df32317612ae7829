/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Instructions of NVIDIA's GPUs that OpenCL C has no words for, by the names that the kernels use. Addresses are
 * those of PTX's shared space, which is OpenCL's local memory. -DCAPABILITY: ten times the compute capability.
 */
#define UNROLL _Pragma("unroll")
#define KERNEL_LOCALS
#define ADDRESS(local) ((uint) (size_t) (local))

/* Two floats in one store: vstore2() makes two of it, since it takes any address. */
#define STORE_2(to, x, y) *(__global float2 *) (to) = (float2) (x, y)

#if CAPABILITY >= 80
/* Sixteen bytes from global to local memory, without waiting. */
#define COPY_16(to, from) \
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" : : "r"(to), "l"(from) : "memory")
#define COPIES_COMMIT() asm volatile("cp.async.commit_group;" : : : "memory")
/* Waits for all groups of copies but the last so many. */
#define COPIES_WAIT(groups) asm volatile("cp.async.wait_group " #groups ";" : : : "memory")
#else
#define COPY_16(to, from)                                                                              \
        {                                                                                              \
                uint4 bytes_ = *(__global const uint4 *) (from);                                       \
                asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"                                \
                             :                                                                         \
                             : "r"(to), "r"(bytes_.x), "r"(bytes_.y), "r"(bytes_.z), "r"(bytes_.w)     \
                             : "memory");                                                              \
        }
#define COPIES_COMMIT()
#define COPIES_WAIT(groups)
#endif

/* Four matrices of 8 x 8 fp16; lane l gives the address of row l % 8 of matrix l / 8. */
#define LOAD_MATRICES(r, from)                                                                         \
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"                \
                     : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3])                          \
                     : "r"(from)                                                                       \
                     : "memory")

/* c += a*b of a warp: 16 x 16 by 16 x 8, fp16 with sums in fp32. */
#if CAPABILITY >= 80
#define MULTIPLY_ADD(c, a, b0, b1)                                                                     \
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "            \
                     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                   \
                     : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3])                          \
                     : "r"((a)[0]), "r"((a)[1]), "r"((a)[2]), "r"((a)[3]), "r"(b0), "r"(b1))
#else
#define MULTIPLY_ADD_8(c, a0, a1, b)                                                                   \
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, "   \
                     "{%6}, {%0, %1, %2, %3};"                                                         \
                     : "+f"((c)[0]), "+f"((c)[1]), "+f"((c)[2]), "+f"((c)[3])                          \
                     : "r"(a0), "r"(a1), "r"(b))
#define MULTIPLY_ADD(c, a, b0, b1)                                                                     \
        {                                                                                              \
                MULTIPLY_ADD_8(c, (a)[0], (a)[1], b0);                                                 \
                MULTIPLY_ADD_8(c, (a)[2], (a)[3], b1);                                                 \
        }
#endif
