/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Families of metrics with their samples, and the two texts in which Prometheus and its relatives read them.
 */
typedef struct AldMetricSet AldMetricSet;
typedef struct AldMetricFamily AldMetricFamily;

typedef enum AldMetricType {
        ALD_METRIC_TYPE_GAUGE,
        ALD_METRIC_TYPE_COUNTER, /* its samples end in _total */
        ALD_METRIC_TYPE_INFO,    /* its samples end in _info, and are 1: all that it says is in the labels */
} AldMetricType;

typedef enum AldMetricFormat {
        ALD_METRIC_FORMAT_TEXT, /* of Prometheus, version 0.0.4, which has neither units nor infos */
        ALD_METRIC_FORMAT_OPEN, /* OpenMetrics 1.0.0 */
        ALD_METRIC_FORMAT_N,
} AldMetricFormat;

/* As a value of Content-Type. */
const char *ald_metric_format_type(AldMetricFormat format);

AldMetricSet *ald_metric_set_new(void);
AldMetricSet *ald_metric_set_ref(AldMetricSet *set);
void ald_metric_set_unref(AldMetricSet *set);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldMetricSet, ald_metric_set_unref)

/* Adds a family, which belongs to the set. The name is without the suffix of its type, but ends in the unit
 * if there is one. Takes the name; unit, which may be NULL, and help are kept. */
AldMetricFamily *ald_metric_set_add(
        AldMetricSet *set, AldMetricType type, char *name, const char *unit, const char *help);

/* The text of all families that have samples, in the order in which they were added. Free with
 * g_string_free(). */
GString *ald_metric_set_write(const AldMetricSet *set, AldMetricFormat format);

/* The same in pieces, for those who need not have it in one: an array of AldMetricPiece. What is not in the
 * set itself is appended to `heads`, which must be empty and then be kept as it is, like the set. */
typedef struct AldMetricPiece {
        const char *text;
        gsize length;
} AldMetricPiece;
GArray *ald_metric_set_pieces(const AldMetricSet *set, AldMetricFormat format, GString *heads);

/* Adds a label to a list of them. Characters that have other effects than being shown become U+FFFD, as does
 * what is not UTF-8. Returns whether the value contains that now, so that two values may have become one. */
bool ald_metric_label_append(GString *labels, const char *name, const char *value);

/* Adds a sample with these labels, of which no two of a family may be equal. */
void ald_metric_add(AldMetricFamily *family, const GString *labels, int64_t value);
/* The value divided by 10^decimals, all digits of it. */
void ald_metric_add_decimal(AldMetricFamily *family, const GString *labels, int64_t value, unsigned decimals);
/* Rounded to at least 7 significant digits. Adds nothing if it is not finite. */
void ald_metric_add_double(AldMetricFamily *family, const GString *labels, double value);
