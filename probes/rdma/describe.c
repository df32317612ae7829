/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>

#include <glib.h>
#include <jansson.h>

#include "probes/common/failure-json.h"
#include "probes/rdma/session.h"

/*
 * The members of a result:
 *   Sink, SinkAddress             node id (not with a shared key), address of the control connection
 *   SourcePort, SinkPort          "mlx5_0.1"
 *   SourceGid, SinkGid, SourceGidIndex, SinkGidIndex, GidType    where GIDs were chosen; ib, rocev1, rocev2
 *   ConnectedBy                   "verbs" or "rdma_cm"
 *   Operation                     "write" (with immediate) or "send"
 *   Mtu, MessageBytes, Depth, QueuePairs, InlineBytes            Depth of each queue pair
 *   NumaNode                      of the memory, where it is known
 *   NegotiatedBitsPerSecond       of the source port, where it is known
 *   RttMinNSec, RttP50NSec, RttP99NSec, RttSamples, JitterNSec, ReadRttP50NSec
 *   UploadBitsPerSecond, UploadMeanBitsPerSecond, UploadBytes, UploadBins, UploadSeconds,
 *   UploadInterval, UploadIntervalBitsPerSecond    half of the 95 % interval, in percent and bits/s
 *   UploadSpread                  standard deviation of the bins in percent of their mean
 *                                 and the same of Download
 *   MeasuredUSec, Method
 * Of a failure: error (its kind), message. Of a session: peer, address, port, bytes, received, sent, and
 * those.
 */

#define METHOD "rdma; mean at the receiver's completions from arrival to arrival, without outliers"

static void set(json_t *object, const char *key, uint64_t value)
{
        json_object_set_new(object, key, json_integer((json_int_t) MIN(value, (uint64_t) INT64_MAX)));
}

static void set_text(json_t *object, const char *key, const char *text)
{
        if (*text)
                json_object_set_new(object, key, json_string(text));
}

static void set_direction(json_t *object, const char *prefix, const AldVerdict *verdict)
{
        g_autofree char *rate = g_strconcat(prefix, "BitsPerSecond", NULL);
        g_autofree char *mean = g_strconcat(prefix, "MeanBitsPerSecond", NULL);
        g_autofree char *interval = g_strconcat(prefix, "Interval", NULL);
        g_autofree char *absolute = g_strconcat(prefix, "IntervalBitsPerSecond", NULL);
        g_autofree char *spread = g_strconcat(prefix, "Spread", NULL);
        g_autofree char *bytes = g_strconcat(prefix, "Bytes", NULL);
        g_autofree char *bins = g_strconcat(prefix, "Bins", NULL);
        g_autofree char *seconds = g_strconcat(prefix, "Seconds", NULL);

        set(object, rate, verdict->bits_per_second);
        set(object, mean, verdict->mean);
        if (verdict->interval > 0 && verdict->bits_per_second > 0) {
                set(object, absolute, verdict->interval);
                json_object_set_new(object, interval,
                        json_real(100 * (double) verdict->interval / (double) verdict->bits_per_second));
        }
        if (verdict->spread.known)
                json_object_set_new(object, spread, json_real((double) verdict->spread.value / 1e4));
        set(object, bytes, verdict->bytes);
        set(object, bins, verdict->bins);
        json_object_set_new(object, seconds, json_real((double) verdict->nsec / 1e9));
}

static void set_gids(json_t *object, const AldRdmaResult *result)
{
        char text[INET6_ADDRSTRLEN];

        if (!result->has_gid)
                return;
        set_text(object, "SourceGid", inet_ntop(AF_INET6, &result->own_gid.bytes, text, sizeof text));
        set_text(object, "SinkGid", inet_ntop(AF_INET6, &result->peer_gid.bytes, text, sizeof text));
        set_text(object, "GidType", ald_gid_type_to_string(result->own_gid.type));
        set(object, "SourceGidIndex", result->own_gid.index);
        set(object, "SinkGidIndex", result->peer_gid.index);
}

static char *dump(json_t *object)
{
        char *dumped = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(9)), *text = g_strdup(dumped);

        free(dumped);
        json_decref(object);
        return text;
}

static void set_way(json_t *object, const AldRdmaResult *result)
{
        set_text(object, "ConnectedBy", result->manager ? "rdma_cm" : "verbs");
        set_text(object, "Operation", ald_rdma_method_to_string(result->plan.method));
        set(object, "Mtu", result->mtu);
        set(object, "MessageBytes", result->plan.size);
        set(object, "Depth", result->plan.depth);
        set(object, "QueuePairs", result->plan.queues);
        set(object, "InlineBytes", result->inline_max);
        if (result->node >= 0)
                set(object, "NumaNode", (uint64_t) result->node);
        if (result->rate > 0)
                set(object, "NegotiatedBitsPerSecond", result->rate);
}

char *ald_rdma_result_to_json(const AldRdmaResult *result)
{
        json_t *object = json_object();

        set_text(object, "Sink", result->sink);
        set_text(object, "SinkAddress", result->sink_address);
        set_text(object, "SourcePort", result->source_port);
        set_text(object, "SinkPort", result->sink_port);
        set_gids(object, result);
        set_way(object, result);
        set(object, "RttMinNSec", result->rtt.min);
        set(object, "RttP50NSec", result->rtt.p50);
        set(object, "RttP99NSec", result->rtt.p99);
        set(object, "RttSamples", result->rtt.n);
        set(object, "JitterNSec", result->rtt.jitter);
        set(object, "ReadRttP50NSec", result->read.p50);
        set_direction(object, "Upload", &result->upload);
        set_direction(object, "Download", &result->download);
        set(object, "MeasuredUSec", result->measured);
        set_text(object, "Method", METHOD);
        return dump(object);
}

char *ald_rdma_served_to_json(const AldRdmaServed *served, const AldFailure *failure)
{
        json_t *object = json_object();

        set_text(object, "peer", served->peer);
        set_text(object, "address", served->address);
        set_text(object, "port", served->port);
        set(object, "bytes", served->received + served->sent);
        set(object, "received", served->received);
        set(object, "sent", served->sent);
        if (failure->message)
                ald_failure_add_to_json(failure, object);
        return dump(object);
}

static char *rate_text(const AldVerdict *verdict)
{
        double rate = (double) verdict->bits_per_second;

        if (verdict->interval == 0)
                return g_strdup_printf("%.4g Gb/s", rate / 1e9);
        return g_strdup_printf("%.4g Gb/s ±%.1f %%", rate / 1e9, 100 * (double) verdict->interval / rate);
}

char *ald_rdma_result_to_text(const AldRdmaResult *result)
{
        g_autofree char *upload = rate_text(&result->upload), *download = rate_text(&result->download);
        char own[INET6_ADDRSTRLEN] = "", peer[INET6_ADDRSTRLEN] = "";
        bool gids = result->has_gid;

        inet_ntop(AF_INET6, &result->own_gid.bytes, own, sizeof own);
        inet_ntop(AF_INET6, &result->peer_gid.bytes, peer, sizeof peer);

        return g_strdup_printf(
                "%s%s%s → %s%s%s, %s, MTU %u, %u queue pair%s, %s of %zu KiB\n"
                "Upload      %s\nDownload    %s\n"
                "Round trip  %.4g µs (least %.4g, 99 %% within %.4g), jitter %.3g µs; reads %.4g µs\n",
                result->source_port, gids ? " by " : "", gids ? own : "", result->sink_port,
                gids ? " by " : "", gids ? peer : "",
                gids ? ald_gid_type_to_string(result->own_gid.type) : "rdma_cm", result->mtu,
                result->plan.queues, result->plan.queues == 1 ? "" : "s",
                ald_rdma_method_to_string(result->plan.method), result->plan.size >> 10, upload, download,
                (double) result->rtt.p50 / 1e3, (double) result->rtt.min / 1e3,
                (double) result->rtt.p99 / 1e3, (double) result->rtt.jitter / 1e3,
                (double) result->read.p50 / 1e3);
}

char *ald_rdma_served_to_text(const AldRdmaServed *served, const AldFailure *failure)
{
        if (failure->message)
                return g_strdup_printf(
                        "%s: %s", *served->address ? served->address : "no session", failure->message);
        return g_strdup_printf("%s: %.4g GB from there, %.4g GB back, by %s", served->address,
                (double) served->received / 1e9, (double) served->sent / 1e9, served->port);
}
