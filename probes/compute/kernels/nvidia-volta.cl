/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matrix instructions that NVIDIA's GPUs have from Volta on, for gemm-waves.cl: c += a*b of a warp, 16 x 16,
 * 16 deep, fp16 with sums in fp32. Which lane holds what is theirs.
 */
#define UNROLL _Pragma("unroll")
#define KERNEL_LOCALS
#define WAVE 32
#define UNIT 16
#define UNIT_DEPTH 16

typedef struct {
        uint of[8];
} numbers;
typedef struct {
        float of[8];
} sums_of_unit;

/* Rows of a, or columns of b, lie in local memory so many numbers apart. */
#define ROW 40
#define LOAD(which, to, from)                                                                          \
        asm volatile("wmma.load." which ".m16n16k16.shared.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" \
                     : "=r"((to).of[0]), "=r"((to).of[1]), "=r"((to).of[2]), "=r"((to).of[3]),         \
                       "=r"((to).of[4]), "=r"((to).of[5]), "=r"((to).of[6]), "=r"((to).of[7])          \
                     : "r"((uint) (size_t) (from)), "r"(ROW)                                           \
                     : "memory")
#define LOAD_A(to, from) LOAD("a.sync.aligned.row", to, from)
#define LOAD_B(to, from) LOAD("b.sync.aligned.col", to, from)
#define CLEAR(sums)                                                                                    \
        UNROLL for (int s_ = 0; s_ < 8; s_++)(sums).of[s_] = 0
#define EIGHT(kind, x)                                                                                 \
        kind ((x).of[0]), kind ((x).of[1]), kind ((x).of[2]), kind ((x).of[3]), kind ((x).of[4]),           \
                kind ((x).of[5]), kind ((x).of[6]), kind ((x).of[7])
#define MULTIPLY_ADD(c, a, b)                                                                          \
        asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 "                                \
                     "{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, "      \
                     "{%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"     \
                     : EIGHT("+f", c)                                                                  \
                     : EIGHT("r", a), EIGHT("r", b))
#define STORE(to, sums)                                                                                \
        asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%8], "                       \
                     "{%0, %1, %2, %3, %4, %5, %6, %7}, %9;"                                           \
                     :                                                                                 \
                     : EIGHT("f", sums), "l"(to), "r"(n)                                               \
                     : "memory")

/* All numbers the same, by their bits in fp16; one of a lane's sums. */
#define FILL(to, bits)                                                                                 \
        UNROLL for (int f_ = 0; f_ < 8; f_++)(to).of[f_] = (bits) * 0x10001u
#define SUM(sums, i) (sums).of[i]
#define SUMS 8
