/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/links/job-text.h"
#include "clients/alidadectl/state/describe.h"
#include "clients/command-line/fields.h"
#include "clients/command-line/text.h"
#include "clients/common/facts.h"
#include "clients/common/format.h"
#include "clients/common/link-summary.h"
#include "state/link-quality.h"

#define BAR_MAX 30u
#define BAR_LEAST 5u
#define LABEL_WIDTH 10
#define AMOUNT_MAX 1e18

AldProbeJobState ald_job_state(const json_t *job)
{
        static const struct {
                const char *name;
                AldProbeJobState state;
        } states[] = {
                { "waiting", ALD_PROBE_JOB_WAITING },
                { "running", ALD_PROBE_JOB_RUNNING },
                { "done", ALD_PROBE_JOB_DONE },
                { "failed", ALD_PROBE_JOB_FAILED },
                { "canceled", ALD_PROBE_JOB_CANCELED },
        };
        const char *name = ald_field_text(job, "State");

        for (size_t i = 0; i < G_N_ELEMENTS(states); i++)
                if (g_strcmp0(name, states[i].name) == 0)
                        return states[i].state;
        return ALD_PROBE_JOB_UNKNOWN;
}

bool ald_job_has_ended(const json_t *job)
{
        return ald_job_state(job) >= ALD_PROBE_JOB_DONE;
}

static char *safe_field(const json_t *fields, const char *name)
{
        const char *text = ald_field_text(fields, name);

        return text ? ald_text_safe(text) : NULL;
}

char *ald_job_step(const json_t *job)
{
        g_autofree char *phase = safe_field(job, "Phase"), *address = safe_field(job, "Address");
        const char *what = phase && strcmp(phase, "rtt") == 0 ? "round trips" : phase;
        bool has_phase = phase && *phase;

        if (ald_job_state(job) == ALD_PROBE_JOB_WAITING)
                return has_phase ? g_strdup_printf("waiting: %s", phase)
                                 : g_strdup("waiting for other probes to finish");
        if (!has_phase)
                what = "starting";
        return address && *address ? g_strdup_printf("%s over %s", what, address) : g_strdup(what);
}

static void append_bar(GString *out, double progress, unsigned width)
{
        unsigned filled = (unsigned) lround(progress * width);

        for (unsigned i = 0; i < width; i++)
                g_string_append(out, i < filled ? "█" : "░");
}

char *ald_job_progress(const json_t *job, const char *name, unsigned columns)
{
        double progress = CLAMP(ald_field_number(job, "Progress"), 0, 1);
        g_autofree char *step = ald_job_step(job), *text = g_strdup_printf("%s: %s", name, step);
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *cut = NULL;
        unsigned room;

        if (isnan(progress) || columns < BAR_LEAST + 6)
                return ald_text_cut(text, columns);
        room = columns / 2 - 6;
        room = CLAMP(room, BAR_LEAST, BAR_MAX);
        append_bar(out, progress, room);
        g_string_append_printf(out, " %3.0f %%", floor(progress * 100));
        if (columns > room + 6 + 2) {
                cut = ald_text_cut(text, columns - room - 6 - 2);
                g_string_append_printf(out, "  %s", cut);
        }
        return g_string_free(g_steal_pointer(&out), FALSE);
}

char *ald_job_reason(const json_t *job)
{
        char *reason = safe_field(job, "Error");

        return reason ? reason : g_strdup("no reason given");
}

static void add(GString *list, const char *before, char *part)
{
        ald_parts_add(list, before, part, "");
}

/* The number, or NaN if it is absent or no rate, duration or size can be that. */
static double amount_of(const json_t *result, const char *name)
{
        double value = ald_field_number(result, name);

        return value >= 0 && value <= AMOUNT_MAX ? value : (double) NAN;
}

static double amount(const json_t *result, const char *direction, const char *suffix)
{
        g_autofree char *name = g_strconcat(direction, suffix, NULL);

        return amount_of(result, name);
}

/* The greater of the other traffic in both directions, or NaN. */
static double other_traffic(const json_t *result)
{
        return fmax(amount_of(result, "UploadOtherBitsPerSecond"),
                amount_of(result, "DownloadOtherBitsPerSecond"));
}

static bool has_flag(const json_t *result, const char *flag)
{
        const json_t *item;
        size_t i;

        json_array_foreach(ald_field_array(result, "Flags"), i, item)
                if (g_strcmp0(json_string_value(item), flag) == 0)
                        return true;
        return false;
}

static char *text_of(const json_t *result, const char *direction, const char *suffix)
{
        g_autofree char *name = g_strconcat(direction, suffix, NULL);

        return safe_field(result, name);
}

/* "9.41 Gb/s ±0.4 %"; of a direction without a rate why it has none. */
static char *describe_rate(const json_t *result, const char *direction)
{
        double rate = amount(result, direction, "BitsPerSecond");
        g_autofree char *text = ald_format_bits_per_second(rate);
        g_autofree char *interval = ald_link_interval_text(amount(result, direction, "Interval"));
        g_autofree char *reason = isnan(rate) ? text_of(result, direction, "Reason") : NULL;

        if (reason)
                return g_strdup_printf("not measured: %s", reason);
        return strcmp(interval, ALD_ABSENT_TEXT) == 0 ? g_steal_pointer(&text)
                                                      : g_strdup_printf("%s %s", text, interval);
}

/* "9.41 Gb/s ±0.4 %, mean 9.38 Gb/s, spread 2 %, limited by the network, 1.20 GiB in 1.20 s" */
static char *describe_direction(const json_t *result, const char *direction)
{
        double bytes = amount(result, direction, "Bytes"), seconds = amount(result, direction, "Seconds");
        g_autofree char *limiter = text_of(result, direction, "Limiter");
        g_autofree char *size = ald_format_bytes(bytes), *duration = ald_format_nsec(seconds * 1e9);
        GString *list = g_string_new(NULL);

        add(list, "", describe_rate(result, direction));
        add(list, "mean ", ald_format_bits_per_second(amount(result, direction, "MeanBitsPerSecond")));
        add(list, "spread ", ald_format_percent(amount(result, direction, "Spread")));
        if (limiter && !isnan(amount(result, direction, "BitsPerSecond")))
                add(list, "limited by the ", g_steal_pointer(&limiter));
        if (!isnan(bytes) && !isnan(seconds))
                add(list, "", g_strdup_printf("%s in %s", size, duration));
        return g_string_free(list, FALSE);
}

static char *half(const json_t *result, const char *name)
{
        return ald_format_nsec(amount_of(result, name) / 2);
}

static char *describe_rtt(const json_t *result)
{
        GString *list = g_string_new(NULL);

        add(list, "", half(result, "RttP50NSec"));
        add(list, "least ", half(result, "RttMinNSec"));
        add(list, "99th percentile ", half(result, "RttP99NSec"));
        add(list, "under load ", half(result, "LoadedRttP50NSec"));
        return g_string_free(list, FALSE);
}

char *ald_job_way(const json_t *path)
{
        g_autofree char *from = safe_field(path, "SourcePort"), *to = safe_field(path, "SinkPort");
        char *address;

        if (from && to)
                return g_strdup_printf("%s → %s", from, to);
        address = safe_field(path, "SinkAddress");
        if (!address)
                address = safe_field(path, "Address");
        return address ? address : g_strdup(ALD_ABSENT_TEXT);
}

static char *describe_ends(const json_t *result, const char *name)
{
        g_autofree char *interface = safe_field(result, "SourceInterface");
        g_autofree char *way = ald_job_way(result);
        GString *text = g_string_new(name);

        if (strcmp(way, ALD_ABSENT_TEXT) != 0)
                g_string_append_printf(text, " over %s", way);
        if (interface)
                g_string_append_printf(text, " (%s)", interface);
        return g_string_free(text, FALSE);
}

/* "64 KiB, MTU 1024": of RDMA alone. */
static char *describe_messages(const json_t *result)
{
        GString *list = g_string_new(NULL);

        add(list, "", ald_format_bytes(amount_of(result, "MessageBytes")));
        add(list, "MTU ", ald_format_count(amount_of(result, "Mtu")));
        return g_string_free(list, FALSE);
}

static void entry(GString *out, const char *label, unsigned columns, char *text)
{
        ald_describe_entry(out, label, LABEL_WIDTH, columns, text);
}

/* Why the figures are not to be trusted, if that is so. */
static void describe_flags(GString *out, const json_t *result, unsigned columns)
{
        double rate = other_traffic(result);
        g_autofree char *other = ald_format_bits_per_second(rate);

        if (has_flag(result, ALD_LINK_DISTURBED))
                entry(out, "Disturbed", columns,
                        isnan(rate) ? g_strdup("other traffic disturbed this measurement; it does not "
                                               "replace a better one")
                                    : g_strdup_printf("other traffic of %s disturbed this measurement; it "
                                                      "does not replace a better one",
                                              other));
        if (has_flag(result, ALD_LINK_UNSTEADY))
                entry(out, "Unsteady", columns,
                        g_strdup("the interval of a rate exceeds 25 %, or its spread 50 %"));
}

void ald_job_describe_path(GString *out, const json_t *result, const char *name, unsigned columns)
{
        entry(out, "Link to", columns, describe_ends(result, name));
        if (g_strcmp0(ald_field_text(result, "Scope"), "round-trips") != 0) {
                entry(out, "Upload", columns, describe_direction(result, "Upload"));
                entry(out, "Download", columns, describe_direction(result, "Download"));
        }
        entry(out, "RTT/2", columns, describe_rtt(result));
        entry(out, "Jitter/2", columns, half(result, "JitterNSec"));
        if (!isnan(amount_of(result, "MessageBytes")))
                entry(out, "Messages", columns, describe_messages(result));
        if (!isnan(amount_of(result, "Streams")))
                entry(out, "Streams", columns, ald_format_count(amount_of(result, "Streams")));
        describe_flags(out, result, columns);
}
