/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "placement/model/ggml-types.h"

/* Missing numbers belong to types that were removed, or are only used in memory. */
static const AldGgmlType types[] = {
        [ALD_GGML_F32] = { "F32", 1, 4 },
        [ALD_GGML_F16] = { "F16", 1, 2 },
        [ALD_GGML_Q4_0] = { "Q4_0", 32, 18 },
        [ALD_GGML_Q4_1] = { "Q4_1", 32, 20 },
        [ALD_GGML_Q5_0] = { "Q5_0", 32, 22 },
        [ALD_GGML_Q5_1] = { "Q5_1", 32, 24 },
        [ALD_GGML_Q8_0] = { "Q8_0", 32, 34 },
        [9] = { "Q8_1", 32, 36 },
        [10] = { "Q2_K", 256, 84 },
        [11] = { "Q3_K", 256, 110 },
        [12] = { "Q4_K", 256, 144 },
        [13] = { "Q5_K", 256, 176 },
        [14] = { "Q6_K", 256, 210 },
        [15] = { "Q8_K", 256, 292 },
        [16] = { "IQ2_XXS", 256, 66 },
        [17] = { "IQ2_XS", 256, 74 },
        [18] = { "IQ3_XXS", 256, 98 },
        [19] = { "IQ1_S", 256, 50 },
        [ALD_GGML_IQ4_NL] = { "IQ4_NL", 32, 18 },
        [21] = { "IQ3_S", 256, 110 },
        [22] = { "IQ2_S", 256, 82 },
        [23] = { "IQ4_XS", 256, 136 },
        [24] = { "I8", 1, 1 },
        [25] = { "I16", 1, 2 },
        [26] = { "I32", 1, 4 },
        [27] = { "I64", 1, 8 },
        [28] = { "F64", 1, 8 },
        [29] = { "IQ1_M", 256, 56 },
        [ALD_GGML_BF16] = { "BF16", 1, 2 },
        [34] = { "TQ1_0", 256, 54 },
        [35] = { "TQ2_0", 256, 66 },
        [ALD_GGML_MXFP4] = { "MXFP4", 32, 17 },
        [40] = { "NVFP4", 64, 36 },
        [41] = { "Q1_0", 128, 18 },
        [42] = { "Q2_0", 64, 18 },
};

const AldGgmlType *ald_ggml_type(uint32_t id)
{
        return id < G_N_ELEMENTS(types) && types[id].name ? &types[id] : NULL;
}
