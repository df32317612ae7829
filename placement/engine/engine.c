/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "placement/engine/engine.h"

const AldPlanEngine *ald_plan_engine_find(const char *name)
{
        for (size_t i = 0; i < ald_n_plan_engines; i++)
                if (strcmp(ald_plan_engines[i].name, name) == 0)
                        return &ald_plan_engines[i];
        return NULL;
}

const char *ald_plan_engine_name_at(size_t i)
{
        return i < ald_n_plan_engines ? ald_plan_engines[i].name : NULL;
}

char *ald_plan_engine_list(void)
{
        GString *list = g_string_new(NULL);

        for (size_t i = 0; i < ald_n_plan_engines; i++)
                g_string_append_printf(list, "%s%s", i > 0 ? ", " : "", ald_plan_engines[i].name);
        return g_string_free(list, FALSE);
}
