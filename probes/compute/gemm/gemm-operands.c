/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "probes/compute/gemm/gemm-operands.h"

#define FP16_SIGN 0x8000u
#define FP16_FRACTION 10u
#define FP16_BIAS 15u

uint16_t ald_fp16_of_multiple(int32_t multiple)
{
        uint32_t size = (uint32_t) (multiple < 0 ? -multiple : multiple);
        unsigned top, exponent;

        if (size == 0)
                return 0;
        top = 31 - (unsigned) __builtin_clz(size);
        exponent = top + FP16_BIAS - 11;
        size = top > FP16_FRACTION ? size >> (top - FP16_FRACTION) : size << (FP16_FRACTION - top);
        return (uint16_t) ((multiple < 0 ? FP16_SIGN : 0) | exponent << FP16_FRACTION |
                           (size & ((1u << FP16_FRACTION) - 1)));
}

void ald_operand_fill(AldElement element, AldOperand operand, bool transposed, unsigned n, unsigned first,
        unsigned n_rows, void *ret)
{
        uint16_t *halves = ret;
        float *floats = ret;

        for (uint32_t row = first; row < first + n_rows; row++)
                for (uint32_t column = 0; column < n; column++) {
                        uint32_t index = transposed ? column * n + row : row * n + column;

                        if (element == ALD_ELEMENT_FP16)
                                *halves++ = ald_fp16_of_multiple(ald_operand_raw(element, operand, index));
                        else
                                *floats++ = (float) ald_operand(element, operand, index);
                }
}

void ald_operand_to_tiles(const uint16_t *rows, unsigned n, unsigned n_rows, uint16_t *ret)
{
        enum { PART = 8, PARTS = ALD_TILE_DEPTH / PART };

        for (unsigned first = 0; first < n; first += ALD_TILE_DEPTH)
                for (unsigned row = 0; row < n_rows; row++, ret += ALD_TILE_DEPTH)
                        for (unsigned part = 0; part < PARTS; part++)
                                memcpy(ret + (part ^ row % PARTS) * PART,
                                        rows + (size_t) row * n + first + part * PART, PART * sizeof *ret);
}
