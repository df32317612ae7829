/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>

#include <glib.h>
#include <jansson.h>

#include "probes/rdma/session.h"

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
        g_autofree char *interval = g_strconcat(prefix, "IntervalBitsPerSecond", NULL);
        g_autofree char *bytes = g_strconcat(prefix, "Bytes", NULL);
        g_autofree char *seconds = g_strconcat(prefix, "Seconds", NULL);

        set(object, rate, verdict->bits_per_second);
        set(object, mean, verdict->mean);
        set(object, interval, verdict->interval);
        set(object, bytes, verdict->bytes);
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

char *ald_rdma_result_to_json(const AldRdmaResult *result)
{
        json_t *object = json_object();
        char *dumped, *text;

        set_text(object, "Sink", result->sink);
        set_text(object, "SourcePort", result->source_port);
        set_text(object, "SinkPort", result->sink_port);
        set_gids(object, result);
        set(object, "Mtu", result->mtu);
        set(object, "MessageBytes", result->size);
        set(object, "Depth", result->depth);
        set(object, "QueuePairs", 1);
        set(object, "InlineBytes", result->inline_max);
        set(object, "NegotiatedBitsPerSecond", result->rate);
        set(object, "RttMinNSec", result->rtt.min);
        set(object, "RttP50NSec", result->rtt.p50);
        set(object, "RttP99NSec", result->rtt.p99);
        set(object, "RttSamples", result->rtt.n);
        set(object, "JitterNSec", result->rtt.jitter);
        set(object, "ReadRttP50NSec", result->read.p50);
        set_direction(object, "Upload", &result->upload);
        set_direction(object, "Download", &result->download);
        dumped = json_dumps(object, JSON_COMPACT);
        text = g_strdup(dumped);
        free(dumped);
        json_decref(object);
        return text;
}

char *ald_rdma_result_to_text(const AldRdmaResult *result)
{
        char own[INET6_ADDRSTRLEN] = "", peer[INET6_ADDRSTRLEN] = "";

        inet_ntop(AF_INET6, &result->own_gid.bytes, own, sizeof own);
        inet_ntop(AF_INET6, &result->peer_gid.bytes, peer, sizeof peer);
        return g_strdup_printf(
                "%s (%s) → %s (%s), %s, MTU %u\n"
                "Upload      %.4g Gb/s\nDownload    %.4g Gb/s\n"
                "Round trip  %.4g µs (least %.4g, 99 %% within %.4g), jitter %.3g µs; reads %.4g µs\n",
                result->source_port, own, result->sink_port, peer,
                ald_gid_type_to_string(result->own_gid.type), result->mtu,
                (double) result->upload.bits_per_second / 1e9,
                (double) result->download.bits_per_second / 1e9, (double) result->rtt.p50 / 1e3,
                (double) result->rtt.min / 1e3, (double) result->rtt.p99 / 1e3,
                (double) result->rtt.jitter / 1e3, (double) result->read.p50 / 1e3);
}
