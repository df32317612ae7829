/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/figures.h"

/* The results of several devices, as one Message1.ComputeResult. */
typedef struct AldComputeReport AldComputeReport;

AldComputeReport *ald_compute_report_new(void);
void ald_compute_report_free(AldComputeReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldComputeReport, ald_compute_report_free)

/* Adds a device, which must outlive the report; the figures need not. Unknown values stay absent. */
void ald_compute_report_add(
        AldComputeReport *report, const AldOpenclTarget *device, const AldFigures *figures);

/* Formats the report as a line of JSON, or returns NULL if that exceeds the limit of a record. Free it with
 * g_free(). */
char *ald_compute_report_to_json(const AldComputeReport *report);

/* Formats the figures of a device for people, in several lines. Free them with g_free(). */
char *ald_compute_to_text(const AldOpenclTarget *device, const AldFigures *figures);

/* Formats a table of devices for people. Free it with g_free(). */
char *ald_compute_list_to_text(const GPtrArray *devices);
