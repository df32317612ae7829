/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "placement/report/report.h"

/* Measured rates, and what is free, are not relied on beyond these ages. */
#define ALD_EXPORT_RATE_USEC_MAX (UINT64_C(24) * 3600 * 1000 * 1000)
#define ALD_EXPORT_FREE_USEC_MAX (UINT64_C(3600) * 1000 * 1000)

typedef struct AldPlanExportOptions {
        uint64_t now_usec;   /* CLOCK_REALTIME, to judge the age of figures only */
        bool force;          /* old figures and assumed hops, too */
        const char *version; /* of Alidade */
        const char *model;   /* path of the model; NULL: a placeholder */
        const char *program; /* that mpirun or torchrun starts; NULL: a placeholder */
        const char *backend; /* of llama.cpp, for all GPUs; NULL: the usual one of each vendor */
} AldPlanExportOptions;

/* The formats, NULL-terminated. */
extern const char *const ald_plan_export_formats[];

/* The backends of llama.cpp that a plan can be written for, NULL-terminated. */
extern const char *const ald_plan_export_backends[];

/* Whether a format is for plans of this engine. */
bool ald_plan_export_takes(const char *format, const char *engine);

/*
 * Writes the plan of a report for other programs; equal input gives an equal text. On error, *ret_reason is a
 * message, to be freed with g_free(): -ENOENT, there is no such format; -ENODATA, the report has no plan, or
 * an inconsistent one; -ENOTSUP, the format cannot express it; -EINVAL, a name or address would break the
 * format, or there is no such backend; -ESTALE, figures are too old, and -ENOKEY, hops are assumed, without
 * options->force.
 */
int ald_plan_export(const char *format, const AldPlanReport *report, const AldPlanExportOptions *options,
        GString **ret, char **ret_reason);
