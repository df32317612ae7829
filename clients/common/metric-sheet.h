/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/metric-set.h"
#include "record/docs.h"

/*
 * The metrics of one struct, a record, a row or the totals of the cluster: a family for each number, in the
 * base unit of OpenMetrics, and one for its texts, as labels. They follow from the interface alone.
 */
typedef struct AldMetricSheet AldMetricSheet;

/* Adds the families of a type to the set, which is freed later than the sheet. Their names begin with the
 * prefix. `key`, which is kept, is the label that says which row it is, from its first field; else NULL. */
AldMetricSheet *ald_metric_sheet_new(
        AldMetricSet *set, const AldStructDocs *docs, const char *prefix, const char *key);
void ald_metric_sheet_free(AldMetricSheet *sheet);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldMetricSheet, ald_metric_sheet_free)

/* How many samples the fields make: one for each number that is not absent, and one for all texts. */
unsigned ald_metric_sheet_count(const AldMetricSheet *sheet, const void *fields);

/* Adds these samples with these labels. Labels of texts that are used already get the key in front of their
 * name. */
void ald_metric_sheet_add(AldMetricSheet *sheet, const GString *labels, const void *fields);
