/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/common/evaluator.h"
#include "probes/socket/result.h"
#include "record/message.h"

#define METHOD "tcp; mean at the receiver's kernel from arrival to arrival, on fast links without outliers"

void ald_result_clear(AldResult *result)
{
        g_clear_pointer(&result->interface, g_free);
}

/* NULL if the transfer ended too early to find it. */
static const char *limiter_of(const AldDirection *direction)
{
        return direction->verdict.bins > 0 ? ald_socket_verdict_limiter_to_string(direction->limiter) : NULL;
}

#define DIRECTION_TO_MESSAGE(message, way, direction)                                      \
        do {                                                                               \
                if ((direction)->other.known)                                              \
                        (message)->way##_other_bits_per_second = (direction)->other.value; \
                (message)->way##_reason = (direction)->reason;                             \
                if (!(direction)->known)                                                   \
                        break;                                                             \
                ALD_VERDICT_TO_MESSAGE(message, way, &(direction)->verdict);               \
                (message)->way##_streams = (direction)->verdict.streams;                   \
                (message)->way##_retransmits = (direction)->retransmits;                   \
                (message)->way##_limiter = limiter_of(direction);                          \
        } while (0)

static void set_rtt(const AldResult *result, AldSocketResult *message)
{
        if (result->rtt_known) {
                message->rtt_min_nsec = result->rtt.min;
                message->rtt_p50_nsec = result->rtt.p50;
                message->rtt_p99_nsec = result->rtt.p99;
                message->rtt_samples = result->rtt.n;
                message->jitter_nsec = result->rtt.jitter;
        }
        if (result->loaded_known)
                message->loaded_rtt_p50_nsec = result->loaded.p50;
        if (result->kernel_min_rtt > 0)
                message->kernel_min_rtt_nsec = result->kernel_min_rtt;
}

static void set_spot(const AldResult *result, AldSocketResult *message)
{
        if (result->spot_upload > 0)
                message->spot_upload_bits_per_second = result->spot_upload;
        if (result->spot_download > 0)
                message->spot_download_bits_per_second = result->spot_download;
        message->spot_reason = result->spot_reason;
}

/* The direction whose limiter is shown: one that is not limited by the network, if any. */
static const AldDirection *telling(const AldResult *result)
{
        if (result->upload.known &&
                (result->upload.limiter != ALD_SOCKET_VERDICT_LIMITER_NETWORK || !result->download.known))
                return &result->upload;
        return &result->download;
}

static void set_directions(const AldResult *result, AldSocketResult *message)
{
        const AldDirection *upload = &result->upload, *download = &result->download;
        const AldDirection *direction = telling(result);

        DIRECTION_TO_MESSAGE(message, upload, upload);
        DIRECTION_TO_MESSAGE(message, download, download);
        if (!direction->known)
                return;
        message->limiter = limiter_of(direction);
        message->streams = MAX(upload->verdict.streams, download->verdict.streams);
        message->retransmits = upload->retransmits + download->retransmits;
}

char *ald_result_to_json(const AldResult *result)
{
        AldSocketResult message = ALD_SOCKET_RESULT_INIT;

        message.sink = result->sink;
        message.sink_address = result->sink_address;
        message.source_interface = result->interface;
        message.sink_interface = result->sink_interface;
        message.scope = ald_socket_scope_to_string(result->scope);
        message.congestion = result->congestion;
        message.measured_usec = result->measured;
        if (result->scope == ALD_SOCKET_SCOPE_FULL)
                message.method = METHOD;
        set_rtt(result, &message);
        set_spot(result, &message);
        set_directions(result, &message);
        return ald_message_format(ALD_KIND_SOCKET_RESULT, &message);
}

char *ald_served_to_json(const AldServed *served, const AldFailure *failure)
{
        AldSocketServed message = ALD_SOCKET_SERVED_INIT;

        message.peer = served->peer;
        message.address = served->address;
        message.interface = served->interface;
        message.bytes = served->received + served->sent;
        message.received = served->received;
        message.sent = served->sent;
        if (served->upload > 0)
                message.upload_bits_per_second = served->upload;
        message.error = ald_failure_name(failure);
        message.message = failure->message;
        return ald_message_format(ALD_KIND_SOCKET_SERVED, &message);
}
