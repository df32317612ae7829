/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The type of operands in memory. */
typedef enum AldElement {
        ALD_ELEMENT_FP32,
        ALD_ELEMENT_FP16,
} AldElement;

typedef enum AldOperand {
        ALD_OPERAND_A,
        ALD_OPERAND_B,
} AldOperand;

/* Limits the index of an element to 32 bits. */
#define ALD_GEMM_N_MAX 32768u

/* Returns a hash of a number. */
static inline uint32_t ald_gemm_hash(uint32_t x)
{
        x = (x ^ (x >> 16)) * UINT32_C(0x7feb352d);
        x = (x ^ (x >> 15)) * UINT32_C(0x846ca68b);
        return x ^ (x >> 16);
}

/*
 * The operands of matrix products: pseudo-random numbers from -1 to 1, each a function of its position, so
 * that they need not be stored. Those in fp16 are multiples of 1/2048, those in fp32 of 1/2²³, so both are
 * exact.
 */
static inline int32_t ald_operand_raw(AldElement element, AldOperand operand, uint32_t index)
{
        uint32_t bits = ald_gemm_hash(
                index + (operand == ALD_OPERAND_A ? UINT32_C(0x9e3779b9) : UINT32_C(0x51ed270b)));

        return element == ALD_ELEMENT_FP16 ? (int32_t) (bits >> 20) - 2048
                                           : (int32_t) (bits >> 8) - (1 << 23);
}

static inline double ald_operand(AldElement element, AldOperand operand, uint32_t index)
{
        return ald_operand_raw(element, operand, index) *
               (element == ALD_ELEMENT_FP16 ? 1.0 / 2048 : 1.0 / (1 << 23));
}

/* Returns the fp16 representation of a multiple of 1/2048 from -1 to 1. */
uint16_t ald_fp16_of_multiple(int32_t multiple);

static inline unsigned ald_element_size(AldElement element)
{
        return element == ALD_ELEMENT_FP16 ? 2 : 4;
}

/*
 * Arranges n_rows rows of n elements in fp16 for kernels that copy whole tiles. The tiles are ALD_TILE_DEPTH
 * elements wide and follow each other. Each consists of rows of 128 bytes, whose 16-byte parts are permuted
 * within the row as in the 128-byte swizzle of NVIDIA's Hopper: part p of row r lies at p XOR r % 8.
 */
void ald_operand_to_tiles(const uint16_t *rows, unsigned n, unsigned n_rows, uint16_t *ret);
#define ALD_TILE_DEPTH 64u

/* Writes n_rows rows of n elements in memory order: rows of the operand or, if transposed, its columns. */
void ald_operand_fill(AldElement element, AldOperand operand, bool transposed, unsigned n, unsigned first,
        unsigned n_rows, void *ret);
