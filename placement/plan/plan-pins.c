/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/plan/plan-pins.h"

int ald_plan_pin_parse(const char *text, AldPlanPin *ret)
{
        const char *slash = strchr(text, '/'), *equals = strrchr(text, '=');
        guint64 layers;

        if (!slash || !equals || slash == text || equals <= slash + 1)
                return -EINVAL;
        if (!g_ascii_string_to_unsigned(equals + 1, 10, 1, ALD_PLAN_PIN_LAYERS_MAX, &layers, NULL))
                return -EINVAL;
        *ret = (AldPlanPin){ .device = g_strndup(text, (gsize) (equals - text)),
                .layers = (uint32_t) layers };
        return 0;
}

void ald_plan_pin_clear(AldPlanPin *pin)
{
        g_free(pin->device);
}
