/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/links/link.h"
#include "clients/alidadectl/links/negotiated.h"

#define FAIR_PERCENT 50
#define FAIR_PERCENT_WIFI 25 /* a radio delivers about half of its bit rate at the best of times */

/* Whether "192.0.2.1/24" is that address. */
static bool is_address(const char *with_prefix, const char *address)
{
        size_t length = strcspn(with_prefix, "/");

        return strlen(address) == length && strncmp(with_prefix, address, length) == 0;
}

static json_t *interface_with(json_t *interfaces, const char *address)
{
        size_t i, k;
        json_t *row, *item;

        json_array_foreach(interfaces, i, row)
                json_array_foreach(ald_field_array(row, "Addresses"), k, item) {
                        if (json_is_string(item) && is_address(json_string_value(item), address))
                                return row;
                }
        return NULL;
}

static bool is_wifi(const char *type)
{
        return type && strcmp(type, "wifi") == 0;
}

static void heed_sink(AldNegotiated *negotiated, const json_t *fields, const AldEntity *sink, bool rdma)
{
        json_t *ports = ald_field_array(ald_entity_record(sink, "Node1.Fabric"), "RdmaPorts");
        json_t *interfaces = ald_field_array(ald_entity_record(sink, "Node1.Network"), "Interfaces");
        const char *address = ald_field_text(fields, "SinkAddress");
        json_t *row;

        if (rdma) {
                row = ald_row_by_id(ports, ald_field_text(fields, "SinkPort"));
                negotiated->rate = fmin(negotiated->rate, ald_link_amount(row, "RateBitsPerSecond"));
                return;
        }
        row = address ? interface_with(interfaces, address) : NULL;
        negotiated->rate = fmin(negotiated->rate, ald_link_amount(row, "SpeedBitsPerSecond"));
        negotiated->wifi |= is_wifi(ald_field_text(row, "Type"));
}

AldNegotiated ald_negotiated_of(const json_t *fields, const AldEntity *sink, bool rdma)
{
        AldNegotiated negotiated = {
                .rate = ald_link_amount(fields, "NegotiatedBitsPerSecond"),
                .wifi = !rdma && (is_wifi(ald_field_text(fields, "SourceInterfaceType")) ||
                                         is_wifi(ald_field_text(fields, "SinkInterfaceType"))),
        };

        /* What only the sink tells is no more than a bound: the findings leave such links alone as well. */
        if (!isnan(negotiated.rate))
                heed_sink(&negotiated, fields, sink, rdma);
        return negotiated;
}

double ald_negotiated_share(const AldNegotiated *negotiated, double upload, double download)
{
        double rate = fmin(upload, download);

        return negotiated->rate > 0 ? rate / negotiated->rate * 100 : (double) NAN;
}

bool ald_negotiated_falls_short(const AldNegotiated *negotiated, double upload, double download)
{
        return ald_negotiated_share(negotiated, upload, download) <
               (negotiated->wifi ? FAIR_PERCENT_WIFI : FAIR_PERCENT);
}
