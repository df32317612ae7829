/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/link-probe/machine/probe-hours.h"

#define MINUTES_PER_DAY (24u * 60u)

/* Parses "HH:MM"; 24:00 is the end of a day. Returns the rest of the text, or NULL. */
static const char *parse_time(const char *text, unsigned *ret)
{
        unsigned hour, minute;

        for (unsigned i = 0; i < 5; i++)
                if (i == 2 ? text[i] != ':' : !g_ascii_isdigit(text[i]))
                        return NULL;
        hour = (unsigned) (10 * (text[0] - '0') + text[1] - '0');
        minute = (unsigned) (10 * (text[3] - '0') + text[4] - '0');
        if (minute > 59 || 60 * hour + minute > MINUTES_PER_DAY)
                return NULL;
        *ret = 60 * hour + minute;
        return text + 5;
}

static int parse_range(const char *text, AldProbeHours *hours)
{
        unsigned from, to;

        text = parse_time(text, &from);
        if (!text || *text != '-')
                return -EINVAL;
        text = parse_time(text + 1, &to);
        if (!text || *text != '\0' || from == to || from == MINUTES_PER_DAY)
                return -EINVAL;
        if (hours->n == ALD_PROBE_HOURS_MAX)
                return -E2BIG;
        hours->ranges[hours->n].from = from;
        hours->ranges[hours->n++].to = to;
        return 0;
}

int ald_probe_hours_parse(const char *const *list, AldProbeHours *ret)
{
        AldProbeHours hours = { 0 };

        for (const char *const *item = list; *item; item++) {
                g_autofree char *range = g_strstrip(g_strdup(*item));
                int r = *range == '\0' ? 0 : parse_range(range, &hours);

                if (r < 0)
                        return r;
        }
        *ret = hours;
        return 0;
}

const char *ald_probe_hours_refuse(const char *text)
{
        g_auto(GStrv) list = g_strsplit(text, ";", -1);
        AldProbeHours hours;

        switch (ald_probe_hours_parse((const char *const *) list, &hours)) {
        case 0:
                return NULL;
        case -E2BIG:
                return "more than 16 ranges";
        default:
                return "not a list of ranges such as 22:00-06:00";
        }
}

bool ald_probe_hours_contain(const AldProbeHours *hours, unsigned minute)
{
        for (unsigned i = 0; i < hours->n; i++) {
                unsigned from = hours->ranges[i].from, to = hours->ranges[i].to;

                if (from < to ? minute >= from && minute < to : minute >= from || minute < to)
                        return true;
        }
        return hours->n == 0;
}
