/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/socket/result.h"

static char *rate_text(uint64_t bits_per_second)
{
        static const char *const units[] = { "b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s" };
        double value = (double) bits_per_second;
        unsigned unit = 0;

        for (; value >= 999.5 && unit + 1 < G_N_ELEMENTS(units); unit++)
                value /= 1000;
        return g_strdup_printf(value < 100 ? "%.3g %s" : "%.0f %s", value, units[unit]);
}

static char *time_text(uint64_t nsec)
{
        if (nsec < 999500)
                return g_strdup_printf("%.3g µs", (double) nsec / 1e3);
        return g_strdup_printf("%.3g ms", (double) nsec / 1e6);
}

#define OTHER_SHOWN 100u /* less than a hundredth of the rate is not worth a line */

static void add_direction(GString *text, const char *name, const AldDirection *direction)
{
        const AldVerdict *verdict = &direction->verdict;
        g_autofree char *rate = rate_text(verdict->bits_per_second), *mean = rate_text(verdict->mean);
        g_autofree char *other = rate_text(direction->other.value);

        if (!direction->known && *direction->reason)
                g_string_append_printf(text, "%s unknown: %s\n", name, direction->reason);
        if (!direction->known)
                return;
        g_string_append_printf(text, "%s %s", name, rate);
        if (verdict->interval > 0 && verdict->bits_per_second > 0)
                g_string_append_printf(text, " ±%.1f %%",
                        100.0 * (double) verdict->interval / (double) verdict->bits_per_second);
        if (verdict->bins == 0)
                g_string_append(text, ", roughly: the transfer ended within its start-up\n");
        else
                g_string_append_printf(text, " (mean %s), %u connection%s, limited by the %s\n", mean,
                        verdict->streams, verdict->streams == 1 ? "" : "s",
                        ald_socket_verdict_limiter_to_string(direction->limiter));
        if (direction->other.known && direction->other.value >= verdict->bits_per_second / OTHER_SHOWN)
                g_string_append_printf(text, "            meanwhile %s of other traffic\n", other);
}

static void add_spot(GString *text, const AldResult *result)
{
        g_autofree char *upload = rate_text(result->spot_upload);
        g_autofree char *download = rate_text(result->spot_download);

        if (result->spot_upload == 0 && result->spot_download == 0) {
                if (*result->spot_reason)
                        g_string_append_printf(text, "Spot check  none: %s\n", result->spot_reason);
                return;
        }
        g_string_append_printf(text, "Spot check  upload %s, download %s\n",
                result->spot_upload > 0 ? upload : "unknown",
                result->spot_download > 0 ? download : "unknown");
}

static void add_rtt(GString *text, const AldResult *result)
{
        g_autofree char *p50 = time_text(result->rtt.p50), *min = time_text(result->rtt.min);
        g_autofree char *p99 = time_text(result->rtt.p99), *jitter = time_text(result->rtt.jitter);
        g_autofree char *loaded = time_text(result->loaded.p50);

        g_string_append_printf(
                text, "Round trip  %s (minimum %s, 99 %% within %s), jitter %s", p50, min, p99, jitter);
        if (result->loaded_known)
                g_string_append_printf(text, "; under load %s", loaded);
        g_string_append_c(text, '\n');
}

char *ald_result_to_text(const AldResult *result)
{
        GString *text = g_string_new(NULL);

        g_string_append(text, result->sink_address);
        if (*result->sink)
                g_string_append_printf(text, ", %s", result->sink);
        if (result->interface)
                g_string_append_printf(text, ", by %s", result->interface);
        if (*result->sink_interface)
                g_string_append_printf(text, " to %s there", result->sink_interface);
        g_string_append_c(text, '\n');
        add_direction(text, "Upload     ", &result->upload);
        add_direction(text, "Download   ", &result->download);
        if (result->rtt_known)
                add_rtt(text, result);
        if (result->scope == ALD_SOCKET_SCOPE_CHECK)
                add_spot(text, result);
        return g_string_free(text, FALSE);
}

char *ald_served_to_text(const AldServed *served, const AldFailure *failure)
{
        g_autofree char *upload = rate_text(served->upload);

        if (failure->message)
                return g_strdup_printf("%s: %s\n", served->address ?: "no session", failure->message);
        if (served->upload == 0)
                return g_strdup_printf("%s: done\n", served->address);
        return g_strdup_printf("%s: %s from there\n", served->address, upload);
}
