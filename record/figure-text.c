/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <langinfo.h>
#include <math.h>
#include <string.h>

#include "record/figure-text.h"
#include "record/translate.h"

#define FAR_SECONDS (366 * 86400.0) /* beyond this, a date says more than a number of days */
#define USEC_PER_SEC 1e6

#define WHOLE_MAX 1e9     /* scaled figures below this are converted as whole numbers */
#define TIE_DISTANCE 1e-6 /* from one half; what a product may be off by is far less */

static const struct {
        double seconds;
        const char *text;
} time_units[] = {
        { 86400, N_("%.0f d") },
        { 3600, N_("%.0f h") },
        { 60, N_("%.0f min") },
        { 1, N_("%.0f s") },
};

static double in_first_symbol(const AldUnit *unit, double value)
{
        return unit->factor > 0 ? value * unit->factor : value;
}

/* Divides a value in the first symbol, so that it is in the greatest symbol that leaves at least 1 before the
 * point. Returns the index of that symbol. */
static unsigned choose_symbol(const AldUnit *unit, double *value)
{
        unsigned symbol = 0;

        /* A value that would round to 1000 of one symbol is written as 1.00 of the next. */
        for (; unit->symbols[symbol + 1] && *value >= unit->step * (1 - 0.5e-3); symbol++)
                *value /= unit->step;
        return symbol;
}

static int three_digits(double value)
{
        return value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
}

static int decimals(const AldUnit *unit, unsigned symbol, double value)
{
        if (value == 0)
                return 0;
        switch (unit->style) {
        case ALD_UNIT_STYLE_DIGITS:
                return symbol == 0 && unit->symbols[1] ? 0 : three_digits(value);
        case ALD_UNIT_STYLE_TENTHS:
                if (symbol > 0)
                        return three_digits(value);
                return value < 9.95 && value != floor(value) ? 1 : 0;
        case ALD_UNIT_STYLE_WHOLE:
        case ALD_UNIT_STYLE_DURATION:
        case ALD_UNIT_STYLE_TIME:
                return 0;
        }
        g_assert_not_reached();
}

/* Returns whether a figure makes sense for the unit. Checks it in the first symbol, where it may become too
 * large. */
static bool is_possible(const AldUnit *unit, double value)
{
        return isfinite(in_first_symbol(unit, value)) && (value >= 0 || unit->is_signed);
}

/* The same as "%.*f", which takes most of the time of a table of figures. A value clear of a tie is rounded
 * as a whole number; the rest is left to printf(). */
static char *number_text(int n_decimals, double value)
{
        static const double powers[] = { 1, 10, 100, 1000 };
        const char *point = nl_langinfo(RADIXCHAR);
        char buffer[32], *at = buffer + sizeof buffer - 1;
        double scaled = n_decimals < (int) G_N_ELEMENTS(powers) ? value * powers[n_decimals] : INFINITY;
        uint32_t rest;

        if (!(scaled < WHOLE_MAX) || signbit(value) || fabs(scaled - floor(scaled) - 0.5) < TIE_DISTANCE ||
                strlen(point) > 4)
                return g_strdup_printf("%.*f", n_decimals, value);
        rest = (uint32_t) (scaled + 0.5);
        *at = '\0';
        for (int i = 0; i <= n_decimals || rest > 0; i++, rest /= 10) {
                if (i == n_decimals && i > 0) {
                        at -= strlen(point);
                        memcpy(at, point, strlen(point));
                }
                *--at = (char) ('0' + rest % 10);
        }
        return g_strdup(at);
}

/* Writes a figure without a unit, such as a count. */
static char *plain_text(double value)
{
        if (!isfinite(value))
                return g_strdup(ALD_ABSENT_TEXT);
        return value == floor(value) ? number_text(0, value) : g_strdup_printf("%.10g", value);
}

static char *with_symbol(const char *number, const char *symbol)
{
        return *symbol ? g_strconcat(number, " ", _(symbol), NULL) : g_strdup(number);
}

static bool is_time(double usec)
{
        return usec >= 0 && usec <= (double) ALD_INTEGER_MAX;
}

static char *format_utc(double usec, const char *format)
{
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc((gint64) (usec / USEC_PER_SEC));

        return g_date_time_format(time, format);
}

char *ald_format_figure(const AldUnit *unit, double value)
{
        g_autofree char *number = NULL;
        unsigned symbol;

        if (!unit)
                return plain_text(value);
        if (!is_possible(unit, value))
                return g_strdup(ALD_ABSENT_TEXT);
        if (unit->style == ALD_UNIT_STYLE_DURATION)
                return ald_format_duration(value);
        if (unit->style == ALD_UNIT_STYLE_TIME)
                return is_time(value) ? format_utc(value, "%F %T UTC") : g_strdup(ALD_ABSENT_TEXT);
        value = in_first_symbol(unit, value);
        if (unit->style == ALD_UNIT_STYLE_TENTHS && value > 0 && value < 0.05)
                return with_symbol("<0.1", unit->symbols[0]);
        symbol = choose_symbol(unit, &value);
        /* Adding zero turns the -0 that rounding may leave into 0. */
        number = unit->style == ALD_UNIT_STYLE_WHOLE ? number_text(0, round(value) + 0.0)
                                                     : number_text(decimals(unit, symbol, value), value);
        return with_symbol(number, unit->symbols[symbol]);
}

char *ald_format_figure_of(const AldUnit *unit, double part, double whole)
{
        double scaled = in_first_symbol(unit, whole);
        g_autofree char *text = ald_format_figure(unit, whole);
        g_autofree char *number = NULL;
        unsigned symbol;

        if (!is_possible(unit, whole))
                return ald_format_figure(unit, part);
        if (!is_possible(unit, part))
                return g_strdup_printf("%s/%s", ALD_ABSENT_TEXT, text);
        symbol = choose_symbol(unit, &scaled);
        part = in_first_symbol(unit, part) / pow(unit->step, symbol);
        number = number_text(decimals(unit, symbol, part), part);
        return g_strconcat(number, "/", text, NULL);
}

/* The width of an interval is never 0, so 0 counts as unknown. */
char *ald_format_interval(double percent)
{
        g_autofree char *text = ald_format_figure(&ald_unit_percent, percent);

        return isfinite(percent) && percent > 0 ? g_strconcat("±", text, NULL) : g_strdup(ALD_ABSENT_TEXT);
}

const AldUnit *ald_unit_of_name(const char *name)
{
        const AldUnit *found = NULL;
        size_t longest = 0, name_length = strlen(name);

        for (const AldUnit *const *unit = ald_units; *unit; unit++)
                for (unsigned i = 0; i < ALD_UNIT_ENDINGS_MAX && (*unit)->endings[i]; i++) {
                        size_t length = strlen((*unit)->endings[i]);

                        if (length > longest && length <= name_length &&
                                strcmp(name + name_length - length, (*unit)->endings[i]) == 0) {
                                found = *unit;
                                longest = length;
                        }
                }
        return found;
}

AldFigureUnit ald_figure_unit(const AldUnit *unit, double greatest)
{
        double scaled = unit ? fabs(in_first_symbol(unit, greatest)) : 0;
        unsigned symbol = unit ? choose_symbol(unit, &scaled) : 0;

        if (!unit)
                return (AldFigureUnit){ 1, "" };
        return (AldFigureUnit){ in_first_symbol(unit, 1) / pow(unit->step, symbol), unit->symbols[symbol] };
}

/* Returns the decimals that keep two significant digits of a number below 1, down to 0.001. */
static int small_decimals(double size)
{
        return size >= 0.995 ? three_digits(size) : size >= 0.0995 ? 2 : size >= 0.00995 ? 3 : 4;
}

char *ald_format_in_unit(const AldFigureUnit *unit, double value)
{
        double number = value * unit->factor, size = fabs(number);

        if (!isfinite(number))
                return g_strdup(ALD_ABSENT_TEXT);
        if (number > 0 && number < 0.001)
                return g_strdup("<0.001");
        /* A fraction of a count, or of the smallest unit, is not rounded away, but a whole number gets no
         * decimals. */
        if (size == 0 || (size == floor(size) && unit->factor == 1))
                return number_text(0, size > 0 ? number : 0);
        return number_text(small_decimals(size), number);
}

/* Writes two units, the second of which is left out if it is 0: "3 d", "2 h 42 min", "1 h". */
static char *long_duration(double seconds)
{
        g_autofree char *more = NULL, *less = NULL;
        size_t i = 0;
        double rest;

        while (seconds < time_units[i].seconds)
                i++;
        more = g_strdup_printf(_(time_units[i].text), floor(seconds / time_units[i].seconds));
        rest = floor(fmod(seconds, time_units[i].seconds) / time_units[i + 1].seconds);
        if (rest < 1)
                return g_steal_pointer(&more);
        less = g_strdup_printf(_(time_units[i + 1].text), rest);
        return g_strdup_printf("%s %s", more, less);
}

char *ald_format_duration(double usec)
{
        double seconds = floor(fabs(usec) / USEC_PER_SEC);
        g_autofree char *size = NULL;

        if (!isfinite(usec))
                return g_strdup(ALD_ABSENT_TEXT);
        size = seconds < 60 ? ald_format_figure(&ald_unit_nanoseconds, fabs(usec) * 1000)
                            : long_duration(seconds);
        return g_strconcat(usec < 0 ? "-" : "", size, NULL);
}

char *ald_format_offset(double usec)
{
        g_autofree char *text = ald_format_duration(usec);

        return g_strconcat(usec > 0 ? "+" : "", text, NULL);
}

char *ald_format_whole_unit(double usec)
{
        double seconds = floor(usec / USEC_PER_SEC);

        for (size_t i = 0; isfinite(seconds) && i < G_N_ELEMENTS(time_units); i++)
                if (seconds >= time_units[i].seconds)
                        return g_strdup_printf(_(time_units[i].text), floor(seconds / time_units[i].seconds));
        return NULL;
}

char *ald_format_date(double usec)
{
        return is_time(usec) ? format_utc(usec, "%F") : g_strdup("?");
}

bool ald_duration_is_far(double usec)
{
        return usec > FAR_SECONDS * USEC_PER_SEC;
}

char *ald_format_age(double then_usec, double now_usec)
{
        double usec = now_usec - then_usec;
        g_autofree char *duration = NULL;

        if (!isfinite(usec))
                return g_strdup(ALD_ABSENT_TEXT);
        if (ald_duration_is_far(usec))
                return ald_format_date(then_usec);
        duration = ald_format_whole_unit(usec);
        /* Translators: a duration, such as "5 min". */
        return duration ? g_strdup_printf(_("%s ago"), duration) : g_strdup(_("now"));
}

char *ald_format_expiry(double end_usec, double now_usec)
{
        g_autofree char *date = NULL, *left = NULL;

        if (!isfinite(end_usec) || end_usec < 0)
                return g_strdup(ALD_ABSENT_TEXT);
        date = ald_format_date(end_usec);
        if (!isfinite(now_usec) || ald_duration_is_far(fabs(end_usec - now_usec)))
                return g_steal_pointer(&date);
        left = end_usec > now_usec ? ald_format_duration(end_usec - now_usec)
                                   : ald_format_age(end_usec, now_usec);
        /* Translators: a date, and how long it takes until then. */
        return g_strdup_printf(end_usec > now_usec ? _("%s, in %s") : "%s, %s", date, left);
}
