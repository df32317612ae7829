/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "placement/plan/engine.h"
#include "placement/report/plan-report.h"

/* Measured rates, and what is free, are not relied on beyond these ages. */
#define ALD_EXPORT_RATE_USEC_MAX (UINT64_C(24) * 3600 * 1000 * 1000)
#define ALD_EXPORT_FREE_USEC_MAX (UINT64_C(3600) * 1000 * 1000)

typedef struct AldPlanExportOptions {
        uint64_t now_usec;   /* CLOCK_REALTIME, to judge the age of figures only */
        bool force;          /* old figures and assumed hops, too */
        const char *version; /* of Alidade */
        const char *model;   /* path of the model; NULL: a placeholder */
        const char *program; /* that mpirun or torchrun starts; NULL: a placeholder */
        const char *backend; /* of the engine, for all GPUs; NULL: the usual one of each vendor */
} AldPlanExportOptions;

typedef struct AldExportPlan AldExportPlan; /* see checked-plan.h */

/* Bits for the members of AldPlanExportOptions that only some formats use. */
enum { ALD_EXPORT_MODEL = 1, ALD_EXPORT_PROGRAM = 2, ALD_EXPORT_BACKEND = 4 };

/* A text that a plan can be written as. */
struct AldExportFormat {
        const char *name;
        const char *summary; /* in the list of formats */
        /* Appends to `out`, or returns a negative errno and sets *ret_reason. */
        int (*write)(const AldExportPlan *plan, GString *out, char **ret_reason);
        bool is_run;    /* by machines, so that its figures must not be old */
        unsigned takes; /* the bits of what it uses */
};

/* The format with this number, from 0: those of all engines, each once, and those of any plan; NULL: there
 * are no more. */
const AldExportFormat *ald_plan_export_format_at(size_t i);
const char *ald_plan_export_name_at(size_t i);

/* Returns NULL if there is none of this name. */
const AldExportFormat *ald_plan_export_find(const char *name);

/* The backend with this number, from 0, that commands of engines can be written for, the last of which is
 * that of the processors; NULL: there are no more. */
const char *ald_plan_export_backend_at(size_t i);

/* Returns true if the format is for plans of this engine. */
bool ald_plan_export_takes(const AldExportFormat *format, const char *engine);

/*
 * Writes the plan of a report for other programs; equal input gives an equal text. On error, *ret_reason is a
 * message, to be freed with g_free(): -ENOENT, there is no such format; -ENODATA, the report has no plan, or
 * an inconsistent one; -ENOTSUP, the format cannot express it; -EINVAL, a name or address would break the
 * format, or there is no such backend; -ESTALE, figures are too old, and -ENOKEY, hops are assumed, without
 * options->force.
 */
int ald_plan_export(const char *format, const AldPlanReport *report, const AldPlanExportOptions *options,
        GString **ret, char **ret_reason);
