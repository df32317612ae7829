/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/export/export-age.h"
#include "placement/export/plan-export.h"
#include "placement/export/plan-formats.h"

/* What runs, and what is only looked at. */
typedef struct Format {
        const char *name;
        const char *engines[3]; /* whose plans it takes; none: any */
        AldExportWrite write;
        bool is_run;
} Format;

static const Format formats[] = {
        { "llama.cpp", { "llama.cpp" }, ald_export_write_llama, true },
        { "distributed-llama", { "distributed-llama" }, ald_export_write_dllama, true },
        { "vllm", { "vllm" }, ald_export_write_vllm, true },
        { "sglang", { "sglang" }, ald_export_write_sglang, true },
        { "mpi", { "mpi", "nccl", "torch" }, ald_export_write_mpi, true },
        { "torchrun", { "torch", "nccl" }, ald_export_write_torchrun, true },
        { "dot", {}, ald_export_write_plan_dot, false },
};

const char *const ald_plan_export_formats[] = { "llama.cpp", "distributed-llama", "vllm", "sglang", "mpi",
        "torchrun", "dot", NULL };

static const Format *find_format(const char *name)
{
        for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
                if (strcmp(formats[i].name, name) == 0)
                        return &formats[i];
        return NULL;
}

static bool takes(const Format *format, const char *engine)
{
        for (size_t i = 0; i < G_N_ELEMENTS(format->engines) && format->engines[i]; i++)
                if (strcmp(engine, format->engines[i]) == 0)
                        return true;
        return !format->engines[0];
}

bool ald_plan_export_takes(const char *name, const char *engine)
{
        const Format *format = find_format(name);

        return format && takes(format, engine);
}

/* In commands and in comments. */
static int check_path(const char *what, const char *path, char **ret_reason)
{
        if (!path || (path[0] != '\0' && path[0] != '-' && g_utf8_validate(path, -1, NULL) &&
                             !strpbrk(path, "\n\r")))
                return 0;
        return ald_export_fail(-EINVAL, ret_reason, "The path of the %s is not valid", what);
}

static int refuse_engine(const Format *format, const char *engine, char **ret_reason)
{
        g_autoptr(GString) taken = g_string_new(format->engines[0]);

        for (size_t i = 1; i < G_N_ELEMENTS(format->engines) && format->engines[i]; i++)
                g_string_append_printf(taken, ", %s", format->engines[i]);
        return ald_export_fail(-ENOTSUP, ret_reason, "The plan is for %s; %s takes plans for %s only", engine,
                format->name, taken->str);
}

int ald_plan_export(const char *name, const AldPlanReport *report, const AldPlanExportOptions *options,
        GString **ret, char **ret_reason)
{
        const Format *format = find_format(name);
        g_autoptr(GString) out = g_string_new(NULL);
        AldExportPlan plan;
        int r;

        if (!format)
                return ald_export_fail(-ENOENT, ret_reason, "There is no format \"%s\"", name);
        r = ald_export_plan_read(report, options, &plan, ret_reason);
        if (r >= 0)
                r = check_path("model", options->model, ret_reason);
        if (r >= 0)
                r = check_path("program", options->program, ret_reason);
        if (r >= 0 && options->backend && !g_strv_contains(ald_plan_export_backends, options->backend))
                r = ald_export_fail(-EINVAL, ret_reason, "There is no backend \"%s\"", options->backend);
        if (r < 0)
                return r;
        if (!takes(format, plan.plan->engine))
                return refuse_engine(format, plan.plan->engine, ret_reason);
        if (format->is_run && !options->force)
                r = ald_export_check_figures(&plan, ret_reason);
        if (r >= 0)
                r = format->write(&plan, out, ret_reason);
        if (r >= 0)
                *ret = g_steal_pointer(&out);
        return r;
}
