/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/export/export-age.h"
#include "placement/export/plan-export.h"
#include "placement/export/plan-formats.h"

#define PROCESSORS "cpu" /* the backend of all builds */

static bool has_format(const AldPlanEngine *engine, const AldExportFormat *format)
{
        for (size_t i = 0; i < ALD_ENGINE_FORMATS_MAX; i++)
                if (engine->formats[i] == format)
                        return true;
        return false;
}

/* Returns whether the format is listed for an earlier engine; engines may share a format, which is listed
 * only once. */
static bool is_listed(const AldExportFormat *format, const AldPlanEngine *engine)
{
        for (const AldPlanEngine *other = ald_plan_engines; other < engine; other++)
                if (has_format(other, format))
                        return true;
        return false;
}

const AldExportFormat *ald_plan_export_format_at(size_t i)
{
        size_t n = 0;

        for (const AldPlanEngine *engine = ald_plan_engines; engine->name; engine++)
                for (size_t j = 0; j < ALD_ENGINE_FORMATS_MAX; j++) {
                        const AldExportFormat *format = engine->formats[j];

                        if (format && !is_listed(format, engine) && n++ == i)
                                return format;
                }
        return n == i ? &ald_plan_dot_format : NULL;
}

const char *ald_plan_export_name_at(size_t i)
{
        const AldExportFormat *format = ald_plan_export_format_at(i);

        return format ? format->name : NULL;
}

const AldExportFormat *ald_plan_export_find(const char *name)
{
        const AldExportFormat *format;

        for (size_t i = 0; (format = ald_plan_export_format_at(i)); i++)
                if (strcmp(format->name, name) == 0)
                        return format;
        return NULL;
}

const char *ald_plan_export_backend_at(size_t i)
{
        size_t n = 0;

        for (const AldPlanEngine *engine = ald_plan_engines; engine->name; engine++)
                for (const AldEngineBackend *at = engine->backends; at && at->option; at++)
                        if (n++ == i)
                                return at->option;
        return n == i ? PROCESSORS : NULL;
}

static bool is_backend(const char *name)
{
        const char *backend;

        for (size_t i = 0; (backend = ald_plan_export_backend_at(i)); i++)
                if (strcmp(backend, name) == 0)
                        return true;
        return false;
}

bool ald_plan_export_takes(const AldExportFormat *format, const char *engine)
{
        const AldPlanEngine *of = ald_plan_engine_find(engine);

        return format == &ald_plan_dot_format || (of && has_format(of, format));
}

/* Checks that a path can be written in commands and in comments. */
static int check_path(const char *what, const char *path, char **ret_reason)
{
        if (!path || (path[0] != '\0' && path[0] != '-' && g_utf8_validate(path, -1, NULL) &&
                             !strpbrk(path, "\n\r")))
                return 0;
        return ald_export_fail(-EINVAL, ret_reason, "The path of the %s is not valid", what);
}

static int refuse_engine(const AldExportFormat *format, const char *name, char **ret_reason)
{
        g_autoptr(GString) taken = g_string_new(NULL);

        for (const AldPlanEngine *engine = ald_plan_engines; engine->name; engine++)
                if (has_format(engine, format))
                        g_string_append_printf(taken, "%s%s", taken->len > 0 ? ", " : "", engine->name);
        return ald_export_fail(-ENOTSUP, ret_reason, "The plan is for %s; %s takes plans for %s only", name,
                format->name, taken->str);
}

int ald_plan_export(const char *name, const AldPlanReport *report, const AldPlanExportOptions *options,
        GString **ret, char **ret_reason)
{
        const AldExportFormat *format = ald_plan_export_find(name);
        const AldPlanEngine *engine;
        g_autoptr(GString) out = g_string_new(NULL);
        AldExportPlan plan;
        int r;

        if (!format)
                return ald_export_fail(-ENOENT, ret_reason, "There is no format \"%s\"", name);
        engine = report->plan.engine ? ald_plan_engine_find(report->plan.engine) : NULL;
        r = ald_export_plan_read(report, engine, options, &plan, ret_reason);
        if (r >= 0)
                r = check_path("model", options->model, ret_reason);
        if (r >= 0)
                r = check_path("program", options->program, ret_reason);
        if (r >= 0 && options->backend && !is_backend(options->backend))
                r = ald_export_fail(-EINVAL, ret_reason, "There is no backend \"%s\"", options->backend);
        if (r < 0)
                return r;
        if (!ald_plan_export_takes(format, plan.plan->engine))
                return refuse_engine(format, plan.plan->engine, ret_reason);
        if (format->is_run && !options->force)
                r = ald_export_check_figures(&plan, ret_reason);
        if (r >= 0)
                r = format->write(&plan, out, ret_reason);
        if (r >= 0)
                *ret = g_steal_pointer(&out);
        return r;
}
