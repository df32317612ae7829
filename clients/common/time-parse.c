/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "clients/common/time-parse.h"
#include "record/field.h"

#define DAY_SECONDS 86400

/* The units of systemd.time(7). */
static const struct {
        const char *name;
        double seconds;
} units[] = {
        { "usec", 1e-6 },
        { "us", 1e-6 },
        { "µs", 1e-6 },
        { "msec", 1e-3 },
        { "ms", 1e-3 },
        { "seconds", 1 },
        { "second", 1 },
        { "sec", 1 },
        { "s", 1 },
        { "minutes", 60 },
        { "minute", 60 },
        { "min", 60 },
        { "m", 60 },
        { "hours", 3600 },
        { "hour", 3600 },
        { "hr", 3600 },
        { "h", 3600 },
        { "days", DAY_SECONDS },
        { "day", DAY_SECONDS },
        { "d", DAY_SECONDS },
        { "weeks", 7 * DAY_SECONDS },
        { "week", 7 * DAY_SECONDS },
        { "w", 7 * DAY_SECONDS },
        { "months", 30.44 * DAY_SECONDS },
        { "month", 30.44 * DAY_SECONDS },
        { "M", 30.44 * DAY_SECONDS },
        { "years", 365.25 * DAY_SECONDS },
        { "year", 365.25 * DAY_SECONDS },
        { "y", 365.25 * DAY_SECONDS },
};

static const char *skip_spaces(const char *at)
{
        return at + strspn(at, " \t");
}

/* Reads digits with at most one point, no sign and no exponent. */
static bool take_decimal(const char **at, double *ret)
{
        g_autofree char *digits = g_strndup(*at, strspn(*at, "0123456789."));
        char *end;
        double value = g_ascii_strtod(digits, &end);

        if (end == digits || *end)
                return false;
        *at += end - digits;
        *ret = value;
        return true;
}

static bool take_unit(const char **at, double *ret_seconds)
{
        size_t n = strcspn(*at, " \t0123456789.");

        for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
                if (strlen(units[i].name) != n || strncmp(*at, units[i].name, n) != 0)
                        continue;
                *at += n;
                *ret_seconds = units[i].seconds;
                return true;
        }
        return false;
}

int ald_duration_parse(const char *text, uint64_t *ret_usec)
{
        const char *at = skip_spaces(text);
        double sum = 0;

        for (bool first = true; *at || first; first = false) {
                double number, seconds = 0;

                if (!take_decimal(&at, &number))
                        return -EINVAL;
                at = skip_spaces(at);
                if (!*at && number > 0)
                        return -ENOTUNIQ;
                if (*at && !take_unit(&at, &seconds))
                        return -EINVAL;
                at = skip_spaces(at);
                sum += number * seconds;
        }
        if (sum * 1e6 > (double) ALD_INTEGER_MAX)
                return -ERANGE;
        *ret_usec = (uint64_t) (sum * 1e6 + 0.5);
        return 0;
}

char *ald_duration_problem(const char *text, int r)
{
        g_autofree char *number = g_strstrip(g_strdup(text));

        if (r == -ERANGE)
                return g_strdup("is out of range");
        /* Several units could be meant after "1h 30". */
        if (r == -ENOTUNIQ && number[strspn(number, "0123456789.")] == '\0')
                return g_strdup_printf("has no unit: write %sh or %ss, for example", number, number);
        if (r == -ENOTUNIQ)
                return g_strdup("ends with a number that has no unit, such as 2h or 2s");
        return g_strdup("is not a duration such as " ALD_DURATION_EXAMPLES);
}

typedef struct Moment {
        int year, month, day, hour, minute;
        double second;
} Moment;

static bool take_digits(const char **at, unsigned n, int *ret)
{
        int value = 0;

        for (unsigned i = 0; i < n; i++) {
                if (!g_ascii_isdigit((*at)[i]))
                        return false;
                value = value * 10 + g_ascii_digit_value((*at)[i]);
        }
        *at += n;
        *ret = value;
        return true;
}

static bool take_char(const char **at, char c)
{
        if (**at != c)
                return false;
        ++*at;
        return true;
}

static bool take_date(const char **at, Moment *moment)
{
        return take_digits(at, 4, &moment->year) && take_char(at, '-') &&
               take_digits(at, 2, &moment->month) && take_char(at, '-') && take_digits(at, 2, &moment->day);
}

static bool take_time_of_day(const char **at, Moment *moment)
{
        if (!take_digits(at, 2, &moment->hour) || !take_char(at, ':') || !take_digits(at, 2, &moment->minute))
                return false;
        moment->second = 0;
        return !take_char(at, ':') ||
               (g_ascii_isdigit((*at)[0]) && g_ascii_isdigit((*at)[1]) && take_decimal(at, &moment->second));
}

static bool take_offset(const char **at, int *ret_seconds)
{
        bool west = **at == '-';
        int hours, minutes;

        if ((!take_char(at, '+') && !take_char(at, '-')) || !take_digits(at, 2, &hours))
                return false;
        (void) take_char(at, ':');
        if (!take_digits(at, 2, &minutes) || hours > 23 || minutes > 59)
                return false;
        *ret_seconds = (west ? -60 : 60) * (hours * 60 + minutes);
        return true;
}

/* Returns the offset of the zone at this moment, in seconds. */
static gint64 offset_at(GTimeZone *zone, gint64 seconds)
{
        return g_time_zone_get_offset(zone, g_time_zone_find_interval(zone, G_TIME_TYPE_UNIVERSAL, seconds));
}

/* Finds the moments at which clocks in the zone show what a clock in UTC shows at `local` seconds since 1970:
 * one, two where the clock is set back, none where it is set forward. This relies on each offset lasting
 * longer than a day. */
static unsigned find_moments(GTimeZone *zone, gint64 local, gint64 ret[2])
{
        const gint64 before = local - offset_at(zone, local - DAY_SECONDS),
                     after = local - offset_at(zone, local + DAY_SECONDS);
        unsigned n = 0;

        if (local - offset_at(zone, before) == before)
                ret[n++] = before;
        if (after != before && local - offset_at(zone, after) == after)
                ret[n++] = after;
        return n;
}

bool ald_time_is_repeated(uint64_t usec)
{
        g_autoptr(GTimeZone) zone = g_time_zone_new_local();
        const gint64 seconds = (gint64) (usec / G_USEC_PER_SEC);
        gint64 moments[2];

        return find_moments(zone, seconds + offset_at(zone, seconds), moments) == 2;
}

/* Returns the zone that the rest of the text names, local time if it is empty; NULL if it is not a zone. */
static GTimeZone *read_zone(const char *at)
{
        int seconds;

        at = skip_spaces(at);
        if (!*at)
                return g_time_zone_new_local();
        if (strcmp(at, "Z") == 0 || strcmp(at, "UTC") == 0)
                return g_time_zone_new_utc();
        return take_offset(&at, &seconds) && !*at ? g_time_zone_new_offset(seconds) : NULL;
}

/* GLib chooses the later of two moments. */
static GDateTime *choose_moment(GDateTime *time, AldRepeatedTime which)
{
        GTimeZone *zone = g_date_time_get_timezone(time);
        const gint64 seconds = g_date_time_to_unix(time);
        gint64 moments[2];

        if (find_moments(zone, seconds + g_date_time_get_utc_offset(time) / G_USEC_PER_SEC, moments) < 2)
                return g_date_time_ref(time);
        return g_date_time_add_seconds(time, (double) (moments[which] - seconds));
}

static int convert_moment(GDateTime *time, AldRepeatedTime which, uint64_t *ret_usec)
{
        g_autoptr(GDateTime) chosen = time ? choose_moment(time, which) : NULL;
        gint64 seconds;

        if (!chosen)
                return -EINVAL;
        seconds = g_date_time_to_unix(chosen);
        if (seconds < 0 || seconds > ALD_INTEGER_MAX / G_USEC_PER_SEC)
                return -ERANGE;
        *ret_usec = (uint64_t) seconds * G_USEC_PER_SEC + (uint64_t) g_date_time_get_microsecond(chosen);
        return 0;
}

static int parse_moment(const char *text, GDateTime *today, AldRepeatedTime which, uint64_t *ret_usec)
{
        Moment moment = { 0 };
        g_autoptr(GTimeZone) zone = NULL;
        g_autoptr(GDateTime) time = NULL;
        const char *at = text;
        bool valid = true;

        if (take_date(&at, &moment)) {
                if (*at == 'T' || *at == ' ') {
                        at = skip_spaces(at + 1);
                        valid = strcmp(at, "UTC") == 0 || take_time_of_day(&at, &moment);
                }
        } else {
                at = text;
                g_date_time_get_ymd(today, &moment.year, &moment.month, &moment.day);
                valid = take_time_of_day(&at, &moment);
        }
        zone = valid ? read_zone(at) : NULL;
        if (!zone)
                return -EINVAL;
        time = g_date_time_new(
                zone, moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second);
        return convert_moment(time, which, ret_usec);
}

/* Reads "today", "yesterday" or "tomorrow" as its midnight. */
static int parse_day(const char *text, GDateTime *today, AldRepeatedTime which, uint64_t *ret_usec)
{
        static const struct {
                const char *word;
                int days;
        } days[] = { { "today", 0 }, { "yesterday", -1 }, { "tomorrow", 1 } };

        for (size_t i = 0; i < G_N_ELEMENTS(days); i++) {
                g_autoptr(GDateTime) day = NULL, midnight = NULL;

                if (strcmp(text, days[i].word) != 0)
                        continue;
                day = g_date_time_add_days(today, days[i].days);
                midnight = g_date_time_new_local(g_date_time_get_year(day), g_date_time_get_month(day),
                        g_date_time_get_day_of_month(day), 0, 0, 0);
                return convert_moment(midnight, which, ret_usec);
        }
        return -EINVAL;
}

/* Reads a duration with a sign before it, or a word after it. */
static int parse_relative(char *text, uint64_t now_usec, uint64_t *ret_usec)
{
        bool before = *text == '-', after = *text == '+', ago = g_str_has_suffix(text, " ago"),
             left = g_str_has_suffix(text, " left");
        uint64_t usec;
        int r;

        if (before + after + ago + left != 1)
                return -EINVAL;
        if (ago || left)
                *strrchr(text, ' ') = '\0';
        r = ald_duration_parse(text + (before || after), &usec);
        if (r < 0)
                return r;
        if (before || ago ? usec > now_usec : usec > (uint64_t) ALD_INTEGER_MAX - now_usec)
                return -ERANGE;
        *ret_usec = before || ago ? now_usec - usec : now_usec + usec;
        return 0;
}

static int parse_epoch(const char *text, uint64_t *ret_usec)
{
        double seconds;

        if (!take_char(&text, '@') || !take_decimal(&text, &seconds) || *text)
                return -EINVAL;
        if (seconds > (double) (ALD_INTEGER_MAX / G_USEC_PER_SEC))
                return -ERANGE;
        *ret_usec = (uint64_t) (seconds * 1e6 + 0.5);
        return 0;
}

int ald_time_parse(const char *text, uint64_t now_usec, AldRepeatedTime which, uint64_t *ret_usec)
{
        g_autofree char *stripped = g_strstrip(g_strdup(text));
        g_autoptr(GDateTime) today = g_date_time_new_from_unix_local((gint64) (now_usec / G_USEC_PER_SEC));
        int r;

        if (!today)
                return -EINVAL;
        if (strcmp(stripped, "now") == 0) {
                *ret_usec = now_usec;
                return 0;
        }
        r = parse_epoch(stripped, ret_usec);
        if (r == -EINVAL)
                r = parse_day(stripped, today, which, ret_usec);
        if (r == -EINVAL)
                r = parse_moment(stripped, today, which, ret_usec);
        if (r == -EINVAL)
                r = parse_relative(stripped, now_usec, ret_usec);
        return r;
}

char *ald_time_problem(int r)
{
        if (r == -ERANGE)
                return g_strdup("is out of range; times are from 1970 to 2255");
        if (r == -ENOTUNIQ)
                return g_strdup("has no unit, such as -2h or -2s");
        return g_strdup("is not a time such as " ALD_TIME_EXAMPLES);
}
