/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The instruction sets for vectors and matrices, by the names of the kernel. A uint64_t holds several of
 * them, one bit for each. */

/* Returns their names in alphabetical order, NULL-terminated; NULL if there are none. The caller frees only
 * the array, with g_free(). */
const char **ald_instruction_sets_list(uint64_t sets);

/* Returns the bit of this instruction set, or 0. */
uint64_t ald_instruction_set(const char *name);

/* Returns the instruction sets among the flags or features of a processor, which are separated by spaces. */
uint64_t ald_instruction_sets_of_flags(const char *text, size_t length);

/* Returns the instruction sets of RISC-V in a text such as "rv64imafdcv_zicsr_zvfh". */
uint64_t ald_instruction_sets_of_isa(const char *isa, size_t length);
