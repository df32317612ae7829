/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "state/link.h"

/* Both structs name these members alike. */
#define COMMON_MEMBERS(link)                                                                        \
        .upload_bits_per_second = (link)->upload_bits_per_second,                                   \
        .download_bits_per_second = (link)->download_bits_per_second,                               \
        .upload_interval = (link)->upload_interval, .download_interval = (link)->download_interval, \
        .upload_spread = (link)->upload_spread, .download_spread = (link)->download_spread,         \
        .flags = (link)->flags, .rtt_p50_nsec = (link)->rtt_p50_nsec,                               \
        .negotiated_bits_per_second = (link)->negotiated_bits_per_second,                           \
        .measured_usec = (link)->measured_usec, .failure = (link)->failure,                         \
        .failed_usec = (link)->failed_usec

static AldLink socket_link(const AldRecord *record, const char **ret_sink)
{
        const AldLinkSocket *socket = ald_record_as(record, LINK_SOCKET, AldLinkSocket);

        *ret_sink = socket->sink;
        return (AldLink){
                COMMON_MEMBERS(socket),
                .from = socket->source_interface,
                .to = socket->sink_address,
                .source_type = socket->source_interface_type,
                .sink_type = socket->sink_interface_type,
                .upload_limiter = socket->upload_limiter,
                .download_limiter = socket->download_limiter,
        };
}

static AldLink rdma_link(const AldRecord *record, const char **ret_sink)
{
        const AldLinkRdma *rdma = ald_record_as(record, LINK_RDMA, AldLinkRdma);

        *ret_sink = rdma->sink;
        return (AldLink){
                COMMON_MEMBERS(rdma),
                .from = rdma->source_port,
                .to = rdma->sink_port,
                .rdma = true,
        };
}

AldLink ald_link_of(const AldEntry *entry)
{
        const char *sink;
        AldLink link = entry->kind == ALD_KIND_LINK_RDMA ? rdma_link(entry->record, &sink)
                                                         : socket_link(entry->record, &sink);
        int r;

        link.source = entry->node->id;
        r = sink ? ald_id_parse(sink, &link.sink) : -EINVAL;
        g_assert(r == 0); /* The store takes no link whose sink is not that of its key. */
        return link;
}
