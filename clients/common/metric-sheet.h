/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/metric-set.h"
#include "record/docs.h"

/*
 * The metrics of one struct, which is a record, a row or the totals of the cluster: a family for each number,
 * in the base unit of OpenMetrics, and one for its texts, as labels. They are derived from the interface
 * alone.
 */
typedef struct AldMetricSheet AldMetricSheet;

/* Adds the families of a type to the set, which must outlive the sheet. Their names begin with the prefix.
 * `key`, which is kept, is the label that identifies a row, from its first field; else NULL. */
AldMetricSheet *ald_metric_sheet_new(
        AldMetricSet *set, const AldStructDocs *docs, const char *prefix, const char *key);
void ald_metric_sheet_free(AldMetricSheet *sheet);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldMetricSheet, ald_metric_sheet_free)

/* Returns the number of samples that the fields make: one for each number that is not absent, and one for all
 * texts. */
unsigned ald_metric_sheet_count(const AldMetricSheet *sheet, const void *fields);

/* Adds these samples with these labels. If the name of a text's label is already in use, it is prefixed with
 * the key. */
void ald_metric_sheet_add(AldMetricSheet *sheet, const GString *labels, const void *fields);
