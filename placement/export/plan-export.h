/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "placement/plan/engine.h"
#include "placement/report/plan-report.h"

/* Measured rates, and free memory, count as unreliable beyond these ages. */
#define ALD_EXPORT_RATE_USEC_MAX (UINT64_C(24) * 3600 * 1000 * 1000)
#define ALD_EXPORT_FREE_USEC_MAX (UINT64_C(3600) * 1000 * 1000)

typedef struct AldPlanExportOptions {
        uint64_t now_usec;   /* CLOCK_REALTIME, only to judge the age of figures */
        bool force;          /* accept old figures and assumed hops */
        const char *version; /* of Alidade */
        const char *model;   /* path of the model; NULL for a placeholder */
        const char *program; /* program that mpirun or torchrun starts; NULL for a placeholder */
        const char *backend; /* backend of the engine for all GPUs; NULL for the usual one of each vendor */
} AldPlanExportOptions;

typedef struct AldExportPlan AldExportPlan; /* see checked-plan.h */

/* Bits for the members of AldPlanExportOptions that only some formats use. */
enum { ALD_EXPORT_MODEL = 1, ALD_EXPORT_PROGRAM = 2, ALD_EXPORT_BACKEND = 4 };

/* A format that a plan can be written in. */
struct AldExportFormat {
        const char *name;
        const char *summary; /* text for the list of formats */
        /* Appends to `out`, or returns a negative errno and sets *ret_reason. */
        int (*write)(const AldExportPlan *plan, GString *out, char **ret_reason);
        bool is_run;    /* machines run the text, so its figures must not be old */
        unsigned takes; /* bits of the options that it uses */
};

/* Returns the format with this number, from 0: those of all engines, each once, and then the one for any
 * plan; NULL if there are no more. */
const AldExportFormat *ald_plan_export_format_at(size_t i);
const char *ald_plan_export_name_at(size_t i);

/* Returns NULL if there is no format with this name. */
const AldExportFormat *ald_plan_export_find(const char *name);

/* Returns the backend with this number, from 0, of those that commands of engines can be written for; the
 * last one is that of the processors. NULL if there are no more. */
const char *ald_plan_export_backend_at(size_t i);

/* Returns whether the format is for plans of this engine. */
bool ald_plan_export_takes(const AldExportFormat *format, const char *engine);

/*
 * Writes the plan of a report for other programs; equal input gives an equal text. Returns -ENOENT if there
 * is no such format; -ENODATA if the report has no plan, or an inconsistent one; -ENOTSUP if the format
 * cannot express it; -EINVAL if a name or address would break the format, or there is no such backend; and
 * without options->force, -ESTALE if figures are too old, and -ENOKEY if hops are assumed. On error,
 * *ret_reason is a message; free it with g_free().
 */
int ald_plan_export(const char *format, const AldPlanReport *report, const AldPlanExportOptions *options,
        GString **ret, char **ret_reason);
