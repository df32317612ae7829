/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <jansson.h>

#include "probes/common/failure-json.h"
#include "probes/socket/result.h"

#define METHOD "tcp; mean at the receiver's kernel from arrival to arrival, on fast links without outliers"

void ald_result_clear(AldResult *result)
{
        g_clear_pointer(&result->interface, g_free);
}

static void set_number(json_t *object, const char *prefix, const char *key, uint64_t value)
{
        g_autofree char *name = g_strconcat(prefix, key, NULL);

        json_object_set_new(object, name, json_integer((json_int_t) MIN(value, UINT64_C(1) << 53)));
}

static void set_text(json_t *object, const char *prefix, const char *key, const char *text)
{
        g_autofree char *name = g_strconcat(prefix, key, NULL);

        if (text && *text)
                json_object_set_new(object, name, json_string(text));
}

/* NULL where it was over before that could be seen. */
static const char *limiter_of(const AldDirection *direction)
{
        return direction->verdict.bins > 0 ? ald_limiter_to_string(direction->limiter) : NULL;
}

static void set_percent(json_t *object, const char *prefix, const char *key, double value)
{
        g_autofree char *name = g_strconcat(prefix, key, NULL);

        json_object_set_new(object, name, json_real(value));
}

/* Half of the interval in percent of the rate, and how unsteady it is. */
static void set_certainty(json_t *object, const char *prefix, const AldVerdict *verdict)
{
        if (verdict->interval > 0) {
                set_number(object, prefix, "IntervalBitsPerSecond", verdict->interval);
                set_percent(object, prefix, "Interval",
                        100 * (double) verdict->interval / (double) verdict->bits_per_second);
        }
        if (verdict->spread.known)
                set_percent(object, prefix, "Spread", (double) verdict->spread.value / 1e4);
}

static void set_direction(json_t *object, const char *prefix, const AldDirection *direction)
{
        const AldVerdict *verdict = &direction->verdict;
        g_autofree char *seconds = g_strconcat(prefix, "Seconds", NULL);

        if (direction->other.known)
                set_number(object, prefix, "OtherBitsPerSecond", direction->other.value);
        set_text(object, prefix, "Reason", direction->reason);
        if (!direction->known)
                return;
        set_number(object, prefix, "BitsPerSecond", verdict->bits_per_second);
        set_number(object, prefix, "MeanBitsPerSecond", verdict->mean);
        set_certainty(object, prefix, verdict);
        set_number(object, prefix, "Bytes", verdict->bytes);
        set_number(object, prefix, "Streams", verdict->streams);
        set_number(object, prefix, "Bins", verdict->bins);
        set_number(object, prefix, "Retransmits", direction->retransmits);
        set_text(object, prefix, "Limiter", limiter_of(direction));
        json_object_set_new(object, seconds, json_real((double) verdict->nsec / 1e9));
}

static void set_rtt(json_t *object, const AldResult *result)
{
        if (result->rtt_known) {
                set_number(object, "Rtt", "MinNSec", result->rtt.min);
                set_number(object, "Rtt", "P50NSec", result->rtt.p50);
                set_number(object, "Rtt", "P99NSec", result->rtt.p99);
                set_number(object, "Rtt", "Samples", result->rtt.n);
                set_number(object, "Jitter", "NSec", result->rtt.jitter);
        }
        if (result->loaded_known)
                set_number(object, "LoadedRtt", "P50NSec", result->loaded.p50);
        if (result->kernel_min_rtt > 0)
                set_number(object, "KernelMinRtt", "NSec", result->kernel_min_rtt);
}

static void set_spot(json_t *object, const AldResult *result)
{
        if (result->spot_upload > 0)
                set_number(object, "Spot", "UploadBitsPerSecond", result->spot_upload);
        if (result->spot_download > 0)
                set_number(object, "Spot", "DownloadBitsPerSecond", result->spot_download);
        set_text(object, "Spot", "Reason", result->spot_reason);
}

/* Of both directions together: what is not the network is the finding. */
static const AldDirection *telling(const AldResult *result)
{
        if (result->upload.known &&
                (result->upload.limiter != ALD_LIMITER_NETWORK || !result->download.known))
                return &result->upload;
        return &result->download;
}

static char *dump(json_t *object)
{
        char *dumped = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)), *text = g_strdup(dumped);

        free(dumped);
        json_decref(object);
        return text;
}

char *ald_result_to_json(const AldResult *result)
{
        json_t *object = json_object();
        const AldDirection *direction = telling(result);

        set_text(object, "", "Sink", result->sink);
        set_text(object, "", "SinkAddress", result->sink_address);
        set_text(object, "", "SourceInterface", result->interface);
        set_text(object, "", "SinkInterface", result->sink_interface);
        set_text(object, "", "Scope", ald_probe_scope_to_string(result->scope));
        set_rtt(object, result);
        set_spot(object, result);
        set_direction(object, "Upload", &result->upload);
        set_direction(object, "Download", &result->download);
        if (direction->known) {
                set_text(object, "", "Limiter", limiter_of(direction));
                set_number(object, "", "Streams",
                        MAX(result->upload.verdict.streams, result->download.verdict.streams));
                set_number(
                        object, "", "Retransmits", result->upload.retransmits + result->download.retransmits);
        }
        set_text(object, "", "Congestion", result->congestion);
        set_number(object, "", "MeasuredUSec", result->measured);
        if (result->scope == ALD_PROBE_FULL)
                set_text(object, "", "Method", METHOD);
        return dump(object);
}

char *ald_served_to_json(const AldServed *served, const AldFailure *failure)
{
        json_t *object = json_object();

        set_text(object, "", "peer", served->peer);
        set_text(object, "", "address", served->address);
        set_text(object, "", "interface", served->interface);
        set_number(object, "", "bytes", served->received + served->sent);
        set_number(object, "", "received", served->received);
        set_number(object, "", "sent", served->sent);
        if (served->upload > 0)
                set_number(object, "Upload", "BitsPerSecond", served->upload);
        if (failure->message)
                ald_failure_add_to_json(failure, object);
        return dump(object);
}
