/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "state/link/link-quality.h"
#include "state/link/link.h"
#include "state/link/path-end.h"

#define DATA_PORTS "; data connections use TCP ports "

#define FAIR_SHARE 0.5
#define FAIR_SHARE_WIFI 0.25 /* a radio delivers about half of its bit rate at best */

AldLink ald_link_of_record(const AldRecord *record)
{
        const AldLinkBase *base = record->kind == ALD_KIND_LINK_RDMA
                                          ? &ald_record_as(record, LINK_RDMA, AldLinkRdma)->base
                                          : &ald_record_as(record, LINK_SOCKET, AldLinkSocket)->base;
        AldLink link = {
                .directions = { base->upload, base->download },
                .flags = base->flags,
                .rtt_p50_nsec = base->rtt_p50_nsec,
                .negotiated_bits_per_second = base->negotiated_bits_per_second,
                .measured_usec = base->measured_usec,
                .failure = base->failure,
                .failed_usec = base->failed_usec,
        };

        if (record->kind == ALD_KIND_LINK_RDMA) {
                const AldLinkRdma *rdma = ald_record_as(record, LINK_RDMA, AldLinkRdma);

                link.from = rdma->source_port;
                link.to = rdma->sink_port;
                link.rdma = true;
                link.rtt_measured_usec = ALD_ABSENT_UINT64;
        } else {
                const AldLinkSocket *socket = ald_record_as(record, LINK_SOCKET, AldLinkSocket);

                link.from = socket->source_interface;
                link.to = socket->sink_address;
                link.source_type = socket->source_interface_type;
                link.sink_type = socket->sink_interface_type;
                link.rtt_measured_usec = socket->rtt_measured_usec;
        }
        if (base->source)
                (void) ald_id_parse(base->source, &link.source);
        if (base->sink)
                (void) ald_id_parse(base->sink, &link.sink);
        return link;
}

AldLink ald_link_of(const AldEntry *entry)
{
        AldLink link = ald_link_of_record(entry->record);
        static const AldId none;

        link.source = entry->node->id;
        /* The store refuses links whose sink differs from the sink in the key. */
        g_assert(!ald_id_equal(&link.sink, &none));
        return link;
}

void ald_link_add_sink(AldLink *link, const AldNetwork *network, const AldFabric *fabric)
{
        uint64_t speed = link->negotiated_bits_per_second;

        if (link->rdma) {
                const AldRdmaPort *port = fabric && link->to ? ald_rows_find(&fabric->rdma_ports, link->to)
                                                             : NULL;

                if (port)
                        link->negotiated_bits_per_second = ald_path_speed(speed, port->rate_bits_per_second);
        } else if (!link->sink_type && link->to) {
                AldPathEnd end = ald_path_end_find(network, NULL, NULL, link->to);

                link->negotiated_bits_per_second = ald_path_speed(speed, end.bits_per_second);
                link->sink_type = end.type;
        }
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
        if (!ald_link_has_rate(link->directions))
                return false;
        return link->failed_usec == ALD_ABSENT_UINT64 ||
               (link->measured_usec != ALD_ABSENT_UINT64 && link->measured_usec >= link->failed_usec);
}

static bool is_port(unsigned number)
{
        return number >= 1 && number <= G_MAXUINT16;
}

/* Returns whether the sink or the way there refused, rather than this machine being unable to send. */
static bool is_refused_by_sink(const char *failure)
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

        if (!failure || sscanf(failure, "%*63s port %5u:", &first) != 1 || !is_refused_by_sink(failure))
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

bool ald_link_direction_falls_short(const AldLink *link, const AldLinkDirection *direction)
{
        const char *type = ald_path_type(link->source_type, link->sink_type);
        bool wifi = g_strcmp0(type, ald_interface_type_to_string(ALD_INTERFACE_TYPE_WIFI)) == 0;
        double share = wifi ? FAIR_SHARE_WIFI : FAIR_SHARE;

        return direction->bits_per_second != ALD_ABSENT_UINT64 &&
               link->negotiated_bits_per_second != ALD_ABSENT_UINT64 &&
               ald_link_rate_most(direction->bits_per_second, direction->interval) <
                       share * (double) link->negotiated_bits_per_second;
}

bool ald_link_falls_short(const AldLink *link)
{
        return ald_link_direction_falls_short(link, &link->upload) ||
               ald_link_direction_falls_short(link, &link->download);
}
