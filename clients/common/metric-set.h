/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Families of metrics with their samples, and the two text formats in which Prometheus and related programs
 * read them.
 */
typedef struct AldMetricSet AldMetricSet;
typedef struct AldMetricFamily AldMetricFamily;

typedef enum AldMetricType {
        ALD_METRIC_TYPE_GAUGE,
        ALD_METRIC_TYPE_COUNTER, /* its samples end in _total */
        ALD_METRIC_TYPE_INFO,    /* its samples end in _info and are 1: all information is in the labels */
} AldMetricType;

typedef enum AldMetricFormat {
        ALD_METRIC_FORMAT_TEXT, /* of Prometheus, version 0.0.4, which has neither units nor infos */
        ALD_METRIC_FORMAT_OPEN, /* OpenMetrics 1.0.0 */
        ALD_METRIC_FORMAT_N,
} AldMetricFormat;

/* Returns the value of Content-Type. */
const char *ald_metric_format_type(AldMetricFormat format);

AldMetricSet *ald_metric_set_new(void);
AldMetricSet *ald_metric_set_ref(AldMetricSet *set);
void ald_metric_set_unref(AldMetricSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldMetricSet, ald_metric_set_unref)

/* Adds a family, which belongs to the set. The name lacks the suffix of its type, but ends in the unit if
 * there is one. Takes the name; unit, which may be NULL, and help must outlive the set. */
AldMetricFamily *ald_metric_set_add(
        AldMetricSet *set, AldMetricType type, char *name, const char *unit, const char *help);

/* Returns the text of all families that have samples, in the order in which they were added. Free with
 * g_string_free(). */
GString *ald_metric_set_write(const AldMetricSet *set, AldMetricFormat format);

/* Returns the same text in pieces, for callers that do not need it contiguous: an array of AldMetricPiece.
 * Text that is not in the set itself is appended to `heads`, which must be empty and, like the set, must not
 * change while the pieces are used. */
typedef struct AldMetricPiece {
        const char *text;
        gsize length;
} AldMetricPiece;
GArray *ald_metric_set_pieces(const AldMetricSet *set, AldMetricFormat format, GString *heads);

/* Adds a label to a list of labels. Characters with other effects than being shown, and invalid UTF-8, become
 * U+FFFD. Returns true if the value contains that now, so that two values may have become one. */
bool ald_metric_label_append(GString *labels, const char *name, const char *value);

/* Adds a sample with these labels. No two samples of a family may have equal labels. */
void ald_metric_add(AldMetricFamily *family, const GString *labels, int64_t value);
/* Adds the value divided by 10^decimals, with all its digits. */
void ald_metric_add_decimal(AldMetricFamily *family, const GString *labels, int64_t value, unsigned decimals);
/* Adds the value, rounded to at least 7 significant digits. Adds nothing if it is not finite. */
void ald_metric_add_double(AldMetricFamily *family, const GString *labels, double value);
