/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"

/*
 * The result of Plan() of org.alidade.Placement1, where all fields are described, for the bus, JSON and
 * exports. Each array has the rows of the argument with its name, in the same order.
 */
typedef struct AldPlanReport {
        AldPlanRow plan;
        GArray *stages;        /* AldPlanStageRow */
        GArray *hops;          /* AldPlanHopRow */
        GArray *alternatives;  /* AldPlanAlternativeRow */
        GArray *left_out;      /* AldPlanLeftOutRow */
        GArray *sensitivities; /* AldPlanSensitivityRow */
        GArray *constants;     /* AldPlanConstantRow */
        GPtrArray *owned;      /* memory of the rows, freed with g_free() */
} AldPlanReport;

AldPlanReport *ald_plan_report_new(void);
void ald_plan_report_free(AldPlanReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPlanReport, ald_plan_report_free)

/* The arrays of rows: the names of their arguments, their types, and where they are in an AldPlanReport. */
typedef struct AldPlanReportPart {
        const char *name;
        const AldStruct *type;
        size_t offset;
} AldPlanReportPart;

#define ALD_PLAN_REPORT_PARTS 6u
extern const AldPlanReportPart ald_plan_report_parts[ALD_PLAN_REPORT_PARTS];

static inline GArray *ald_plan_report_part(const AldPlanReport *report, const AldPlanReportPart *part)
{
        return *(GArray *const *) ((const char *) report + part->offset);
}

/* Appends to the notes of the plan; takes ownership of the text. */
void ald_plan_report_add_note(AldPlanReport *report, char *text);

/* Returns the number of stages of the plan itself, which come first. */
guint ald_plan_report_n_stages(const AldPlanReport *report);
