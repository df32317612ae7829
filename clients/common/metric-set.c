/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "clients/common/metric-set.h"
#include "clients/common/safe-text.h"

#define REPLACEMENT 0xFFFD
#define DIGITS_MAX 20u /* of an unsigned integer of 64 bits */

struct AldMetricFamily {
        AldMetricType type;
        char *name;
        const char *unit, *help;
        GString *head; /* what each sample begins with */
        GString *samples;
};

struct AldMetricSet {
        GPtrArray *families;
};

/* How a type is called in each format, and what its samples end in. Only OpenMetrics has infos. */
static const struct {
        const char *names[ALD_METRIC_FORMAT_N], *suffix;
} type_traits[] = {
        [ALD_METRIC_TYPE_GAUGE] = { { "gauge", "gauge" }, "" },
        [ALD_METRIC_TYPE_COUNTER] = { { "counter", "counter" }, "_total" },
        [ALD_METRIC_TYPE_INFO] = { { "gauge", "info" }, "_info" },
};

const char *ald_metric_format_type(AldMetricFormat format)
{
        return format == ALD_METRIC_FORMAT_OPEN ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                                                : "text/plain; version=0.0.4; charset=utf-8";
}

static void family_free(void *data)
{
        AldMetricFamily *family = data;

        g_free(family->name);
        g_string_free(family->head, TRUE);
        g_string_free(family->samples, TRUE);
        g_free(family);
}

AldMetricSet *ald_metric_set_new(void)
{
        AldMetricSet *set = g_new(AldMetricSet, 1);

        set->families = g_ptr_array_new_with_free_func(family_free);
        return set;
}

void ald_metric_set_free(AldMetricSet *set)
{
        if (!set)
                return;
        g_ptr_array_unref(set->families);
        g_free(set);
}

AldMetricFamily *ald_metric_set_add(
        AldMetricSet *set, AldMetricType type, char *name, const char *unit, const char *help)
{
        AldMetricFamily *family = g_new(AldMetricFamily, 1);

        g_assert(!unit || g_str_has_suffix(name, unit));
        *family = (AldMetricFamily){ .type = type,
                .name = name,
                .unit = unit,
                .help = help,
                .head = g_string_new(name),
                .samples = g_string_new(NULL) };
        g_string_append(family->head, type_traits[type].suffix);
        g_ptr_array_add(set->families, family);
        return family;
}

/* OpenMetrics also escapes quotation marks there; the other format would refuse that. */
static void append_help(GString *out, const char *help, AldMetricFormat format)
{
        for (const char *p = help; *p; p++)
                if (*p == '\\' || (*p == '"' && format == ALD_METRIC_FORMAT_OPEN))
                        g_string_append_printf(out, "\\%c", *p);
                else if (*p == '\n')
                        g_string_append(out, "\\n");
                else
                        g_string_append_c(out, *p);
}

static void write_family(GString *out, const AldMetricFamily *family, AldMetricFormat format)
{
        /* The name of a family has the suffix of its samples, except in OpenMetrics. */
        const char *name = format == ALD_METRIC_FORMAT_OPEN ? family->name : family->head->str;

        g_string_append_printf(out, "# HELP %s ", name);
        append_help(out, family->help, format);
        g_string_append_printf(out, "\n# TYPE %s %s\n", name, type_traits[family->type].names[format]);
        if (family->unit && format == ALD_METRIC_FORMAT_OPEN)
                g_string_append_printf(out, "# UNIT %s %s\n", name, family->unit);
        g_string_append_len(out, family->samples->str, (gssize) family->samples->len);
}

#define HEADER_BYTES 512u /* of most families; more makes the text grow once more */

GString *ald_metric_set_write(const AldMetricSet *set, AldMetricFormat format)
{
        gsize room = HEADER_BYTES;
        GString *out;

        for (guint i = 0; i < set->families->len; i++) {
                const AldMetricFamily *family = set->families->pdata[i];

                room += family->samples->len > 0 ? family->samples->len + HEADER_BYTES : 0;
        }
        out = g_string_sized_new(room);
        for (guint i = 0; i < set->families->len; i++) {
                const AldMetricFamily *family = set->families->pdata[i];

                if (family->samples->len > 0)
                        write_family(out, family, format);
        }
        if (format == ALD_METRIC_FORMAT_OPEN)
                g_string_append(out, "# EOF\n");
        return out;
}

/* Appends what needs no escape; returns its end. */
static const char *append_plain(GString *out, const char *p)
{
        const char *end = p;

        while (*end >= ' ' && *end <= '~' && *end != '"' && *end != '\\')
                end++;
        g_string_append_len(out, p, end - p);
        return end;
}

bool ald_metric_label_append(GString *labels, const char *name, const char *value)
{
        bool replaced = false;

        if (labels->len > 0)
                g_string_append_c(labels, ',');
        g_string_append(labels, name);
        g_string_append(labels, "=\"");
        for (const char *p = append_plain(labels, value); *p; p = append_plain(labels, p)) {
                gunichar c = g_utf8_get_char_validated(p, -1);
                bool valid = c < 0x110000;

                p = valid ? g_utf8_next_char(p) : p + 1;
                if (c == '"' || c == '\\')
                        g_string_append_c(labels, '\\');
                if (!valid || ald_char_is_unsafe(c))
                        c = REPLACEMENT;
                replaced |= c == REPLACEMENT;
                g_string_append_unichar(labels, c);
        }
        g_string_append_c(labels, '"');
        return replaced;
}

static void begin_sample(GString *out, const AldMetricFamily *family, const GString *labels)
{
        g_string_append_len(out, family->head->str, (gssize) family->head->len);
        if (labels && labels->len > 0) {
                g_string_append_c(out, '{');
                g_string_append_len(out, labels->str, (gssize) labels->len);
                g_string_append_c(out, '}');
        }
        g_string_append_c(out, ' ');
}

void ald_metric_add(AldMetricFamily *family, const GString *labels, int64_t value)
{
        ald_metric_add_decimal(family, labels, value, 0);
}

/* By hand: there are as many as nodes times fields, and printf() would follow the locale. */
void ald_metric_add_decimal(AldMetricFamily *family, const GString *labels, int64_t value, unsigned decimals)
{
        char text[2 * DIGITS_MAX + 4], *p = text + sizeof(text);
        uint64_t rest = value < 0 ? 0 - (uint64_t) value : (uint64_t) value;

        g_assert(decimals <= DIGITS_MAX);
        *--p = '\n';
        for (; decimals > 0 && rest % 10 == 0; decimals--)
                rest /= 10;
        for (unsigned i = 0; rest > 0 || i <= decimals; i++) {
                if (i == decimals && i > 0)
                        *--p = '.';
                *--p = (char) ('0' + rest % 10);
                rest /= 10;
        }
        if (value < 0)
                *--p = '-';
        begin_sample(family->samples, family, labels);
        g_string_append_len(family->samples, p, text + sizeof(text) - p);
}

void ald_metric_add_double(AldMetricFamily *family, const GString *labels, double value)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        if (!isfinite(value))
                return;
        begin_sample(family->samples, family, labels);
        g_string_append(family->samples, g_ascii_formatd(text, sizeof(text), "%.15g", value));
        g_string_append_c(family->samples, '\n');
}
