/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/format.h"
#include "clients/alidadectl/links/link.h"
#include "clients/alidadectl/links/negotiated.h"
#include "clients/alidadectl/seen.h"
#include "clients/alidadectl/text.h"

#define KIND_SOCKET "Link1.Socket"
#define KIND_RDMA "Link1.Rdma"
#define AMOUNT_MAX 1e18
#define SHORT_ID_LENGTH 8

/* As the findings have it. */
#define UNEVEN 2.0

/* Prefix of the reason if one direction could not be measured. */
#define PARTIAL "partial: "

/* How long a result is fresh where its record does not say it, and how peers take turns in a big cluster; see
 * GetDueProbes(). */
#define SOCKET_TTL_USEC (5 * 60e6)
#define RDMA_TTL_USEC (6 * 3600e6)
#define TURNS_FROM_NODES 64
#define PEERS_AT_A_TURN 16

void ald_link_info_free(AldLinkInfo *info)
{
        if (!info)
                return;
        g_free(info->source_id);
        g_free(info->sink_id);
        g_free(info->source);
        g_free(info->sink);
        g_free(info->path);
        g_free(info->interface);
        g_free(info->type);
        g_free(info->failure);
        g_free(info->changed);
        g_free(info->other);
        g_free(info->sort_key);
        g_free(info);
}

double ald_link_amount(const json_t *fields, const char *name)
{
        double value = ald_field_number(fields, name);

        return value >= 0 && value <= AMOUNT_MAX ? value : (double) NAN;
}

bool ald_link_is_uneven(double rate, double other)
{
        return fmax(rate, other) > UNEVEN * fmin(rate, other) && !isnan(rate) && !isnan(other);
}

double ald_link_other_traffic(const json_t *fields)
{
        return fmax(ald_link_amount(fields, "UploadOtherBitsPerSecond"),
                ald_link_amount(fields, "DownloadOtherBitsPerSecond"));
}

bool ald_link_has_flag(const json_t *fields, const char *flag)
{
        const json_t *item;
        size_t i;

        json_array_foreach(ald_field_array(fields, "Flags"), i, item)
                if (json_is_string(item) && strcmp(json_string_value(item), flag) == 0)
                        return true;
        return false;
}

/* An interval is never 0; one above 100 % carries no more information than 100 %. */
char *ald_link_interval_text(double percent)
{
        if (!(percent > 0))
                return g_strdup(ALD_ABSENT_TEXT);
        if (percent > 100)
                return g_strdup("±>100 %");
        return percent < 0.1 ? g_strdup("±<0.1 %")
                             : g_strdup_printf("±%.*f %%", percent < 9.95 ? 1 : 0, percent);
}

char *ald_link_node_name(AldModel *model, const char *id)
{
        const AldEntity *node = ald_model_get(model, id);
        g_autofree char *safe = node || !id ? NULL : ald_text_safe(id);

        if (node)
                return g_strdup(node->label);
        return safe ? g_utf8_substring(safe, 0, MIN(g_utf8_strlen(safe, -1), SHORT_ID_LENGTH)) : NULL;
}

static char *safe_field(const json_t *fields, const char *name)
{
        const char *text = ald_field_text(fields, name);

        return text ? ald_text_safe(text) : NULL;
}

/* What follows the id of the sink in the key of a socket link. */
static const char *address_in_key(const AldEntity *link)
{
        const char *comma = strchr(link->id, ',');

        return comma ? comma + 1 : ALD_ABSENT_TEXT;
}

static char *describe_path(const AldLinkInfo *info, const AldEntity *link, const json_t *fields)
{
        g_autofree char *from = safe_field(fields, "SourcePort"), *to = safe_field(fields, "SinkPort");
        g_autofree char *address = safe_field(fields, "SinkAddress");

        if (info->rdma)
                return g_strdup_printf("%s → %s", from ? from : ALD_ABSENT_TEXT, to ? to : ALD_ABSENT_TEXT);
        if (!address)
                address = ald_text_safe(address_in_key(link));
        /* The same link-local address may be found behind each interface. */
        if (g_str_has_prefix(address, "fe80:") && info->interface && !strchr(address, '%'))
                return g_strdup_printf("%s%%%s", address, info->interface);
        return g_steal_pointer(&address);
}

static char *sink_of(const AldEntity *link, const json_t *fields)
{
        const char *sink = ald_field_text(fields, "Sink"), *key = strchr(link->id, '/') + 1;

        return sink ? g_strdup(sink) : g_strndup(key, strcspn(key, ","));
}

/* Who is not measured in a whole turn more than there is time for was left out. */
static double stale_after(bool rdma, const json_t *fields, unsigned n_nodes)
{
        double turns = n_nodes < TURNS_FROM_NODES ? 1 : ceil((double) n_nodes / PEERS_AT_A_TURN);
        double ttl = ald_link_amount(fields, "TimeToLiveUSec");

        if (isnan(ttl))
                ttl = rdma ? RDMA_TTL_USEC : SOCKET_TTL_USEC;
        return (turns + 1) * ttl;
}

static bool has_failed(const AldLinkInfo *info, const json_t *fields)
{
        double failed = ald_link_amount(fields, "FailedUSec");

        if (isnan(info->measured))
                return info->failure || !isnan(failed);
        return failed > info->measured;
}

/* The upper end of the confidence interval of a rate. */
static double greatest(double rate, double interval)
{
        return isnan(interval) ? rate : rate * (1 + interval / 100);
}

static AldLinkVerdict judge(
        AldLinkInfo *info, const json_t *fields, AldModel *model, const AldNegotiated *negotiated)
{
        if (info->gone)
                return ALD_LINK_NODE_GONE;
        if (has_failed(info, fields))
                return ALD_LINK_FAILED;
        if (isnan(info->measured))
                return ALD_LINK_UNMEASURED;
        if (info->now - info->measured > stale_after(info->rdma, fields, ald_model_nodes(model)->len))
                return ALD_LINK_STALE;
        if (ald_link_has_flag(fields, "disturbed"))
                return ALD_LINK_DISTURBED;
        if (info->failure && g_str_has_prefix(info->failure, PARTIAL))
                return ALD_LINK_PARTIAL;
        if (info->changed)
                return ALD_LINK_CHANGED;
        if (ald_negotiated_falls_short(negotiated, greatest(info->upload, info->upload_interval),
                    greatest(info->download, info->download_interval)))
                return ALD_LINK_SLOW;
        return ald_link_has_flag(fields, "unsteady") ? ALD_LINK_UNSTEADY : ALD_LINK_OK;
}

/* Made once, since there may be as many links as nodes times nodes. */
static char *make_sort_key(const AldLinkInfo *info)
{
        g_autofree char *source = g_utf8_collate_key_for_filename(info->source, -1);
        g_autofree char *sink = g_utf8_collate_key_for_filename(info->sink, -1);
        g_autofree char *path = g_utf8_collate_key_for_filename(info->path, -1);

        return g_strdup_printf("%s\n%s\n%d%s", source, sink, info->rdma, path);
}

/* "ethernet", "wifi 6", "thunderbolt 4" */
static char *describe_end(const char *type, double generation)
{
        return type && !isnan(generation) ? g_strdup_printf("%s %.0f", type, generation) : g_strdup(type);
}

/* The type of the source's interface; both types if the sink's differs or is unknown: "ethernet → wifi". */
static char *describe_type(const json_t *fields)
{
        g_autofree char *source = safe_field(fields, "SourceInterfaceType");
        g_autofree char *sink = safe_field(fields, "SinkInterfaceType");
        double from = ald_link_amount(fields, "SourceInterfaceGeneration");
        double to = ald_link_amount(fields, "SinkInterfaceGeneration");
        g_autofree char *here = NULL, *there = NULL;

        if (!source && !sink)
                return NULL;
        /* Assume one generation for both ends unless the record gives two. */
        if (g_strcmp0(source, sink) == 0 && (isnan(from) || isnan(to) || from == to))
                return describe_end(source, isnan(from) ? to : from);
        here = describe_end(source, from);
        there = describe_end(sink, to);
        return g_strdup_printf("%s → %s", here ? here : ALD_ABSENT_TEXT, there ? there : ALD_ABSENT_TEXT);
}

static char *describe_transport(const json_t *fields)
{
        char *transport = safe_field(fields, "Transport");

        return transport ? transport : g_strdup("rdma");
}

/* Over RDMA the one behind the port, or the port where it needs none. */
static char *interface_of(AldModel *model, const AldLinkInfo *info, const json_t *fields)
{
        json_t *ports;
        const char *port;
        char *interface;

        if (!info->rdma)
                return safe_field(fields, "SourceInterface");
        ports = ald_field_array(
                ald_entity_record(ald_model_get(model, info->source_id), "Node1.Fabric"), "RdmaPorts");
        port = ald_field_text(fields, "SourcePort");
        interface = safe_field(ald_row_by_id(ports, port), "Interface");
        return interface ? interface : safe_field(fields, "SourcePort");
}

static AldLinkInfo *info_new(
        AldModel *model, const AldEntity *link, const char *kind, const json_t *fields, double now_usec)
{
        AldLinkInfo *info = g_new0(AldLinkInfo, 1);
        AldNegotiated negotiated;

        info->rdma = strcmp(kind, KIND_RDMA) == 0;
        info->source_id = g_strndup(link->id, strcspn(link->id, "/"));
        info->sink_id = sink_of(link, fields);
        info->source = ald_link_node_name(model, info->source_id);
        info->sink = ald_link_node_name(model, info->sink_id);
        info->interface = interface_of(model, info, fields);
        info->type = info->rdma ? describe_transport(fields) : describe_type(fields);
        info->path = describe_path(info, link, fields);
        info->upload = ald_link_amount(fields, "UploadBitsPerSecond");
        info->download = ald_link_amount(fields, "DownloadBitsPerSecond");
        info->upload_interval = ald_link_amount(fields, "UploadInterval");
        info->download_interval = ald_link_amount(fields, "DownloadInterval");
        if (!isnan(ald_link_other_traffic(fields)))
                info->other = ald_format_bits_per_second(ald_link_other_traffic(fields));
        info->rtt = ald_link_amount(fields, "RttP50NSec");
        info->jitter = ald_link_amount(fields, "JitterNSec");
        info->measured = ald_link_amount(fields, "MeasuredUSec");
        info->now = ald_node_now(ald_model_get(model, info->source_id), now_usec);
        info->failure = safe_field(fields, "Failure");
        info->changed = safe_field(fields, "Changed");
        info->gone = ald_node_gone(model, ald_model_get(model, info->source_id));
        if (!info->gone)
                info->gone = ald_node_gone(model, ald_model_get(model, info->sink_id));
        negotiated = ald_negotiated_of(fields, ald_model_get(model, info->sink_id), info->rdma);
        info->share = ald_negotiated_share(&negotiated, info->upload, info->download);
        info->verdict = judge(info, fields, model, &negotiated);
        info->sort_key = make_sort_key(info);
        return info;
}

static int compare_infos(const void *a, const void *b)
{
        const AldLinkInfo *const *x = a, *const *y = b;

        return strcmp((*x)->sort_key, (*y)->sort_key);
}

GPtrArray *ald_link_infos(AldModel *model, const AldEntity *node, double now_usec)
{
        GPtrArray *infos = g_ptr_array_new_with_free_func((GDestroyNotify) ald_link_info_free);
        const GPtrArray *links = ald_model_links(model);

        for (guint i = 0; i < links->len; i++) {
                const AldEntity *link = links->pdata[i];
                const char *kind;
                json_t *fields;

                json_object_foreach(link->records, kind, fields) {
                        g_autoptr(AldLinkInfo) info = NULL;

                        if (strcmp(kind, KIND_SOCKET) != 0 && strcmp(kind, KIND_RDMA) != 0)
                                continue;
                        info = info_new(model, link, kind, fields, now_usec);
                        if (!node || strcmp(info->source_id, node->id) == 0 ||
                                strcmp(info->sink_id, node->id) == 0)
                                g_ptr_array_add(infos, g_steal_pointer(&info));
                }
        }
        g_ptr_array_sort(infos, compare_infos);
        return infos;
}

char *ald_link_verdict_text(const AldLinkInfo *info)
{
        g_autofree char *share = NULL;

        switch (info->verdict) {
        case ALD_LINK_OK:
                return g_strdup(ALD_STYLE_GOOD "ok" ALD_STYLE_NORMAL);
        case ALD_LINK_UNMEASURED:
                return g_strdup(ALD_STYLE_DIM "not measured" ALD_STYLE_NORMAL);
        case ALD_LINK_SLOW:
                share = ald_format_percent(info->share);
                return g_strdup_printf(ALD_STYLE_WARNING "%s of negotiated" ALD_STYLE_NORMAL, share);
        case ALD_LINK_UNSTEADY:
                return g_strdup(ALD_STYLE_WARNING "unsteady" ALD_STYLE_NORMAL);
        case ALD_LINK_CHANGED:
                return g_strdup_printf(ALD_STYLE_WARNING "changed: %s" ALD_STYLE_NORMAL, info->changed);
        case ALD_LINK_PARTIAL:
                return g_strdup_printf(ALD_STYLE_WARNING "%s" ALD_STYLE_NORMAL, info->failure);
        case ALD_LINK_DISTURBED:
                return g_strdup_printf(ALD_STYLE_WARNING "disturbed%s%s" ALD_STYLE_NORMAL,
                        info->other ? " by " : "", info->other ? info->other : "");
        case ALD_LINK_STALE:
                return g_strdup(ALD_STYLE_WARNING "stale" ALD_STYLE_NORMAL);
        case ALD_LINK_NODE_GONE:
                return g_strdup_printf(ALD_STYLE_ERROR "node %s" ALD_STYLE_NORMAL, info->gone);
        case ALD_LINK_FAILED:
        default:
                return g_strdup_printf(ALD_STYLE_ERROR "failed%s%s" ALD_STYLE_NORMAL,
                        info->failure ? ": " : "", info->failure ? info->failure : "");
        }
}
