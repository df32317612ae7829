/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "placement/plan/engine.h"

const AldPlanEngine *ald_plan_engine_find(const char *name)
{
        for (const AldPlanEngine *engine = ald_plan_engines; engine->name; engine++)
                if (strcmp(engine->name, name) == 0)
                        return engine;
        return NULL;
}

const char *ald_plan_engine_name_at(size_t i)
{
        return ald_plan_engines[i].name;
}

char *ald_plan_engine_list(void)
{
        GString *list = g_string_new(NULL);

        for (const AldPlanEngine *engine = ald_plan_engines; engine->name; engine++)
                g_string_append_printf(list, "%s%s", list->len > 0 ? ", " : "", engine->name);
        return g_string_free(list, FALSE);
}
