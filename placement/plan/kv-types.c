/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/plan/kv-types.h"

#define BIT(type) (1u << (type))
#define ALL (BIT(ALD_N_KV_TYPES) - 1)

static const char *const names[ALD_N_KV_TYPES] = {
        [ALD_KV_F32] = "f32",
        [ALD_KV_F16] = "f16",
        [ALD_KV_BF16] = "bf16",
        [ALD_KV_Q8_0] = "q8_0",
        [ALD_KV_Q4_0] = "q4_0",
        [ALD_KV_Q4_1] = "q4_1",
        [ALD_KV_Q5_0] = "q5_0",
        [ALD_KV_Q5_1] = "q5_1",
        [ALD_KV_IQ4_NL] = "iq4_nl",
};

/*
 * vLLM and SGLang keep them in the type of the model, which has 16 bits, or in fp8, which llama.cpp does not
 * have; a program for torch may use any type of torch; distributed-llama has fp32 only.
 */
static const struct {
        const char *engine;
        unsigned types;
} engines[] = {
        { "llama.cpp", ALL },
        { "vllm", BIT(ALD_KV_F16) | BIT(ALD_KV_BF16) },
        { "sglang", BIT(ALD_KV_F16) | BIT(ALD_KV_BF16) },
        { "torch", BIT(ALD_KV_F32) | BIT(ALD_KV_F16) | BIT(ALD_KV_BF16) },
        { "distributed-llama", BIT(ALD_KV_F32) },
};

const char *ald_kv_type_name(AldKvType type)
{
        return names[type];
}

int ald_kv_type_from_name(const char *name, AldKvType *ret)
{
        for (AldKvType i = 0; i < ALD_N_KV_TYPES; i++)
                if (strcmp(names[i], name) == 0) {
                        *ret = i;
                        return 0;
                }
        return -EINVAL;
}

/* Those that run no model keep none. */
static unsigned types_of(const AldPlanEngine *engine)
{
        for (size_t i = 0; engine && i < G_N_ELEMENTS(engines); i++)
                if (strcmp(engines[i].engine, engine->name) == 0)
                        return engines[i].types;
        return engine ? 0 : ALL;
}

bool ald_plan_engine_keeps(const AldPlanEngine *engine, AldKvType type)
{
        return (types_of(engine) & BIT(type)) != 0;
}

AldKvType ald_plan_engine_kv_type(const AldPlanEngine *engine)
{
        return ald_plan_engine_keeps(engine, ALD_KV_F16) ? ALD_KV_F16 : ALD_KV_F32;
}

char *ald_plan_engine_kv_type_list(const AldPlanEngine *engine)
{
        GString *list = g_string_new(NULL);

        for (AldKvType i = 0; i < ALD_N_KV_TYPES; i++)
                if (ald_plan_engine_keeps(engine, i))
                        g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", names[i]);
        return g_string_free(list, FALSE);
}
