/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/plan/kv-types.h"

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

bool ald_plan_engine_keeps(const AldPlanEngine *engine, AldKvType type)
{
        return !engine || (engine->kv_types & ALD_KV_BIT(type)) != 0;
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
