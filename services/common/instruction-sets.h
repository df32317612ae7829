/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The instruction sets for vectors and matrices, in the words of the kernel. A set of them has one bit for
 * each. */

/* Their names in alphabetical order, NULL-terminated, which the caller frees with g_free() alone. NULL for
 * none. */
const char **ald_instruction_sets_list(uint64_t sets);

/* The bit of this one, or 0. */
uint64_t ald_instruction_set(const char *name);

/* Those among words that blanks separate: the flags or features of a processor. */
uint64_t ald_instruction_sets_of_flags(const char *text, size_t length);

/* Those of RISC-V in a text such as "rv64imafdcv_zicsr_zvfh". */
uint64_t ald_instruction_sets_of_isa(const char *isa, size_t length);
