/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/common/evaluator.h"
#include "probes/socket/transfer/socket-result.h"
#include "record/figure-text.h"
#include "record/message.h"

#define METHOD "tcp; mean at the receiver's kernel from arrival to arrival, on fast links without outliers"

void ald_socket_measurement_clear(AldSocketMeasurement *result)
{
        g_clear_pointer(&result->interface, g_free);
}

/* Returns NULL if the limiter is unknown, or if the transfer ended too early to find it. */
static const char *limiter_of(const AldSocketDirection *direction)
{
        return direction->verdict.bins > 0 ? ald_socket_limiter_to_string(direction->limiter) : NULL;
}

static void set_direction(const AldSocketDirection *direction, AldProbeDirection *message)
{
        if (direction->other.known)
                message->other_bits_per_second = direction->other.value;
        message->reason = direction->reason;
        if (!direction->known)
                return;
        ald_verdict_to_message(&direction->verdict, message);
        message->streams = direction->verdict.streams;
        message->retransmits = direction->retransmits;
        message->limiter = limiter_of(direction);
}

static void set_rtt(const AldSocketMeasurement *result, AldSocketResult *message)
{
        if (result->rtt_known) {
                message->rtt_min_nsec = result->rtt.min;
                message->rtt_p50_nsec = result->rtt.p50;
                message->rtt_p99_nsec = result->rtt.p99;
                message->rtt_samples = result->rtt.n;
                message->jitter_nsec = result->rtt.jitter;
        }
        if (result->loaded_known) {
                message->loaded_rtt_p50_nsec = result->loaded.p50;
                message->loaded_seconds = (double) result->loaded_nsec / 1e9;
        }
        if (result->kernel_min_rtt > 0)
                message->kernel_min_rtt_nsec = result->kernel_min_rtt;
}

static void set_spot(const AldSocketMeasurement *result, AldSocketResult *message)
{
        if (result->spot_upload > 0)
                message->upload.spot_bits_per_second = result->spot_upload;
        if (result->spot_download > 0)
                message->download.spot_bits_per_second = result->spot_download;
        message->spot_reason = result->spot_reason;
}

/* Returns the direction whose limiter is shown, which is one that the network does not limit, if any. */
static const AldSocketDirection *direction_of_limiter(const AldSocketMeasurement *result)
{
        if (result->upload.known &&
                (result->upload.limiter > ALD_SOCKET_LIMITER_NETWORK || !result->download.known))
                return &result->upload;
        return &result->download;
}

static void set_directions(const AldSocketMeasurement *result, AldSocketResult *message)
{
        const AldSocketDirection *upload = &result->upload, *download = &result->download;
        const AldSocketDirection *direction = direction_of_limiter(result);

        set_direction(upload, &message->upload);
        set_direction(download, &message->download);
        if (!direction->known)
                return;
        message->limiter = limiter_of(direction);
        message->streams = MAX(upload->verdict.streams, download->verdict.streams);
        message->retransmits = upload->retransmits + download->retransmits;
}

char *ald_socket_measurement_to_json(const AldSocketMeasurement *result)
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

char *ald_socket_session_report_to_json(const AldSocketSessionReport *served, const AldFailure *failure)
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

void ald_socket_session_report_clear(AldSocketSessionReport *served)
{
        g_clear_pointer(&served->address, g_free);
        g_clear_pointer(&served->interface, g_free);
}

static char *rate_text(uint64_t bits_per_second)
{
        return ald_format_figure(&ald_unit_bits_per_second, (double) bits_per_second);
}

static char *time_text(uint64_t nsec)
{
        return ald_format_figure(&ald_unit_nanoseconds, (double) nsec);
}

#define OTHER_SHOWN 100u /* other traffic below this part of the rate is not worth a line */

static const char *limited_by(AldSocketLimiter limiter)
{
        if (limiter == ALD_SOCKET_LIMITER_UNKNOWN)
                return "";
        return limiter == ALD_SOCKET_LIMITER_LOSS ? ", limited by " : ", limited by the ";
}

static void add_direction(GString *text, const char *name, const AldSocketDirection *direction)
{
        const AldVerdict *verdict = &direction->verdict;
        g_autofree char *rate = rate_text(verdict->bits_per_second), *mean = rate_text(verdict->mean);
        g_autofree char *other = rate_text(direction->other.value);
        g_autofree char *interval = ald_format_interval(
                100.0 * (double) verdict->interval / (double) verdict->bits_per_second);

        if (!direction->known && *direction->reason)
                g_string_append_printf(text, "%s unknown: %s\n", name, direction->reason);
        if (!direction->known)
                return;
        g_string_append_printf(text, "%s %s", name, rate);
        if (verdict->interval > 0 && verdict->bits_per_second > 0)
                g_string_append_printf(text, " %s", interval);
        if (verdict->bins == 0)
                g_string_append(text, ", roughly: the transfer ended within its start-up\n");
        else
                g_string_append_printf(text, " (mean %s), %u connection%s%s%s\n", mean, verdict->streams,
                        verdict->streams == 1 ? "" : "s", limited_by(direction->limiter),
                        ald_socket_limiter_to_string(direction->limiter) ?: "");
        if (direction->other.known && direction->other.value >= verdict->bits_per_second / OTHER_SHOWN)
                g_string_append_printf(text, "            meanwhile %s of other traffic\n", other);
}

static void add_spot(GString *text, const AldSocketMeasurement *result)
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

static void add_rtt(GString *text, const AldSocketMeasurement *result)
{
        g_autofree char *p50 = time_text(result->rtt.p50), *min = time_text(result->rtt.min);
        g_autofree char *p99 = time_text(result->rtt.p99), *jitter = time_text(result->rtt.jitter);
        g_autofree char *loaded = time_text(result->loaded.p50), *after = time_text(result->loaded_nsec);

        g_string_append_printf(
                text, "Round trip  %s (minimum %s, 99 %% within %s), jitter %s", p50, min, p99, jitter);
        if (result->loaded_known)
                g_string_append_printf(text, "; after %s of load %s", after, loaded);
        g_string_append_c(text, '\n');
}

char *ald_socket_measurement_to_text(const AldSocketMeasurement *result)
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

char *ald_socket_session_report_to_text(const AldSocketSessionReport *served, const AldFailure *failure)
{
        g_autofree char *upload = rate_text(served->upload);

        if (failure->message)
                return g_strdup_printf("%s: %s\n", served->address ?: "no session", failure->message);
        if (served->upload == 0)
                return g_strdup_printf("%s: done\n", served->address);
        return g_strdup_printf("%s: %s from there\n", served->address, upload);
}
