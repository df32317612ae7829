/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <stdbool.h>

#include "clients/common/format.h"
#include "clients/common/safe-text.h"
#include "record/translate.h"

#define FAR_SECONDS (366 * 86400.0) /* people count further days by the calendar */
#define USEC_PER_SEC 1e6

static char *absent(void)
{
        return g_strdup(ALD_ABSENT_TEXT);
}

/* Whether this is a size or rate that can be. */
static bool is_amount(double value)
{
        return isfinite(value) && value >= 0;
}

/* Three digits that count: 1.50, 62.7, 128. */
static int decimals(double value)
{
        return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

/* The value in the greatest unit that leaves at least 1 before the point. */
static char *scaled(double value, double step, const char *const *units)
{
        unsigned i = 0;

        if (!is_amount(value))
                return absent();
        while (units[i + 1] && value >= step * (1 - 0.5e-3)) {
                value /= step;
                i++;
        }
        return g_strdup_printf("%.*f %s", i == 0 ? 0 : decimals(value), value, units[i]);
}

static const char *const bytes_units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL };
static const char *const byte_rate_units[] = { "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", NULL };
static const char *const bit_rate_units[] = { "b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "Pb/s", NULL };
static const char *const hertz_units[] = { "Hz", "kHz", "MHz", "GHz", "THz", NULL };
static const char *const transfer_units[] = { "T/s", "kT/s", "MT/s", "GT/s", "TT/s", NULL };
static const char *const flops_units[] = { "FLOPS", "kFLOPS", "MFLOPS", "GFLOPS", "TFLOPS", "PFLOPS",
        "EFLOPS", NULL };
static const char *const nsec_units[] = { "ns", "µs", "ms", "s", NULL };
static const char *const percent_units[] = { "%", NULL };
static const char *const celsius_units[] = { "°C", NULL };
static const char *const watt_units[] = { "W", NULL };
static const char *const no_units[] = { "", NULL };

char *ald_format_bytes(double bytes)
{
        return scaled(bytes, 1024, bytes_units);
}

char *ald_format_bytes_of(double part, double whole)
{
        double divisor = 1;
        unsigned i = 0;

        if (!is_amount(part)) {
                g_autofree char *text = ald_format_bytes(whole);

                return is_amount(whole) ? g_strdup_printf("%s/%s", ALD_ABSENT_TEXT, text) : absent();
        }
        if (!is_amount(whole))
                return ald_format_bytes(part);
        while (bytes_units[i + 1] && whole / divisor >= 1024 * (1 - 0.5e-3)) {
                divisor *= 1024;
                i++;
        }
        part /= divisor;
        whole /= divisor;
        return g_strdup_printf("%.*f/%.*f %s", i == 0 ? 0 : MIN(decimals(part), 1), part,
                i == 0 ? 0 : MIN(decimals(whole), 1), whole, bytes_units[i]);
}

char *ald_format_bytes_per_second(double rate)
{
        return scaled(rate, 1000, byte_rate_units);
}

char *ald_format_bits_per_second(double rate)
{
        return scaled(rate, 1000, bit_rate_units);
}

char *ald_format_hertz(double hertz)
{
        return scaled(hertz, 1000, hertz_units);
}

char *ald_format_transfers(double rate)
{
        return scaled(rate, 1000, transfer_units);
}

char *ald_format_tflops(double tflops)
{
        return scaled(tflops * 1e12, 1000, flops_units);
}

char *ald_format_nsec(double nsec)
{
        return scaled(nsec, 1000, nsec_units);
}

char *ald_format_percent(double percent)
{
        if (!is_amount(percent))
                return absent();
        return g_strdup_printf("%.*f %%", percent > 0 && percent < 0.95 ? 1 : 0, percent);
}

char *ald_format_celsius(double millicelsius)
{
        return isfinite(millicelsius) ? g_strdup_printf("%.0f °C", round(millicelsius / 1000) + 0.0)
                                      : absent();
}

char *ald_format_watts(double microwatts)
{
        double watts = microwatts / 1e6;

        if (!is_amount(watts))
                return absent();
        return g_strdup_printf("%.*f W", watts < 9.95 ? 1 : 0, watts);
}

char *ald_format_count(double count)
{
        return is_amount(count) ? g_strdup_printf("%.0f", count) : absent();
}

static const struct {
        double seconds;
        const char *duration, *age;
} time_units[] = {
        { 86400, N_("%.0f d"), N_("%.0f d ago") },
        { 3600, N_("%.0f h"), N_("%.0f h ago") },
        { 60, N_("%.0f min"), N_("%.0f min ago") },
        { 1, N_("%.0f s"), N_("%.0f s ago") },
};

/* "3 d", "2 h 42 min", "1 h": two units, of which the second is left out if it is 0. */
char *ald_format_duration(double usec)
{
        g_autofree char *more = NULL, *less = NULL;
        double seconds = floor(usec / USEC_PER_SEC);
        size_t i = 0;
        double rest;

        if (!is_amount(seconds) || seconds < 60)
                return ald_format_nsec(usec * 1000);
        while (seconds < time_units[i].seconds)
                i++;
        more = g_strdup_printf(_(time_units[i].duration), floor(seconds / time_units[i].seconds));
        rest = floor(fmod(seconds, time_units[i].seconds) / time_units[i + 1].seconds);
        if (rest < 1)
                return g_steal_pointer(&more);
        less = g_strdup_printf(_(time_units[i + 1].duration), rest);
        return g_strdup_printf("%s %s", more, less);
}

/* +3.20 ms, -1.50 s */
static char *format_offset(double usec)
{
        g_autofree char *text = ald_format_duration(fabs(usec));

        return g_strdup_printf("%s%s", usec > 0 ? "+" : usec < 0 ? "-" : "", text);
}

char *ald_format_whole_unit(double usec)
{
        double seconds = floor(usec / USEC_PER_SEC);

        for (size_t i = 0; is_amount(seconds) && i < G_N_ELEMENTS(time_units); i++)
                if (seconds >= time_units[i].seconds)
                        return g_strdup_printf(
                                _(time_units[i].duration), floor(seconds / time_units[i].seconds));
        return NULL;
}

char *ald_format_date(double usec)
{
        g_autoptr(GDateTime) time = NULL;

        if (!is_amount(usec) || usec > (double) ALD_INTEGER_MAX)
                return g_strdup("?");
        time = g_date_time_new_from_unix_utc((gint64) (usec / USEC_PER_SEC));
        return g_date_time_format(time, "%F");
}

bool ald_is_far(double usec)
{
        return usec > FAR_SECONDS * USEC_PER_SEC;
}

char *ald_format_age(double then_usec, double now_usec)
{
        double seconds = floor((now_usec - then_usec) / USEC_PER_SEC);

        if (!isfinite(seconds))
                return absent();
        if (ald_is_far(now_usec - then_usec))
                return ald_format_date(then_usec);
        for (size_t i = 0; i < G_N_ELEMENTS(time_units); i++)
                if (seconds >= time_units[i].seconds)
                        return g_strdup_printf(_(time_units[i].age), floor(seconds / time_units[i].seconds));
        return g_strdup(_("now"));
}

/* 2027-12-23, in 36 d; the date alone if that is far away, or without now (NaN). */
static char *format_expiry(double end_usec, double now_usec)
{
        g_autofree char *date = NULL, *left = NULL;

        if (!is_amount(end_usec))
                return absent();
        date = ald_format_date(end_usec);
        if (!isfinite(now_usec) || ald_is_far(fabs(end_usec - now_usec)))
                return g_steal_pointer(&date);
        left = end_usec > now_usec ? ald_format_duration(end_usec - now_usec)
                                   : ald_format_age(end_usec, now_usec);
        /* Translators: a date, and how long it takes until then. */
        return g_strdup_printf(end_usec > now_usec ? _("%s, in %s") : "%s, %s", date, left);
}

/* By what the name of a field ends in. */
typedef struct FieldUnit {
        const char *suffix;
        char *(*format)(double value);
        double factor; /* from the field to the first of the names */
        double step;   /* from each to the next */
        const char *const *names;
} FieldUnit;

static const FieldUnit field_units[] = {
        { "BytesPerSecond", ald_format_bytes_per_second, 1, 1000, byte_rate_units },
        { "BitsPerSecond", ald_format_bits_per_second, 1, 1000, bit_rate_units },
        { "Bytes", ald_format_bytes, 1, 1024, bytes_units },
        { "MilliCelsius", ald_format_celsius, 1e-3, 1, celsius_units },
        { "MicroWatts", ald_format_watts, 1e-6, 1, watt_units },
        { "NSec", ald_format_nsec, 1, 1000, nsec_units },
        { "Hz", ald_format_hertz, 1, 1000, hertz_units },
        { "TransfersPerSecond", ald_format_transfers, 1, 1000, transfer_units },
        { "TransfersPerSecondMax", ald_format_transfers, 1, 1000, transfer_units },
        { "Usage", ald_format_percent, 1, 1, percent_units },
        { "Some10", ald_format_percent, 1, 1, percent_units },
        { "Full10", ald_format_percent, 1, 1, percent_units },
        { "Interval", ald_format_percent, 1, 1, percent_units },
        { "Spread", ald_format_percent, 1, 1, percent_units },
        { "Tflops", ald_format_tflops, 1e12, 1000, flops_units },
        { "TflopsFp16", ald_format_tflops, 1e12, 1000, flops_units },
        { "Mtu", ald_format_count, 1, 1, no_units },
};

/* NULL if the name says nothing of it. */
static const FieldUnit *unit_of(const char *name)
{
        for (size_t i = 0; i < G_N_ELEMENTS(field_units); i++)
                if (g_str_has_suffix(name, field_units[i].suffix))
                        return &field_units[i];
        return NULL;
}

static char *format_number(const char *name, double value, double now_usec)
{
        const FieldUnit *unit;

        if (g_str_has_suffix(name, "OffsetUSec"))
                return format_offset(value);
        if (g_str_has_suffix(name, "ToLiveUSec") || g_str_has_suffix(name, "IntervalUSec"))
                return ald_format_duration(value);
        if (g_str_has_suffix(name, "ExpiryUSec"))
                return format_expiry(value, now_usec);
        if (g_str_has_suffix(name, "USec"))
                return ald_format_age(value, now_usec);
        unit = unit_of(name);
        return unit ? unit->format(value) : isfinite(value) ? g_strdup_printf("%.10g", value) : absent();
}

AldFigureUnit ald_figure_unit(const char *name, double greatest)
{
        const FieldUnit *unit = unit_of(name);
        AldFigureUnit chosen = { unit ? unit->factor : 1, unit ? unit->names[0] : "" };

        greatest = fabs(greatest * chosen.factor);
        for (unsigned i = 1; unit && unit->names[i] && greatest >= unit->step * (1 - 0.5e-3); i++) {
                greatest /= unit->step;
                chosen = (AldFigureUnit){ chosen.factor / unit->step, unit->names[i] };
        }
        return chosen;
}

/* Numbers below 1 keep two digits that count, down to 0.001. */
static int small_decimals(double size)
{
        return size >= 0.995 ? decimals(size) : size >= 0.0995 ? 2 : size >= 0.00995 ? 3 : 4;
}

char *ald_format_in_unit(const AldFigureUnit *unit, double value)
{
        double number = value * unit->factor, size = fabs(number);

        if (!isfinite(number))
                return absent();
        if (number > 0 && number < 0.001)
                return g_strdup("<0.001");
        /* Parts of a count, or of what has no smaller unit, are not rounded away, but not made up either. */
        if (size == 0 || (size == floor(size) && unit->factor == 1))
                return g_strdup_printf("%.0f", size > 0 ? number : 0);
        return g_strdup_printf("%.*f", small_decimals(size), number);
}

static char *format_boolean(bool value)
{
        return g_strdup(value ? _("yes") : _("no"));
}

/* No rows is an answer, unlike no field. */
static char *format_rows(size_t n)
{
        return n == 0 ? g_strdup(_("none")) : g_strdup_printf("%zu", n);
}

/* Adds one of a list with commas. */
static void append_item(GString *out, const char *item)
{
        g_autofree char *safe = ald_text_safe(item);

        g_string_append_printf(out, "%s%s", out->len > 0 ? ", " : "", safe);
}

char *ald_format_list(const char *const *list)
{
        GString *out = g_string_new(NULL);

        for (; list && *list; list++)
                append_item(out, *list);
        if (out->len == 0)
                g_string_append(out, ALD_ABSENT_TEXT);
        return g_string_free(out, FALSE);
}

char *ald_format_field(const AldField *field, const void *value, double now_usec)
{
        if (ald_field_is_absent(field, value))
                return absent();
        switch (field->type) {
        case ALD_TYPE_STRING:
                return ald_text_safe(*(const char *const *) value);
        case ALD_TYPE_UINT64:
                return format_number(field->name, (double) *(const uint64_t *) value, now_usec);
        case ALD_TYPE_INT64:
                return format_number(field->name, (double) *(const int64_t *) value, now_usec);
        case ALD_TYPE_DOUBLE:
                return format_number(field->name, *(const double *) value, now_usec);
        case ALD_TYPE_BOOLEAN:
                return format_boolean(*(const int *) value);
        case ALD_TYPE_STRV:
                return ald_format_list(*(const char *const *const *) value);
        case ALD_TYPE_ROWS:
                return format_rows(((const AldRows *) value)->n);
        }
        g_assert_not_reached();
}

static char *format_array(const json_t *array)
{
        g_autoptr(GString) out = g_string_new(NULL);
        size_t i;
        json_t *item;

        json_array_foreach(array, i, item) {
                if (!json_is_string(item))
                        return format_rows(json_array_size(array));
                append_item(out, json_string_value(item));
        }
        return out->len > 0 ? g_string_free(g_steal_pointer(&out), FALSE) : format_rows(0);
}

char *ald_format_raw(const char *name, const json_t *value, double now_usec)
{
        switch (value ? json_typeof(value) : JSON_NULL) {
        case JSON_STRING:
                return ald_text_safe(json_string_value(value));
        case JSON_INTEGER:
        case JSON_REAL:
                return format_number(name, json_number_value(value), now_usec);
        case JSON_TRUE:
        case JSON_FALSE:
                return format_boolean(json_is_true(value));
        case JSON_ARRAY:
                return format_array(value);
        default:
                return absent();
        }
}
