/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "clients/common/metric-set.h"
#include "record/character.h"

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
        unsigned n_ref;
        GPtrArray *families;
};

/* The name of a type in each format, and the suffix of its samples. Only OpenMetrics has infos. */
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

        set->n_ref = 1;
        set->families = g_ptr_array_new_with_free_func(family_free);
        return set;
}

AldMetricSet *ald_metric_set_ref(AldMetricSet *set)
{
        set->n_ref++;
        return set;
}

void ald_metric_set_unref(AldMetricSet *set)
{
        if (!set || --set->n_ref > 0)
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

/* OpenMetrics also escapes quotation marks in the help; the other format would reject that. */
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

static void write_head(GString *out, const AldMetricFamily *family, AldMetricFormat format)
{
        /* The name of a family has the suffix of its samples, except in OpenMetrics. */
        const char *name = format == ALD_METRIC_FORMAT_OPEN ? family->name : family->head->str;

        g_string_append_printf(out, "# HELP %s ", name);
        append_help(out, family->help, format);
        g_string_append_printf(out, "\n# TYPE %s %s\n", name, type_traits[family->type].names[format]);
        if (family->unit && format == ALD_METRIC_FORMAT_OPEN)
                g_string_append_printf(out, "# UNIT %s %s\n", name, family->unit);
}

static void add_piece(GArray *pieces, const char *text, gsize length)
{
        const AldMetricPiece piece = { text, length };

        g_array_append_val(pieces, piece);
}

/* The heads may be reallocated while they are written, so their pieces are set last. */
static void place_heads(GArray *pieces, const GString *heads)
{
        const char *at = heads->str;

        for (guint i = 0; i < pieces->len; i += 2) {
                AldMetricPiece *piece = &g_array_index(pieces, AldMetricPiece, i);

                piece->text = at;
                at += piece->length;
        }
}

GArray *ald_metric_set_pieces(const AldMetricSet *set, AldMetricFormat format, GString *heads)
{
        GArray *pieces = g_array_new(FALSE, FALSE, sizeof(AldMetricPiece));

        for (guint i = 0; i < set->families->len; i++) {
                const AldMetricFamily *family = set->families->pdata[i];
                gsize before = heads->len;

                if (family->samples->len == 0)
                        continue;
                write_head(heads, family, format);
                add_piece(pieces, NULL, heads->len - before);
                add_piece(pieces, family->samples->str, family->samples->len);
        }
        if (format == ALD_METRIC_FORMAT_OPEN) {
                g_string_append(heads, "# EOF\n");
                add_piece(pieces, NULL, strlen("# EOF\n"));
        }
        place_heads(pieces, heads);
        return pieces;
}

GString *ald_metric_set_write(const AldMetricSet *set, AldMetricFormat format)
{
        g_autoptr(GString) heads = g_string_new(NULL);
        g_autoptr(GArray) pieces = ald_metric_set_pieces(set, format, heads);
        GString *out = g_string_new(NULL);

        for (guint i = 0; i < pieces->len; i++) {
                const AldMetricPiece *piece = &g_array_index(pieces, AldMetricPiece, i);

                g_string_append_len(out, piece->text, (gssize) piece->length);
        }
        return out;
}

static const char *end_of_plain(const char *p)
{
        while (*p >= ' ' && *p <= '~' && *p != '"' && *p != '\\')
                p++;
        return p;
}

/* Appends the text up to the first character that needs an escape; returns its end. */
static const char *append_plain(GString *out, const char *p)
{
        const char *end = end_of_plain(p);

        g_string_append_len(out, p, end - p);
        return end;
}

/* Appends the beginning of a label with as much of its value as needs no escape, which is mostly all of it;
 * returns the rest. */
static const char *begin_label(GString *labels, const char *name, const char *value)
{
        const char *end = end_of_plain(value);
        gsize before = labels->len, n_name = strlen(name), n_value = (gsize) (end - value);
        bool first = before == 0;
        char *p;

        g_string_set_size(labels, before + !first + n_name + 2 + n_value);
        p = labels->str + before;
        if (!first)
                *p++ = ',';
        p = mempcpy(p, name, n_name);
        *p++ = '=';
        *p++ = '"';
        memcpy(p, value, n_value);
        return end;
}

bool ald_metric_label_append(GString *labels, const char *name, const char *value)
{
        bool replaced = false;

        for (const char *p = begin_label(labels, name, value); *p; p = append_plain(labels, p)) {
                gunichar c = g_utf8_get_char_validated(p, -1);
                bool valid = c < 0x110000;

                p = valid ? g_utf8_next_char(p) : p + 1;
                if (c == '"' || c == '\\')
                        g_string_append_c(labels, '\\');
                if (!valid || ald_character_is_unsafe(c))
                        c = REPLACEMENT;
                replaced |= c == REPLACEMENT;
                g_string_append_unichar(labels, c);
        }
        g_string_append_c(labels, '"');
        return replaced;
}

/* Adds a sample with its value, which ends the line. It is assembled without printf() for speed, since there
 * are as many samples as nodes times fields. */
static void add_sample(AldMetricFamily *family, const GString *labels, const char *value, gsize length)
{
        GString *out = family->samples;
        gsize n_labels = labels ? labels->len : 0, before = out->len;
        char *p;

        g_string_set_size(out, before + family->head->len + n_labels + 3 + length);
        p = mempcpy(out->str + before, family->head->str, family->head->len);
        if (n_labels > 0) {
                *p++ = '{';
                p = mempcpy(p, labels->str, n_labels);
                *p++ = '}';
        }
        *p++ = ' ';
        p = mempcpy(p, value, length);
        g_string_truncate(out, (gsize) (p - out->str));
}

void ald_metric_add(AldMetricFamily *family, const GString *labels, int64_t value)
{
        ald_metric_add_decimal(family, labels, value, 0);
}

/* Digits are written by hand here too: printf() would follow the locale. */
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
        add_sample(family, labels, p, (gsize) (text + sizeof(text) - p));
}

void ald_metric_add_double(AldMetricFamily *family, const GString *labels, double value)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        gsize length;

        if (!isfinite(value))
                return;
        if (value >= 1e-3 && value < 9e18) {
                unsigned decimals = value < 1e6 ? 9 : value < 1e9 ? 3 : 0;

                ald_metric_add_decimal(family, labels,
                        llround(value * (decimals == 9          ? 1e9
                                                : decimals == 3 ? 1e3
                                                                : 1)),
                        decimals);
                return;
        }
        g_ascii_formatd(text, sizeof(text) - 1, "%.15g", value);
        length = strlen(text);
        text[length++] = '\n';
        add_sample(family, labels, text, length);
}
