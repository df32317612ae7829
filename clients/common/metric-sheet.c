/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/metric-sheet.h"
#include "record/units.h"

typedef struct MetricEntry {
        const AldField *field;
        AldMetricFamily *family; /* of a number */
        char *label;             /* of a text */
} MetricEntry;

struct AldMetricSheet {
        AldMetricFamily *info; /* NULL: no text */
        GArray *entries;
        GString *labels; /* of the present info; empty until there is a text */
};

static void append_word(GString *name, const char *word)
{
        if (!word[0])
                return;
        g_string_append_c(name, '_');
        g_string_append(name, word);
}

/* Removes the unit from the words, wherever it stands: "nsec" from "rtt_p50_nsec". */
static char *words_without(const char *words, const char *unit)
{
        g_autofree char *all = g_strdup_printf("_%s_", words), *wanted = g_strdup_printf("_%s_", unit);
        const char *found = strstr(all, wanted);
        g_autoptr(GString) name = g_string_new(NULL);

        if (!found)
                return g_strdup(words);
        g_string_append_len(name, all, found - all);
        append_word(name, found + strlen(wanted));
        if (name->len > 0 && name->str[name->len - 1] == '_')
                g_string_truncate(name, name->len - 1);
        return g_strdup(name->len > 0 ? name->str + 1 : "");
}

static char *metric_name(const char *prefix, const AldFieldDocs *docs, const AldUnit *unit)
{
        g_autofree char *words = unit ? words_without(docs->words, unit->metric_words)
                                      : g_strdup(docs->words);
        g_autoptr(GString) name = g_string_new(prefix);

        append_word(name, words);
        if (docs->metric == ALD_FIELD_METRIC_TIMESTAMP)
                append_word(name, "timestamp");
        if (unit)
                append_word(name, unit->metric_base);
        return g_string_free(g_steal_pointer(&name), FALSE);
}

static char *label_of(const AldFieldDocs *docs, const char *key)
{
        /* The samples of a node or link have these labels and the key of their row; the name is joined by
         * them. */
        static const char *const taken[] = { "node", "name", "source", "sink", "path", NULL };

        if (!g_strv_contains(taken, docs->words) && g_strcmp0(docs->words, key) != 0)
                return g_strdup(docs->words);
        g_assert(key);
        return g_strdup_printf("%s_%s", key, docs->words);
}

static bool is_text(const AldField *field)
{
        return field->type == ALD_TYPE_STRING || field->type == ALD_TYPE_STRV;
}

static bool has_texts(const AldStructDocs *docs, const char *key)
{
        for (size_t i = key ? 1 : 0; i < docs->type->n_fields; i++)
                if (is_text(&docs->type->fields[i]) && docs->fields[i].metric != ALD_FIELD_METRIC_NONE)
                        return true;
        return false;
}

static void entry_clear(void *data)
{
        MetricEntry *entry = data;

        g_free(entry->label);
}

static void add_entry(AldMetricSheet *sheet, AldMetricSet *set, const AldStructDocs *docs, size_t i,
        const char *prefix, const char *key)
{
        const AldFieldDocs *field = &docs->fields[i];
        MetricEntry entry = { .field = &docs->type->fields[i] };
        const AldUnit *unit = entry.field->unit;
        AldMetricType type = field->metric == ALD_FIELD_METRIC_COUNTER ? ALD_METRIC_TYPE_COUNTER
                                                                       : ALD_METRIC_TYPE_GAUGE;

        if (entry.field->type == ALD_TYPE_ROWS || field->metric == ALD_FIELD_METRIC_NONE)
                return;
        if (is_text(entry.field))
                entry.label = label_of(field, key);
        else
                entry.family = ald_metric_set_add(set, type, metric_name(prefix, field, unit),
                        unit ? unit->metric_base : NULL, field->help);
        g_array_append_val(sheet->entries, entry);
}

AldMetricSheet *ald_metric_sheet_new(
        AldMetricSet *set, const AldStructDocs *docs, const char *prefix, const char *key)
{
        AldMetricSheet *sheet = g_new0(AldMetricSheet, 1);

        sheet->entries = g_array_new(FALSE, FALSE, sizeof(MetricEntry));
        g_array_set_clear_func(sheet->entries, entry_clear);
        sheet->labels = g_string_new(NULL);
        if (has_texts(docs, key))
                sheet->info = ald_metric_set_add(
                        set, ALD_METRIC_TYPE_INFO, g_strdup(prefix), NULL, docs->help);
        for (size_t i = key ? 1 : 0; i < docs->type->n_fields; i++)
                add_entry(sheet, set, docs, i, prefix, key);
        return sheet;
}

void ald_metric_sheet_free(AldMetricSheet *sheet)
{
        if (!sheet)
                return;
        g_array_unref(sheet->entries);
        g_string_free(sheet->labels, TRUE);
        g_free(sheet);
}

/* The info has the labels of the sample, and the texts. */
static void add_text(
        AldMetricSheet *sheet, const GString *labels, const MetricEntry *entry, const void *value)
{
        g_autofree char *joined = NULL;

        if (sheet->labels->len == 0)
                g_string_append_len(sheet->labels, labels->str, (gssize) labels->len);
        if (entry->field->type == ALD_TYPE_STRV)
                joined = g_strjoinv(",", *(char ***) value);
        ald_metric_label_append(sheet->labels, entry->label, joined ?: *(const char *const *) value);
}

/* Adds the value in the base unit. An integer remains an exact integer. */
static void add_number(const MetricEntry *entry, const GString *labels, const void *value)
{
        const AldUnit *unit = entry->field->unit;
        int64_t factor = unit ? unit->metric_factor : 1;
        unsigned decimals = unit ? unit->metric_decimals : 0;

        switch (entry->field->type) {
        case ALD_TYPE_UINT64:
        case ALD_TYPE_INT64: /* within ±2^53 */
                ald_metric_add_decimal(entry->family, labels, *(const int64_t *) value * factor, decimals);
                break;
        case ALD_TYPE_DOUBLE:
                ald_metric_add_double(
                        entry->family, labels, *(const double *) value * (double) factor / pow(10, decimals));
                break;
        case ALD_TYPE_BOOLEAN:
                ald_metric_add(entry->family, labels, *(const int *) value);
                break;
        case ALD_TYPE_STRING:
        case ALD_TYPE_STRV:
        case ALD_TYPE_ROWS:
                g_assert_not_reached();
        }
}

unsigned ald_metric_sheet_count(const AldMetricSheet *sheet, const void *fields)
{
        unsigned n = 0;
        bool any_text = false;

        for (guint i = 0; i < sheet->entries->len; i++) {
                const MetricEntry *entry = &g_array_index(sheet->entries, MetricEntry, i);

                if (ald_field_is_absent(entry->field, ald_field_of(entry->field, fields)))
                        continue;
                any_text |= entry->label != NULL;
                n += entry->label == NULL;
        }
        return n + any_text;
}

void ald_metric_sheet_add(AldMetricSheet *sheet, const GString *labels, const void *fields)
{
        g_string_truncate(sheet->labels, 0);
        for (guint i = 0; i < sheet->entries->len; i++) {
                const MetricEntry *entry = &g_array_index(sheet->entries, MetricEntry, i);
                const void *value = ald_field_of(entry->field, fields);

                if (ald_field_is_absent(entry->field, value))
                        continue;
                if (entry->label)
                        add_text(sheet, labels, entry, value);
                else
                        add_number(entry, labels, value);
        }
        if (sheet->labels->len > 0)
                ald_metric_add(sheet->info, sheet->labels, 1);
}
