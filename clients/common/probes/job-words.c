/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/common/format.h"
#include "clients/common/probes/job-words.h"
#include "clients/common/safe-text.h"
#include "clients/common/words.h"
#include "record/json.h"
#include "record/translate.h"
#include "state-client/value.h"
#include "state/link/link-quality.h"

static AldProbeJobState state_of(const AldProbeJob *job)
{
        return (AldProbeJobState) ald_probe_job_state_from_string(job->state ?: "");
}

bool ald_job_has_ended(const AldProbeJob *job)
{
        AldProbeJobState state = state_of(job);

        return state == ALD_PROBE_JOB_STATE_DONE || state == ALD_PROBE_JOB_STATE_FAILED ||
               state == ALD_PROBE_JOB_STATE_CANCELED;
}

char *ald_job_step(const AldProbeJob *job)
{
        g_autofree char *phase = ald_text_safe_or_null(job->phase);
        g_autofree char *address = ald_text_safe_or_null(job->address);
        const char *what = phase && strcmp(phase, "rtt") == 0 ? _("round trips") : ald_word(phase);
        bool has_phase = phase && *phase;

        if (state_of(job) == ALD_PROBE_JOB_STATE_WAITING)
                return has_phase ? g_strdup_printf(_("waiting: %s"), phase)
                                 : g_strdup(_("waiting for other measurements to finish"));
        if (!has_phase)
                what = _("starting");
        return address && *address ? g_strdup_printf(_("%s over %s"), what, address) : g_strdup(what);
}

char *ald_job_reason(const char *error)
{
        return error ? ald_text_safe(error) : g_strdup(_("no reason given"));
}

void ald_probed_path_read(AldProbedPath *path, AldKind result, json_t *row)
{
        const AldRdmaResult *rdma;

        *path = (AldProbedPath){ .figures = ALD_SOCKET_RESULT_INIT,
                .message_bytes = ALD_ABSENT_UINT64,
                .mtu = ALD_ABSENT_UINT64 };
        ald_value_to_struct(row, &ald_job_path_row_struct, &path->row);
        if (ald_record_from_json(result, row, &path->result, NULL) < 0)
                return;
        if (result == ALD_KIND_SOCKET_RESULT) {
                path->figures = *ald_record_as(path->result, SOCKET_RESULT, AldSocketResult);
                return;
        }
        rdma = ald_record_as(path->result, RDMA_RESULT, AldRdmaResult);
        ald_struct_copy_common(&ald_socket_result_struct, &path->figures, &ald_rdma_result_struct, rdma);
        path->message_bytes = rdma->message_bytes;
        path->mtu = rdma->mtu;
}

void ald_probed_path_clear(AldProbedPath *path)
{
        g_clear_pointer(&path->result, ald_record_unref);
}

/* Returns "9.41 Gb/s ±0.4 %"; for a direction without a rate, why it has none. */
static char *describe_rate(const AldProbeDirection *direction)
{
        g_autofree char *text = ald_format_bits_per_second(ald_uint64_to_double(direction->bits_per_second));
        g_autofree char *interval = ald_format_interval(direction->interval);
        g_autofree char *reason = direction->bits_per_second == ALD_ABSENT_UINT64
                                          ? ald_text_safe_or_null(direction->reason)
                                          : NULL;

        if (reason)
                return g_strdup_printf(_("not measured: %s"), reason);
        return strcmp(interval, ALD_ABSENT_TEXT) == 0 ? g_steal_pointer(&text)
                                                      : g_strdup_printf("%s %s", text, interval);
}

/* Returns "9.41 Gb/s ±0.4 %, mean 9.38 Gb/s, spread 2 %, limited by the network, 1.20 GiB in 1.20 s". */
static char *describe_direction(const AldProbeDirection *direction)
{
        g_autofree char *size = ald_format_bytes(ald_uint64_to_double(direction->bytes));
        g_autofree char *duration = ald_format_nsec(direction->seconds * 1e9);
        GString *list = g_string_new(NULL);

        ald_parts_add(list, "%s", describe_rate(direction));
        ald_parts_add(list, _("mean %s"),
                ald_format_bits_per_second(ald_uint64_to_double(direction->mean_bits_per_second)));
        ald_parts_add(list, _("spread %s"), ald_format_percent(direction->spread));
        if (direction->bits_per_second != ALD_ABSENT_UINT64)
                ald_parts_add(list, "%s", ald_limiter_words(direction->limiter));
        if (direction->bytes != ALD_ABSENT_UINT64 && !isnan(direction->seconds))
                ald_parts_add(list, "%s", g_strdup_printf(_("%s in %s"), size, duration));
        return g_string_free(list, FALSE);
}

static char *format_half(uint64_t nsec)
{
        return ald_format_nsec(ald_uint64_to_double(nsec) / 2);
}

static char *describe_rtt(const AldSocketResult *figures)
{
        g_autofree char *loaded = format_half(figures->loaded_rtt_p50_nsec);
        g_autofree char *duration = ald_format_nsec(figures->loaded_seconds * 1e9);
        GString *list = g_string_new(NULL);

        ald_parts_add(list, "%s", format_half(figures->rtt_p50_nsec));
        ald_parts_add(list, _("least %s"), format_half(figures->rtt_min_nsec));
        ald_parts_add(list, _("99th percentile %s"), format_half(figures->rtt_p99_nsec));
        if (figures->loaded_rtt_p50_nsec != ALD_ABSENT_UINT64 && !isnan(figures->loaded_seconds))
                ald_parts_add(list, "%s", g_strdup_printf(_("under load %s after %s"), loaded, duration));
        else
                ald_parts_add(list, _("under load %s"), g_steal_pointer(&loaded));
        return g_string_free(list, FALSE);
}

char *ald_probed_path_ends(const AldProbedPath *path)
{
        g_autofree char *from = ald_text_safe_or_null(path->row.source_port);
        g_autofree char *to = ald_text_safe_or_null(path->row.sink_port);

        if (from && to)
                return g_strdup_printf("%s → %s", from, to);
        return ald_text_safe(path->figures.sink_address ?: path->row.address ?: ALD_ABSENT_TEXT);
}

static char *describe_ends(const AldProbedPath *path, const char *name)
{
        g_autofree char *interface = ald_text_safe_or_null(path->figures.source_interface);
        g_autofree char *ends = ald_probed_path_ends(path);
        g_autofree char *text = strcmp(ends, ALD_ABSENT_TEXT) != 0
                                        ? g_strdup_printf(_("%s over %s"), name, ends)
                                        : g_strdup(name);

        return interface ? g_strdup_printf("%s (%s)", text, interface) : g_steal_pointer(&text);
}

/* Returns "64 KiB, MTU 1024", which only RDMA has. */
static char *describe_messages(const AldProbedPath *path)
{
        GString *list = g_string_new(NULL);

        ald_parts_add(list, "%s", ald_format_bytes(ald_uint64_to_double(path->message_bytes)));
        ald_parts_add(list, "MTU %s", ald_format_count(ald_uint64_to_double(path->mtu)));
        return g_string_free(list, FALSE);
}

/* Adds why the figures are not to be trusted, if that is so. */
static void add_flags(GPtrArray *facts, const AldSocketResult *figures)
{
        /* The greater of the other traffic in both directions, or NaN. */
        double rate = fmax(ald_uint64_to_double(figures->upload.other_bits_per_second),
                ald_uint64_to_double(figures->download.other_bits_per_second));
        g_autofree char *other = ald_format_bits_per_second(rate);

        if (ald_link_has_flag(figures->flags, ALD_LINK_DISTURBED))
                ald_facts_add(facts, N_("Disturbed"),
                        isnan(rate) ? g_strdup(_("other traffic disturbed this measurement; it does not "
                                                 "replace a better one"))
                                    : g_strdup_printf(_("other traffic of %s disturbed this measurement; it "
                                                        "does not replace a better one"),
                                              other));
        if (ald_link_has_flag(figures->flags, ALD_LINK_UNSTEADY))
                ald_facts_add(facts, N_("Unsteady"),
                        /* xgettext:no-c-format */
                        g_strdup(_("the interval of a rate exceeds 25 %, or its spread 50 %")));
        if (ald_link_has_flag(figures->flags, ALD_LINK_SUSPECT))
                ald_facts_add(facts, N_("Suspect"),
                        g_strdup(_("a burst in this measurement was more than twice as fast as a rate")));
}

GPtrArray *ald_probed_path_facts(const AldProbedPath *path, const char *name)
{
        const AldSocketResult *figures = &path->figures;
        GPtrArray *facts = ald_facts_new();

        ald_facts_add(facts, N_("Link to"), describe_ends(path, name));
        if (g_strcmp0(figures->scope, "round-trips") != 0) {
                ald_facts_add(facts, N_("Upload"), describe_direction(&figures->upload));
                ald_facts_add(facts, N_("Download"), describe_direction(&figures->download));
        }
        ald_facts_add(facts, N_("RTT/2"), describe_rtt(figures));
        ald_facts_add(facts, N_("Jitter/2"), format_half(figures->jitter_nsec));
        if (path->message_bytes != ALD_ABSENT_UINT64)
                ald_facts_add(facts, N_("Messages"), describe_messages(path));
        if (figures->streams != ALD_ABSENT_UINT64)
                ald_facts_add(facts, N_("Streams"), ald_format_count(ald_uint64_to_double(figures->streams)));
        add_flags(facts, figures);
        return facts;
}
