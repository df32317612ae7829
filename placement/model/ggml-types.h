/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* Numbers of ggml's tensor types in files. Keys and values can have all of these except the last. */
enum {
        ALD_GGML_F32 = 0,
        ALD_GGML_F16 = 1,
        ALD_GGML_Q4_0 = 2,
        ALD_GGML_Q4_1 = 3,
        ALD_GGML_Q5_0 = 6,
        ALD_GGML_Q5_1 = 7,
        ALD_GGML_Q8_0 = 8,
        ALD_GGML_IQ4_NL = 20,
        ALD_GGML_BF16 = 30,
        ALD_GGML_MXFP4 = 39,
};

/* Elements come in blocks of a fixed size; a row consists of whole blocks. */
typedef struct AldGgmlType {
        const char *name;
        uint32_t block, bytes;
} AldGgmlType;

/* Returns NULL if there is no such type, or ggml no longer reads it. */
const AldGgmlType *ald_ggml_type(uint32_t id);
