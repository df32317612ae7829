/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/planner-load.h"
#include "state/network.h"

#define USEC_PER_HOUR (UINT64_C(3600) * 1000 * 1000)

/* What a probe transfers, each direction, at the most. */
#define TRANSFER_SECONDS 1.5

/* Attempts within one TTL: beyond, the back-off is longer than that. */
#define ATTEMPTS_MAX 3u

struct AldLoads {
        GHashTable *by_carrier; /* name → AldLoad */
        const AldNetwork *own;
        const AldFabric *fabric; /* or NULL */
        const AldPlannerInput *input;
        AldLoad none;
};

static uint64_t double_known(uint64_t rate, uint64_t other)
{
        if (rate == ALD_ABSENT_UINT64)
                return other == ALD_ABSENT_UINT64 ? 0 : 2 * other;
        return other == ALD_ABSENT_UINT64 ? 2 * rate : rate + other;
}

static uint64_t bytes_at(uint64_t bits_per_second)
{
        return (uint64_t) ((double) bits_per_second / 8 * TRANSFER_SECONDS);
}

uint64_t ald_probe_bytes(
        const AldLinkSocket *row, const AldInterface *source, const AldInterface *sink, const AldLoad *load)
{
        uint64_t speed, measured = 0;

        if (row)
                measured = double_known(row->upload_bits_per_second, row->download_bits_per_second);
        if (measured > 0)
                return bytes_at(measured);
        speed = MIN(source ? source->speed_bits_per_second : ALD_ABSENT_UINT64,
                sink ? sink->speed_bits_per_second : ALD_ABSENT_UINT64);
        if (speed == ALD_ABSENT_UINT64 && load)
                speed = load->rate;
        return bytes_at(double_known(speed, speed));
}

uint64_t ald_rdma_probe_bytes(const AldLinkRdma *row, uint64_t rate)
{
        uint64_t measured = row ? double_known(row->upload_bits_per_second, row->download_bits_per_second)
                                : 0;

        return bytes_at(measured > 0 ? measured : double_known(rate, rate));
}

static const char *carrier_of(const AldNetwork *own, const char *name)
{
        const AldInterface *interface = name ? ald_rows_find(&own->interfaces, name) : NULL;

        return interface ? ald_network_find_carrier(own, interface)->id : name ?: "";
}

static AldLoad *load_of(AldLoads *loads, const char *carrier)
{
        AldLoad *load = g_hash_table_lookup(loads->by_carrier, carrier);

        if (!load) {
                load = g_new(AldLoad, 1);
                *load = loads->none;
                g_hash_table_insert(loads->by_carrier, (gpointer) carrier, load);
        }
        return load;
}

/* What a row of either kind tells. */
typedef struct Row {
        const char *carrier;
        uint64_t upload, download;
        AldAttempts attempts;
        uint64_t bytes; /* of one probe */
} Row;

static Row socket_row(const AldLoads *loads, const AldLinkSocket *row)
{
        return (Row){
                .carrier = carrier_of(loads->own, row->source_interface),
                .upload = row->upload_bits_per_second,
                .download = row->download_bits_per_second,
                .attempts = { row->measured_usec, row->failed_usec, row->failures },
                .bytes = ald_probe_bytes(row, NULL, NULL, NULL),
        };
}

/* An RDMA port loads the interface behind it, or itself where it has none. */
static Row rdma_row(const AldLoads *loads, const AldLinkRdma *row)
{
        const AldRdmaPort *port = loads->fabric && row->source_port
                                          ? ald_rows_find(&loads->fabric->rdma_ports, row->source_port)
                                          : NULL;

        return (Row){
                .carrier = carrier_of(
                        loads->own, port && port->interface ? port->interface : row->source_port),
                .upload = row->upload_bits_per_second,
                .download = row->download_bits_per_second,
                .attempts = { row->measured_usec, row->failed_usec, row->failures },
                .bytes = ald_rdma_probe_bytes(row, ALD_ABSENT_UINT64),
        };
}

/* How long ago the last attempt was. */
static uint64_t age_of(const AldEntry *entry, const AldAttempts *attempts, const AldPlannerInput *input)
{
        uint64_t last = attempts->measured_usec == ALD_ABSENT_UINT64 ? 0 : attempts->measured_usec;

        if (entry->changed > input->started)
                return input->now - MIN(entry->changed, input->now);
        if (attempts->failed_usec != ALD_ABSENT_UINT64)
                last = MAX(last, attempts->failed_usec);
        return last == 0 || last > input->now_realtime ? UINT64_MAX : input->now_realtime - last;
}

static void add_row(AldLoads *loads, const AldEntry *entry, const Row *row)
{
        AldLoad *load = load_of(loads, row->carrier);
        uint64_t attempts = CLAMP(ald_attempts_failures(&row->attempts), 1, ATTEMPTS_MAX);
        uint64_t bytes = attempts * row->bytes;
        uint64_t age = age_of(entry, &row->attempts, loads->input);

        if (row->upload != ALD_ABSENT_UINT64)
                load->rate = MAX(load->rate, row->upload);
        if (row->download != ALD_ABSENT_UINT64)
                load->rate = MAX(load->rate, row->download);
        if (age < ald_planner_ttl(ALD_KIND_LINK_SOCKET))
                load->bytes += bytes;
        if (age < load->last_age) {
                load->last_age = age;
                load->last_bytes = bytes;
        }
}

static void add_entry(AldLoads *loads, const AldEntry *entry)
{
        Row row;

        if (entry->kind == ALD_KIND_LINK_SOCKET)
                row = socket_row(loads, ald_record_as(entry->record, LINK_SOCKET, AldLinkSocket));
        else
                row = rdma_row(loads, ald_record_as(entry->record, LINK_RDMA, AldLinkRdma));
        add_row(loads, entry, &row);
}

AldLoads *ald_loads_new(AldStore *store, const AldNetwork *own, const AldPlannerInput *input)
{
        AldNode *node = ald_store_local_node(store);
        AldLoads *loads = g_new0(AldLoads, 1);

        loads->by_carrier = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
        loads->own = own;
        loads->fabric = ald_record_as(ald_node_record(node, ALD_KIND_FABRIC), FABRIC, AldFabric);
        loads->input = input;
        loads->none.last_age = UINT64_MAX;
        for (AldEntry *entry = ald_node_after(node, NULL); entry; entry = ald_node_after(node, entry))
                if (ald_kinds[entry->kind].is_link && entry->record)
                        add_entry(loads, entry);
        return loads;
}

void ald_loads_free(AldLoads *loads)
{
        g_hash_table_unref(loads->by_carrier);
        g_free(loads);
}

const AldLoad *ald_loads_find(AldLoads *loads, const AldInterface *interface)
{
        return g_hash_table_lookup(loads->by_carrier,
                       interface ? ald_network_find_carrier(loads->own, interface)->id : "")
                       ?: &loads->none;
}

uint64_t ald_load_bytes_per_hour(const AldLoad *load, const AldInterface *interface)
{
        uint64_t speed = interface ? interface->speed_bits_per_second : ALD_ABSENT_UINT64;
        double bytes;

        if (speed == ALD_ABSENT_UINT64)
                speed = load->rate;
        bytes = 2.0 * (double) speed / 8 * 3600 / ALD_PLANNER_SHARE;
        return (uint64_t) CLAMP(bytes, (double) ALD_PLANNER_BYTES_LEAST, (double) ALD_PLANNER_BYTES_MOST);
}

bool ald_load_has_room(const AldLoad *load, uint64_t bytes, uint64_t bytes_per_hour)
{
        double per_usec = (double) bytes_per_hour / (double) USEC_PER_HOUR;
        uint64_t ttl = ald_planner_ttl(ALD_KIND_LINK_SOCKET);

        if ((double) load->bytes + (double) bytes <= per_usec * (double) ttl)
                return true;
        return load->last_age >= ttl && (double) load->last_age * per_usec >= (double) load->last_bytes;
}
