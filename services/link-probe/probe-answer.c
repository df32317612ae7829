/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/link-probe/probe-answer.h"
#include "services/link-probe/probe-line.h"
#include "state/id.h"
#include "state/json.h"

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
        json_t *json = failure ? NULL : ald_probe_line_load_last(output, OUTPUT_MAX);
        const char *error = string_of(json, "error", TEXT_MAX);
        const char *message = string_of(json, "message", TEXT_MAX);

        *ret = (AldProbeAnswer){ .verdict = ALD_PROBE_DONE };
        if (failure) {
                refuse(ret, failure);
        } else if (!json) {
                refuse(ret, "gave no result");
        } else if (json_object_get(json, "error")) {
                ret->verdict = g_strcmp0(error, "busy") == 0 || g_strcmp0(error, "inhibited") == 0
                                       ? ALD_PROBE_LATER
                                       : ALD_PROBE_FAILED;
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

static const char *limiter_of(const json_t *json)
{
        const char *limiter = json_string_value(json_object_get(json, "Limiter"));

        for (AldLinkSocketLimiter i = 0; limiter && i < ALD_LINK_SOCKET_LIMITER_N; i++)
                if (g_str_equal(ald_link_socket_limiter_to_string(i), limiter))
                        return ald_link_socket_limiter_to_string(i);
        return NULL;
}

int ald_probe_answer_figures(const AldProbeAnswer *answer, AldLinkSocket *ret)
{
        AldLinkSocket figures = *(const AldLinkSocket *) ald_kinds[ALD_KIND_LINK_SOCKET].type->absent;

        figures.upload_bits_per_second = ald_probe_answer_uint(answer, "UploadBitsPerSecond");
        figures.download_bits_per_second = ald_probe_answer_uint(answer, "DownloadBitsPerSecond");
        figures.upload_mean_bits_per_second = ald_probe_answer_uint(answer, "UploadMeanBitsPerSecond");
        figures.download_mean_bits_per_second = ald_probe_answer_uint(answer, "DownloadMeanBitsPerSecond");
        figures.rtt_min_nsec = ald_probe_answer_uint(answer, "RttMinNSec");
        figures.rtt_p50_nsec = ald_probe_answer_uint(answer, "RttP50NSec");
        figures.rtt_p99_nsec = ald_probe_answer_uint(answer, "RttP99NSec");
        figures.jitter_nsec = ald_probe_answer_uint(answer, "JitterNSec");
        figures.loaded_rtt_p50_nsec = ald_probe_answer_uint(answer, "LoadedRttP50NSec");
        figures.kernel_min_rtt_nsec = ald_probe_answer_uint(answer, "KernelMinRttNSec");
        figures.streams = ald_probe_answer_uint(answer, "Streams");
        figures.limiter = limiter_of(answer->json);
        if (figures.upload_bits_per_second == ALD_ABSENT_UINT64 ||
                figures.download_bits_per_second == ALD_ABSENT_UINT64)
                return -EBADMSG;
        *ret = figures;
        return 0;
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

int ald_probe_report_read(const char *line, char **ret_peer, char **ret_port)
{
        json_t *json = ald_probe_line_load(line, OUTPUT_MAX);
        const char *peer = json_string_value(json_object_get(json, "peer"));
        AldId id;
        int r = peer && ald_id_parse(peer, &id) >= 0 ? 0 : -EBADMSG;

        if (r >= 0) {
                *ret_peer = g_strdup(peer);
                *ret_port = g_strdup(string_of(json, "port", TEXT_MAX));
        }
        json_decref(json);
        return r;
}
