/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <net/if.h>
#include <string.h>

#include "services/link-probe/link/link-validation.h"
#include "state/link/link-quality.h"

/* Room for "disturbed", "unsteady" and "suspect", and the final NULL. */
#define FLAGS_SIZE 4u

AldRecord *ald_result_make(AldKind kind, const void *fields)
{
        AldRecord *record;
        int r = ald_record_new(kind, fields, &record);

        g_assert(r >= 0);
        return record;
}

static const AldSocketResult *socket_result(const AldRecord *result)
{
        return ald_record_as(result, SOCKET_RESULT, AldSocketResult);
}

static bool is_check(const AldSocketResult *result)
{
        return result->scope &&
               ald_socket_result_scope_from_string(result->scope) != ALD_SOCKET_RESULT_SCOPE_FULL;
}

bool ald_result_is_check(const AldRecord *result)
{
        return result->kind == ALD_KIND_SOCKET_RESULT && is_check(socket_result(result));
}

static AldLinkSocket link_of(const AldSocketResult *result)
{
        AldLinkSocket link = ALD_LINK_SOCKET_INIT;

        ald_struct_copy_common(&ald_link_socket_struct, &link, &ald_socket_result_struct, result);
        return link;
}

AldLinkSocket ald_result_link(const AldRecord *result)
{
        return link_of(socket_result(result));
}

char *ald_result_describe_missing(const AldRecord *answer)
{
        const AldSocketResult *result = answer->kind == ALD_KIND_SOCKET_RESULT ? socket_result(answer) : NULL;
        const char *upload, *download;

        if (!result)
                return NULL;
        upload = result->upload.bits_per_second == ALD_ABSENT_UINT64 ? result->upload.reason : NULL;
        download = result->download.bits_per_second == ALD_ABSENT_UINT64 ? result->download.reason : NULL;
        if (!upload && !download)
                return NULL;
        return g_strconcat(upload ? "upload: " : "", upload ?: "", upload && download ? "; " : "",
                download ? "download: " : "", download ?: "", NULL);
}

static bool is_rated(const AldProbeDirection *direction)
{
        return direction->bits_per_second != ALD_ABSENT_UINT64;
}

static bool has_rate(const AldProbeDirection directions[static 2])
{
        return is_rated(&directions[0]) || is_rated(&directions[1]);
}

/* Removes the figures that describe a rate from each direction that has none. */
static void clear_unless_rated(AldProbeDirection directions[static 2])
{
        for (unsigned i = 0; i < 2; i++) {
                AldProbeDirection *direction = &directions[i];

                if (is_rated(direction))
                        continue;
                direction->interval = direction->spread = ALD_ABSENT_DOUBLE;
                direction->mean_bits_per_second = direction->interval_bits_per_second = ALD_ABSENT_UINT64;
                direction->limiter = NULL;
        }
}

static bool is_unsteady(const AldProbeDirection directions[static 2])
{
        return ald_link_percent_is_unsteady(directions[0].interval, directions[0].spread) ||
               ald_link_percent_is_unsteady(directions[1].interval, directions[1].spread);
}

static bool is_suspect(const AldLinkSocket *link)
{
        return ald_link_rate_is_suspect(link->upload.bits_per_second, link->upload.spot_bits_per_second) ||
               ald_link_rate_is_suspect(link->download.bits_per_second, link->download.spot_bits_per_second);
}

static void set_flags(bool disturbed, bool unsteady, bool suspect, const char *flags[static FLAGS_SIZE])
{
        unsigned n = 0;

        if (disturbed)
                flags[n++] = ALD_LINK_DISTURBED;
        if (unsteady)
                flags[n++] = ALD_LINK_UNSTEADY;
        if (suspect)
                flags[n++] = ALD_LINK_SUSPECT;
        flags[n] = NULL;
}

/* Both functions return a description of the problem, or NULL; free with g_free(). */
static char *validate_socket(const AldRecord *answer, AldSocketResult *fields)
{
        if (is_check(fields))
                fields->upload.bits_per_second = fields->download.bits_per_second = fields->streams =
                        fields->loaded_rtt_p50_nsec = ALD_ABSENT_UINT64;
        if (fields->loaded_rtt_p50_nsec == ALD_ABSENT_UINT64)
                fields->loaded_seconds = ALD_ABSENT_DOUBLE;
        clear_unless_rated(fields->directions);
        if (fields->sink_interface && strlen(fields->sink_interface) >= IFNAMSIZ)
                fields->sink_interface = NULL;
        if (is_check(fields))
                return fields->rtt_p50_nsec == ALD_ABSENT_UINT64
                               ? g_strdup("the probe returned no round trips")
                               : NULL;
        if (!has_rate(fields->directions)) {
                g_autofree char *missing = ald_result_describe_missing(answer);

                return g_strconcat("the probe returned no rates", missing ? ": " : "", missing, NULL);
        }
        return NULL;
}

static bool names_other_port(const char *reported, const char *port)
{
        return reported && !g_str_equal(reported, port);
}

static char *validate_rdma(const AldProbeTarget *target, AldRdmaResult *fields)
{
        if (names_other_port(fields->source_port, target->source_port) ||
                names_other_port(fields->sink_port, target->sink_port))
                return g_strdup("the probe measured between different ports");
        fields->source_port = target->source_port;
        fields->sink_port = target->sink_port;
        clear_unless_rated(fields->directions);
        return has_rate(fields->directions) ? NULL : g_strdup("the probe returned no rates");
}

static bool has_round_trips(const AldRecord *result)
{
        return result->kind == ALD_KIND_SOCKET_RESULT &&
               socket_result(result)->rtt_p50_nsec != ALD_ABSENT_UINT64;
}

void ald_result_validate(const AldProbeTarget *target, AldProbeAnswer *answer)
{
        const char *flags[FLAGS_SIZE];
        AldRecord *record = NULL;
        char *problem;

        if (answer->verdict != ALD_PROBE_DONE)
                return;
        if (ald_probe_kind_is_rdma(target->kind)) {
                AldRdmaResult fields = *ald_record_as(answer->result, RDMA_RESULT, AldRdmaResult);

                problem = validate_rdma(target, &fields);
                set_flags(target->despite_work, is_unsteady(fields.directions), false, flags);
                fields.flags = flags;
                record = ald_result_make(ALD_KIND_RDMA_RESULT, &fields);
        } else {
                AldSocketResult fields = *socket_result(answer->result);
                AldLinkSocket link;

                problem = validate_socket(answer->result, &fields);
                link = link_of(&fields);
                set_flags(target->despite_work || ald_link_disturbance(&link) != ALD_ABSENT_UINT64,
                        is_unsteady(fields.directions), is_suspect(&link), flags);
                fields.flags = flags;
                record = ald_result_make(ALD_KIND_SOCKET_RESULT, &fields);
        }
        ald_probe_answer_clear(answer);
        if (problem)
                *answer = (AldProbeAnswer){ .verdict = ALD_PROBE_FAILED,
                        .reason = problem,
                        .result = has_round_trips(record) ? ald_record_ref(record) : NULL };
        else
                *answer = (AldProbeAnswer){ .verdict = ALD_PROBE_DONE, .result = ald_record_ref(record) };
        ald_record_unref(record);
}
