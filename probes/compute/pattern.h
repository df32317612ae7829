/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * What memory is filled with: words without order, since some chips compress what has one, and fewer wires
 * switch for zeros. Each period of words is the same shuffle times another odd number, so that the sum of all
 * is known here at the cost of one period, but a kernel that reads one piece twice and leaves out another is
 * found out. kernels/memory.cl makes the same.
 */
#define ALD_PATTERN_PERIOD (UINT64_C(1) << 22) /* words */

/* Of any memory: what is measured is a multiple of it. */
#define ALD_PATTERN_BYTES (ALD_PATTERN_PERIOD * sizeof(uint32_t))

uint32_t ald_pattern_word(uint64_t index);

/* The sum of so many whole periods from the first on. */
uint32_t ald_pattern_sum(uint64_t periods);
