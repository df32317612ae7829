/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * The contents of memory: pseudo-random words, since some chips compress regular data, and zeros switch fewer
 * wires. Each period of words is the same sequence times a different odd number. So the sum of all words can
 * be computed from one period, but a kernel that reads one piece twice and skips another is detected.
 * kernels/memory.cl generates the same words.
 */
#define ALD_PATTERN_PERIOD (UINT64_C(1) << 22) /* words */

/* The size of measured memory is a multiple of this. */
#define ALD_PATTERN_BYTES (ALD_PATTERN_PERIOD * sizeof(uint32_t))

uint32_t ald_pattern_word(uint64_t index);

/* Returns the sum of the words of the first `periods` periods. */
uint32_t ald_pattern_sum(uint64_t periods);
