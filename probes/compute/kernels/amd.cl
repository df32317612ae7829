/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matrix instructions of AMD's GPUs, for gemm-waves.cl: c += a*b of a wave, UNIT x UNIT, UNIT_DEPTH deep,
 * fp16 with sums in fp32. A lane holds PER_LANE numbers of a row of a, and as many of a column of b: those of
 * row, or column, lane % UNIT from number FIRST_NUMBER(lane) on. Its sum i belongs to row SUM_ROW(i, lane),
 * column lane % UNIT.
 */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define UNROLL _Pragma("unroll")
#define KERNEL_LOCALS

#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) ||        \
        defined(__gfx942__) || defined(__gfx950__)
#define WAVE 64
#define UNIT 32
#define UNIT_DEPTH 8
#define PER_LANE 4
#define FIRST_NUMBER(lane) ((lane) / 32 * 4)
#define SUM_ROW(i, lane) ((i) / 4 * 8 + (lane) / 32 * 4 + (i) % 4)
#define MULTIPLY_ADD(c, a, b) (c) = __builtin_amdgcn_mfma_f32_32x32x8f16(HALVES(a), HALVES(b), c, 0, 0, 0)

#elif defined(__gfx1100__) || defined(__gfx1101__) || defined(__gfx1102__) || defined(__gfx1103__) || \
        defined(__gfx1150__) || defined(__gfx1151__) || defined(__gfx1152__) || defined(__gfx1153__)
#define WAVE 32
#define UNIT 16
#define UNIT_DEPTH 16
#define PER_LANE 16
#define FIRST_NUMBER(lane) 0
#define SUM_ROW(i, lane) ((i) *2 + (lane) / 16)
#define MULTIPLY_ADD(c, a, b) (c) = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(HALVES(a), HALVES(b), c)

#elif defined(__gfx1200__) || defined(__gfx1201__)
#define WAVE 32
#define UNIT 16
#define UNIT_DEPTH 16
#define PER_LANE 8
#define FIRST_NUMBER(lane) ((lane) / 16 * 8)
#define SUM_ROW(i, lane) ((lane) / 16 * 8 + (i))
#define MULTIPLY_ADD(c, a, b) (c) = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(HALVES(a), HALVES(b), c)

#else
#error no matrix instructions are known for this GPU
#endif

#if defined(__AMDGCN_WAVEFRONT_SIZE__) && __AMDGCN_WAVEFRONT_SIZE__ != WAVE
#error the waves have another size
#endif

#define SUMS (UNIT * UNIT / WAVE)
typedef float sums_of_unit __attribute__((ext_vector_type(SUMS)));
typedef ushort numbers __attribute__((ext_vector_type(PER_LANE)));
/* As they lie in local memory. */
typedef ushort stored_numbers __attribute__((ext_vector_type(PER_LANE), aligned(PER_LANE < 8 ? 8 : 16)));
typedef half halves __attribute__((ext_vector_type(PER_LANE)));
#define HALVES(numbers) __builtin_astype(numbers, halves)

/* Rows of a, or columns of b, lie in local memory so many numbers apart. */
#define ROW 40
#define LOAD_A(to, from) (to) = *(__local stored_numbers *) ((from) + lane % UNIT * ROW + FIRST_NUMBER(lane))
#define LOAD_B(to, from) LOAD_A(to, from)
#define CLEAR(sums) (sums) = (sums_of_unit) (0)
#define STORE(to, sums)                                                                                \
        UNROLL for (int s_ = 0; s_ < SUMS; s_++)((to) + lane % UNIT)[(size_t) SUM_ROW(s_, lane) * n] = (sums)[s_]

/* All numbers the same, by their bits in fp16; one of a lane's sums. */
#define FILL(to, bits) (to) = (numbers) ((ushort) (bits))
#define SUM(sums, i) (sums)[i]
