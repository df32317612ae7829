/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "placement/plan/method.h"
#include "placement/plan/model-files.h"

AldEngineReading ald_plan_engine_reading(
        const AldPlanEngine *engine, const AldPlanWorkload *workload, const char **ret_text)
{
        int format = workload->model_format
                             ? ald_plan_workload_model_format_from_string(workload->model_format)
                             : -1;
        const AldEngineFiles *files;

        if (engine->architectures && workload->architecture &&
                !g_strv_contains(engine->architectures, workload->architecture)) {
                *ret_text = engine->architectures_text;
                return ALD_MODEL_REFUSED;
        }
        if (format < 0)
                return ALD_MODEL_READ;
        files = format == ALD_PLAN_WORKLOAD_MODEL_FORMAT_GGUF ? &engine->gguf : &engine->safetensors;
        if (files->text)
                *ret_text = files->text;
        return files->reading;
}

const AldPlanEngine *ald_plan_engine_choose(const AldPlanWorkload *workload)
{
        const char *text;

        for (const AldPlanEngine *engine = ald_plan_engines; engine->name; engine++)
                if (engine->method->has_layers &&
                        ald_plan_engine_reading(engine, workload, &text) == ALD_MODEL_READ)
                        return engine;
        return ald_plan_engines;
}

char *ald_plan_engine_choice_text(const AldPlanWorkload *workload)
{
        g_autoptr(GString) readers = g_string_new(NULL), not_read = g_string_new(NULL);
        const char *text = NULL;

        for (const AldPlanEngine *engine = ald_plan_engines; engine->name; engine++) {
                if (!engine->method->has_layers)
                        continue;
                if (ald_plan_engine_reading(engine, workload, &text) == ALD_MODEL_READ)
                        g_string_append_printf(readers, "%s%s", readers->len > 0 ? ", " : "", engine->name);
                else
                        g_string_append_printf(not_read, " %s.", text);
        }
        if (not_read->len == 0)
                return NULL;
        return g_strdup_printf("%s was chosen of the engines that read the model: %s.%s",
                ald_plan_engine_choose(workload)->name, readers->str, not_read->str);
}
