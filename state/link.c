/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "state/link-quality.h"
#include "state/link.h"
#include "state/topology/path-end.h"

#define DATA_PORTS "; data connections use TCP ports "

#define FAIR_SHARE 0.5
#define FAIR_SHARE_WIFI 0.25 /* a radio delivers about half of its bit rate at the best of times */

/* Both structs name these members alike. */
#define COMMON_MEMBERS(link)                                                            \
        .upload = (link)->upload, .download = (link)->download, .flags = (link)->flags, \
        .rtt_p50_nsec = (link)->rtt_p50_nsec,                                           \
        .negotiated_bits_per_second = (link)->negotiated_bits_per_second,               \
        .measured_usec = (link)->measured_usec, .failure = (link)->failure,             \
        .failed_usec = (link)->failed_usec

static AldLink socket_link(const AldRecord *record, const char **ret_source, const char **ret_sink)
{
        const AldLinkSocket *socket = ald_record_as(record, LINK_SOCKET, AldLinkSocket);

        *ret_source = socket->source;
        *ret_sink = socket->sink;
        return (AldLink){
                COMMON_MEMBERS(socket),
                .from = socket->source_interface,
                .to = socket->sink_address,
                .source_type = socket->source_interface_type,
                .sink_type = socket->sink_interface_type,
                .rtt_measured_usec = socket->rtt_measured_usec,
        };
}

static AldLink rdma_link(const AldRecord *record, const char **ret_source, const char **ret_sink)
{
        const AldLinkRdma *rdma = ald_record_as(record, LINK_RDMA, AldLinkRdma);

        *ret_source = rdma->source;
        *ret_sink = rdma->sink;
        return (AldLink){
                COMMON_MEMBERS(rdma),
                .from = rdma->source_port,
                .to = rdma->sink_port,
                .rdma = true,
                .rtt_measured_usec = ALD_ABSENT_UINT64,
        };
}

AldLink ald_link_of_record(const AldRecord *record)
{
        const char *source, *sink;
        AldLink link = record->kind == ALD_KIND_LINK_RDMA ? rdma_link(record, &source, &sink)
                                                          : socket_link(record, &source, &sink);

        if (source)
                (void) ald_id_parse(source, &link.source);
        if (sink)
                (void) ald_id_parse(sink, &link.sink);
        return link;
}

AldLink ald_link_of(const AldEntry *entry)
{
        AldLink link = ald_link_of_record(entry->record);
        static const AldId none;

        link.source = entry->node->id;
        /* The store refuses links whose sink differs from that of the key. */
        g_assert(!ald_id_equal(&link.sink, &none));
        return link;
}

static void add_sink_port(AldLink *link, const AldFabric *fabric)
{
        const AldRdmaPort *port = fabric && link->to ? ald_rows_find(&fabric->rdma_ports, link->to) : NULL;

        if (port)
                link->negotiated_bits_per_second = ald_path_speed(
                        link->negotiated_bits_per_second, port->rate_bits_per_second);
}

static void add_sink_interface(AldLink *link, const AldNetwork *network)
{
        AldPathEnd end;

        if (link->sink_type || !link->to)
                return;
        end = ald_path_end_find(network, NULL, NULL, link->to);
        link->negotiated_bits_per_second = ald_path_speed(
                link->negotiated_bits_per_second, end.bits_per_second);
        link->sink_type = end.type;
}

void ald_link_add_sink(AldLink *link, const AldNetwork *network, const AldFabric *fabric)
{
        if (link->rdma)
                add_sink_port(link, fabric);
        else
                add_sink_interface(link, network);
}

static bool path_is_wifi(const AldLink *link)
{
        return g_strcmp0(ald_path_type(link->source_type, link->sink_type),
                       ald_interface_type_to_string(ALD_INTERFACE_TYPE_WIFI)) == 0;
}

bool ald_attempt_has_failed(uint64_t measured_usec, uint64_t failed_usec, const char *failure)
{
        bool failed = failed_usec != ALD_ABSENT_UINT64;

        if (measured_usec == ALD_ABSENT_UINT64)
                return failure || failed;
        return failed && failed_usec > measured_usec;
}

bool ald_link_has_failed(const AldLink *link)
{
        return ald_attempt_has_failed(link->measured_usec, link->failed_usec, link->failure);
}

bool ald_link_reaches_sink(const AldLink *link)
{
        if (link->upload.bits_per_second == ALD_ABSENT_UINT64 &&
                link->download.bits_per_second == ALD_ABSENT_UINT64)
                return false;
        return link->failed_usec == ALD_ABSENT_UINT64 ||
               (link->measured_usec != ALD_ABSENT_UINT64 && link->measured_usec >= link->failed_usec);
}

static bool is_port(unsigned number)
{
        return number >= 1 && number <= G_MAXUINT16;
}

/* Rather than that this machine could not send anything there. */
static bool is_refused_there(const char *failure)
{
        static const char *const reasons[] = { ": nothing listens there", ": no answer", ": No route to host",
                ": Connection timed out" };

        for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++)
                if (strstr(failure, reasons[i]))
                        return true;
        return false;
}

bool ald_link_closed_ports(const char *failure, uint64_t *ret_first, uint64_t *ret_last)
{
        const char *data;
        unsigned first, last;

        if (!failure || sscanf(failure, "%*63s port %5u:", &first) != 1 || !is_refused_there(failure))
                return false;
        last = first;
        data = strstr(failure, DATA_PORTS);
        if ((data && sscanf(data, DATA_PORTS "%5u to %5u", &first, &last) != 2) || !is_port(first) ||
                !is_port(last))
                return false;
        *ret_first = first;
        *ret_last = last;
        return true;
}

static bool falls_short(const AldLink *link, uint64_t rate, double interval)
{
        double share = path_is_wifi(link) ? FAIR_SHARE_WIFI : FAIR_SHARE;

        return rate != ALD_ABSENT_UINT64 && link->negotiated_bits_per_second != ALD_ABSENT_UINT64 &&
               ald_link_rate_most(rate, interval) < share * (double) link->negotiated_bits_per_second;
}

bool ald_link_upload_falls_short(const AldLink *link)
{
        return falls_short(link, link->upload.bits_per_second, link->upload.interval);
}

bool ald_link_download_falls_short(const AldLink *link)
{
        return falls_short(link, link->download.bits_per_second, link->download.interval);
}

bool ald_link_falls_short(const AldLink *link)
{
        return ald_link_upload_falls_short(link) || ald_link_download_falls_short(link);
}
