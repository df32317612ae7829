/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <net/if.h>
#include <string.h>

#include "record/id.h"
#include "record/json.h"
#include "services/link-probe/probe-answer.h"
#include "services/link-probe/probe-line.h"

#define TEXT_MAX 256u
#define PHASE_MAX 32u
#define FIELDS_MAX 64u
#define OUTPUT_MAX ((size_t) TEXT_MAX * FIELDS_MAX)

void ald_probe_answer_clear(AldProbeAnswer *answer)
{
        g_clear_pointer(&answer->word, g_free);
        g_clear_pointer(&answer->reason, g_free);
        g_clear_pointer(&answer->json, json_decref);
}

/* A string of an object that can be shown, or NULL. */
static const char *string_of(const json_t *json, const char *name, size_t max)
{
        const char *text = json_string_value(json_object_get(json, name));

        return ald_probe_line_is_readable(text, max) ? text : NULL;
}

/* Leaves what can be shown: numbers and words. */
static void keep_plain(json_t *json)
{
        const char *name;
        json_t *value;
        void *next;
        size_t n = 0;

        json_object_foreach_safe(json, next, name, value)
        {
                bool plain = json_is_integer(value)
                                     ? json_integer_value(value) >= 0
                                     : json_is_real(value) || json_is_boolean(value) ||
                                               ald_probe_line_is_readable(json_string_value(value), TEXT_MAX);

                if (!plain || !ald_probe_line_is_readable(name, PHASE_MAX * 2) || n++ >= FIELDS_MAX)
                        json_object_del(json, name);
        }
}

static void refuse(AldProbeAnswer *ret, const char *failure)
{
        ret->verdict = ALD_PROBE_FAILED;
        ret->reason = g_strdup_printf("the probe %s", failure);
}

void ald_probe_answer_read(const char *output, const char *failure, AldProbeAnswer *ret)
{
        static const char *const later[] = { "busy", "inhibited", ALD_PROBE_ROUND_TRIPS_ONLY, NULL };
        json_t *json = failure ? NULL : ald_probe_line_load_last(output, OUTPUT_MAX);
        const char *error = string_of(json, "error", TEXT_MAX);
        const char *message = string_of(json, "message", TEXT_MAX);

        *ret = (AldProbeAnswer){ .verdict = ALD_PROBE_DONE };
        if (failure) {
                refuse(ret, failure);
        } else if (!json) {
                refuse(ret, "gave no result");
        } else if (json_object_get(json, "error")) {
                ret->verdict = error && g_strv_contains(later, error) ? ALD_PROBE_LATER : ALD_PROBE_FAILED;
                ret->word = g_strdup(error);
                ret->reason = g_strdup(message ?: error ?: "the probe did not say why it failed");
        } else {
                keep_plain(json);
                ret->json = g_steal_pointer(&json);
        }
        json_decref(json);
}

uint64_t ald_probe_answer_uint(const AldProbeAnswer *answer, const char *name)
{
        const json_t *value = json_object_get(answer->json, name);
        json_int_t number;

        if (!json_is_integer(value))
                return ALD_ABSENT_UINT64;
        number = json_integer_value(value);
        return number >= 0 && number <= ALD_INTEGER_MAX ? (uint64_t) number : ALD_ABSENT_UINT64;
}

uint64_t ald_probe_answer_rate(const AldProbeAnswer *answer, const char *name)
{
        uint64_t rate = ald_probe_answer_uint(answer, name);

        return rate > 0 ? rate : ALD_ABSENT_UINT64;
}

double ald_probe_answer_percent(const AldProbeAnswer *answer, const char *name)
{
        const json_t *value = json_object_get(answer->json, name);
        double percent = json_is_number(value) ? json_number_value(value) : ALD_ABSENT_DOUBLE;

        return isfinite(percent) && percent >= 0 ? percent : ALD_ABSENT_DOUBLE;
}

/* No measurement is exact. */
double ald_probe_answer_interval(const AldProbeAnswer *answer, const char *name)
{
        double percent = ald_probe_answer_percent(answer, name);

        return percent > 0 ? percent : ALD_ABSENT_DOUBLE;
}

const char *ald_probe_answer_text(const AldProbeAnswer *answer, const char *name)
{
        return string_of(answer->json, name, TEXT_MAX);
}

/* Both directions have the same ones. */
static const char *limiter_of(const AldProbeAnswer *answer, const char *name)
{
        const char *limiter = json_string_value(json_object_get(answer->json, name));

        for (AldLinkSocketUploadLimiter i = 0; limiter && i < ALD_LINK_SOCKET_UPLOAD_LIMITER_N; i++)
                if (g_str_equal(ald_link_socket_upload_limiter_to_string(i), limiter))
                        return ald_link_socket_upload_limiter_to_string(i);
        return NULL;
}

static const char *interface_of(const AldProbeAnswer *answer, const char *name)
{
        const char *interface = json_string_value(json_object_get(answer->json, name));

        return ald_probe_line_is_readable(interface, IFNAMSIZ - 1) ? interface : NULL;
}

bool ald_probe_answer_is_check(const AldProbeAnswer *answer)
{
        const char *scope = json_string_value(json_object_get(answer->json, "Scope"));

        return scope && (g_str_equal(scope, "check") || g_str_equal(scope, "round-trips"));
}

static void read_round_trips(const AldProbeAnswer *answer, AldLinkSocket *figures)
{
        figures->rtt_min_nsec = ald_probe_answer_uint(answer, "RttMinNSec");
        figures->rtt_p50_nsec = ald_probe_answer_uint(answer, "RttP50NSec");
        figures->rtt_p99_nsec = ald_probe_answer_uint(answer, "RttP99NSec");
        figures->jitter_nsec = ald_probe_answer_uint(answer, "JitterNSec");
        figures->kernel_min_rtt_nsec = ald_probe_answer_uint(answer, "KernelMinRttNSec");
        figures->spot_upload_bits_per_second = ald_probe_answer_rate(answer, "SpotUploadBitsPerSecond");
        figures->spot_download_bits_per_second = ald_probe_answer_rate(answer, "SpotDownloadBitsPerSecond");
}

static void read_rates(const AldProbeAnswer *answer, AldLinkSocket *figures)
{
        figures->upload_bits_per_second = ald_probe_answer_rate(answer, "UploadBitsPerSecond");
        figures->download_bits_per_second = ald_probe_answer_rate(answer, "DownloadBitsPerSecond");
        figures->upload_mean_bits_per_second = ald_probe_answer_rate(answer, "UploadMeanBitsPerSecond");
        figures->download_mean_bits_per_second = ald_probe_answer_rate(answer, "DownloadMeanBitsPerSecond");
        figures->upload_interval = ald_probe_answer_interval(answer, "UploadInterval");
        figures->download_interval = ald_probe_answer_interval(answer, "DownloadInterval");
        figures->upload_spread = ald_probe_answer_percent(answer, "UploadSpread");
        figures->download_spread = ald_probe_answer_percent(answer, "DownloadSpread");
        figures->loaded_rtt_p50_nsec = ald_probe_answer_uint(answer, "LoadedRttP50NSec");
        figures->streams = ald_probe_answer_uint(answer, "Streams");
        figures->upload_limiter = limiter_of(answer, "UploadLimiter");
        figures->download_limiter = limiter_of(answer, "DownloadLimiter");
}

/* What a direction without a rate is not to have either. */
static void clear_missing(AldLinkSocket *figures)
{
        if (figures->upload_bits_per_second == ALD_ABSENT_UINT64) {
                figures->upload_interval = figures->upload_spread = ALD_ABSENT_DOUBLE;
                figures->upload_limiter = NULL;
        }
        if (figures->download_bits_per_second == ALD_ABSENT_UINT64) {
                figures->download_interval = figures->download_spread = ALD_ABSENT_DOUBLE;
                figures->download_limiter = NULL;
        }
}

int ald_probe_answer_figures(const AldProbeAnswer *answer, AldLinkSocket *ret)
{
        AldLinkSocket figures = ALD_LINK_SOCKET_INIT;

        read_round_trips(answer, &figures);
        figures.sink_interface = interface_of(answer, "SinkInterface");
        figures.upload_other_bits_per_second = ald_probe_answer_uint(answer, "UploadOtherBitsPerSecond");
        figures.download_other_bits_per_second = ald_probe_answer_uint(answer, "DownloadOtherBitsPerSecond");
        if (!ald_probe_answer_is_check(answer)) {
                read_rates(answer, &figures);
                if (figures.upload_bits_per_second == ALD_ABSENT_UINT64 &&
                        figures.download_bits_per_second == ALD_ABSENT_UINT64)
                        return -EBADMSG;
                clear_missing(&figures);
        } else if (figures.rtt_p50_nsec == ALD_ABSENT_UINT64) {
                return -EBADMSG;
        }
        *ret = figures;
        return 0;
}

char *ald_probe_answer_missing(const AldProbeAnswer *answer)
{
        static const struct {
                const char *rate, *reason, *direction;
        } directions[] = {
                { "UploadBitsPerSecond", "UploadReason", "upload" },
                { "DownloadBitsPerSecond", "DownloadReason", "download" },
        };
        g_autoptr(GString) text = g_string_new(NULL);

        for (unsigned i = 0; i < G_N_ELEMENTS(directions); i++) {
                const char *reason = ald_probe_answer_text(answer, directions[i].reason);

                if (reason && ald_probe_answer_rate(answer, directions[i].rate) == ALD_ABSENT_UINT64)
                        g_string_append_printf(
                                text, "%s%s: %s", text->len > 0 ? "; " : "", directions[i].direction, reason);
        }
        return text->len > 0 ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

int ald_probe_progress_read(const char *line, char **ret_phase, double *ret_fraction)
{
        json_t *json = ald_probe_line_load(line, OUTPUT_MAX);
        const json_t *fraction = json_object_get(json, "fraction");
        int r = -EBADMSG;

        if (json_is_number(fraction)) {
                *ret_fraction = CLAMP(json_number_value(fraction), 0, 1);
                *ret_phase = g_strdup(string_of(json, "phase", PHASE_MAX));
                r = 0;
        }
        json_decref(json);
        return r;
}

void ald_probe_report_clear(AldProbeReport *report)
{
        g_clear_pointer(&report->peer, g_free);
        g_clear_pointer(&report->port, g_free);
}

int ald_probe_report_read(const char *line, AldProbeReport *ret)
{
        json_t *json = ald_probe_line_load(line, OUTPUT_MAX);
        const json_t *peer = json_object_get(json, "peer");
        int scope = ald_link_scope_from_string(string_of(json, "scope", PHASE_MAX)), r = -EBADMSG;
        AldId id;

        if (peer ? json_is_string(peer) && ald_id_parse(json_string_value(peer), &id) >= 0 : scope >= 0) {
                *ret = (AldProbeReport){
                        .peer = g_strdup(json_string_value(peer)),
                        .port = g_strdup(string_of(json, "port", TEXT_MAX)),
                        .asks = scope >= 0,
                        .wanted = { .scope = (AldLinkScope) MAX(scope, 0),
                                .automatic = json_is_true(json_object_get(json, "automatic")),
                                .overdue = json_is_true(json_object_get(json, "overdue")) },
                };
                r = 0;
        }
        json_decref(json);
        return r;
}
