/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "record/record-key.h"
#include "state/link/interface-roles.h"
#include "state/link/probe-bytes.h"
#include "state/planner/probe-load.h"

#define USEC_PER_HOUR (UINT64_C(3600) * 1000 * 1000)

#define CHECKS_PER_HOUR (USEC_PER_HOUR / ALD_LINK_CHECK_USEC)

/* An interface and its load. Node and carrier point into records. */
typedef struct Place {
        const AldNode *node;
        const char *carrier; /* "" if it is not known */
        AldLoad load;
} Place;

/* Two interfaces over which several rows may lead. Only the path that was measured last is measured again;
 * the others have round trips alone. Points into records. */
typedef struct Pair {
        const AldNode *source, *sink;
        const AldInterface *source_interface, *sink_interface;
        AldLoad *source_load, *sink_load;
        uint64_t measured_usec, deadline;
} Pair;

struct AldLoads {
        GHashTable *places;   /* a set */
        GHashTable *pairs;    /* a set */
        GHashTable *deferred; /* keys of paths of this node; not owned */
        const AldPlannerInput *input;
};

void ald_load_add_rate(AldLoad *load, const AldNode *by, uint64_t rate)
{
        AldLoadClaim *claims = load->claims;

        if (rate == ALD_ABSENT_UINT64 || rate == 0)
                return;
        if (by->local) {
                load->rate = MAX(load->rate, rate);
                return;
        }
        if (by != claims[0].by && rate > claims[1].rate)
                claims[1] = (AldLoadClaim){ by, rate };
        else if (by == claims[0].by)
                claims[0].rate = MAX(claims[0].rate, rate);
        if (claims[1].rate > claims[0].rate) {
                const AldLoadClaim first = claims[0];

                claims[0] = claims[1];
                claims[1] = first;
        }
}

/* Returns the greatest rate through an interface of this speed; 0 if unknown. A false one, if it is the
 * greatest of all, has no effect beyond the speed; if that is unknown, two nodes have to agree. */
static uint64_t best_rate(const AldLoad *load, uint64_t speed)
{
        bool has_speed = speed != ALD_ABSENT_UINT64 && speed > 0;
        uint64_t rate = MAX(load->rate, load->claims[has_speed ? 0 : 1].rate);

        return rate > 0 ? rate : load->claims[0].rate;
}

uint64_t ald_load_sum(uint64_t bytes, uint64_t more)
{
        return more > UINT64_MAX - bytes ? UINT64_MAX : bytes + more;
}

uint64_t ald_path_probe_bytes(
        const AldLinkSocket *row, const AldInterface *source, const AldInterface *sink, const AldLoad *load)
{
        uint64_t from = source ? source->speed_bits_per_second : ALD_ABSENT_UINT64;
        uint64_t to = sink ? sink->speed_bits_per_second : ALD_ABSENT_UINT64;

        return ald_probe_bytes(row, MIN(from, to), load ? best_rate(load, from) : 0);
}

static guint hash_place(gconstpointer key)
{
        const Place *place = key;

        return g_direct_hash(place->node) ^ g_str_hash(place->carrier);
}

static gboolean equal_places(gconstpointer a, gconstpointer b)
{
        const Place *left = a, *right = b;

        return left->node == right->node && strcmp(left->carrier, right->carrier) == 0;
}

static guint hash_pair(gconstpointer key)
{
        const Pair *pair = key;

        return 31 * (31 * g_direct_hash(pair->source) + g_direct_hash(pair->sink)) +
               31 * g_direct_hash(pair->source_interface) + g_direct_hash(pair->sink_interface);
}

static gboolean equal_pairs(gconstpointer a, gconstpointer b)
{
        const Pair *left = a, *right = b;

        return left->source == right->source && left->sink == right->sink &&
               left->source_interface == right->source_interface &&
               left->sink_interface == right->sink_interface;
}

static bool is_spared(const AldInterface *interface)
{
        return interface && (ald_interface_is_metered(interface) ||
                                    ald_interface_is(interface, ALD_INTERFACE_TYPE_TUNNEL));
}

bool ald_probe_may_load(const AldNode *node, const AldInterface *interface)
{
        return ald_probe_policy_allows(node, ALD_LINK_SCOPE_FULL) && !is_spared(interface);
}

bool ald_probe_may_load_first(const AldNode *node, const AldInterface *interface, uint64_t now_realtime)
{
        return (ald_probe_policy_allows(node, ALD_LINK_SCOPE_FULL) ||
                       ald_probe_policy_allows_first(node, now_realtime)) &&
               !is_spared(interface);
}

static AldLoad *load_of(AldLoads *loads, const AldNode *node, const char *carrier)
{
        const Place wanted = { .node = node, .carrier = carrier };
        Place *place = g_hash_table_lookup(loads->places, &wanted);

        if (!place) {
                place = g_new(Place, 1);
                *place = wanted;
                place->load = (AldLoad){
                        .speed = ALD_ABSENT_UINT64, .last_age = UINT64_MAX, .deadline = UINT64_MAX
                };
                g_hash_table_add(loads->places, place);
        }
        return &place->load;
}

AldLoad *ald_loads_find(AldLoads *loads, const AldNode *node, const AldInterface *interface)
{
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);
        const AldInterface *carrier = interface && network ? ald_network_find_carrier(network, interface)
                                                           : interface;
        AldLoad *load = load_of(loads, node, carrier ? carrier->id : "");

        if (carrier)
                load->speed = carrier->speed_bits_per_second;
        return load;
}

static const AldInterface *find_interface(const AldNode *node, const char *name)
{
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);

        return name && network ? ald_rows_find(&network->interfaces, name) : NULL;
}

/* Finds the load by a name, which may not be an interface's, such as that of an RDMA port without one. */
static AldLoad *load_of_name(AldLoads *loads, const AldNode *node, const char *name)
{
        const AldInterface *interface = find_interface(node, name);

        return interface ? ald_loads_find(loads, node, interface) : load_of(loads, node, name ?: "");
}

static AldLoad *load_of_port(AldLoads *loads, const AldNode *node, const char *name)
{
        const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);
        const AldRdmaPort *port = fabric && name ? ald_rows_find(&fabric->rdma_ports, name) : NULL;

        return load_of_name(loads, node, port && port->interface ? port->interface : name);
}

static AldLoad *load_of_address(AldLoads *loads, const AldNode *node, const char *address)
{
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);

        return ald_loads_find(loads, node, network ? ald_network_find_address(network, address) : NULL);
}

/* The contents of a record of either kind. */
typedef struct LinkRow {
        const AldNode *node;    /* the node that reports it */
        AldLoad *source, *sink; /* the latter NULL if it is not known */
        AldAttempts attempts;
        uint64_t ended_usec; /* the last full measurement, used or not */
        uint64_t upload, download, bytes, change_bytes, ttl_usec;
} LinkRow;

static LinkRow socket_row(AldLoads *loads, const AldEntry *entry, const AldNode *sink)
{
        const AldLinkSocket *row = ald_record_as(entry->record, LINK_SOCKET, AldLinkSocket);
        bool attempted = row->attempted_usec != ALD_ABSENT_UINT64;

        return (LinkRow){
                .node = entry->node,
                .source = load_of_name(loads, entry->node, row->source_interface),
                .sink = sink ? load_of_address(loads, sink, ald_key_address(entry->key)) : NULL,
                .attempts = ald_path_attempts(row),
                .ended_usec = attempted ? row->attempted_usec : row->measured_usec,
                .upload = row->upload.bits_per_second,
                .download = row->download.bits_per_second,
                .bytes = ald_probe_bytes(row, ALD_ABSENT_UINT64, 0),
                .change_bytes = ald_change_bytes_at(row, loads->input->now_realtime),
                .ttl_usec = row->time_to_live_usec,
        };
}

static LinkRow rdma_row(AldLoads *loads, const AldEntry *entry, const AldNode *sink)
{
        const AldLinkRdma *row = ald_record_as(entry->record, LINK_RDMA, AldLinkRdma);

        return (LinkRow){
                .node = entry->node,
                .source = load_of_port(loads, entry->node, row->source_port),
                .sink = sink ? load_of_port(loads, sink, row->sink_port) : NULL,
                .attempts = { row->measured_usec, row->failed_usec, row->failures, false },
                .ended_usec = row->measured_usec,
                .upload = row->upload.bits_per_second,
                .download = row->download.bits_per_second,
                .bytes = ald_rdma_probe_bytes(row, ALD_ABSENT_UINT64),
                .ttl_usec = row->time_to_live_usec,
        };
}

/* Returns when a path is due. One that is overdue by another time to live is no longer measured, such as rows
 * of a node that left it to the other end; it has no deadline. */
static uint64_t deadline_of(const LinkRow *row, uint64_t now)
{
        uint64_t measured = row->attempts.measured_usec, ttl = row->ttl_usec;

        if (ttl == ALD_ABSENT_UINT64 || measured + 2 * ttl < now)
                return UINT64_MAX;
        return measured + ttl;
}

static void add_rates(AldLoad *load, const LinkRow *row)
{
        ald_load_add_rate(load, row->node, row->upload);
        ald_load_add_rate(load, row->node, row->download);
}

/* A measurement of another node at a rate that is not believed counts as if it were at the best one that is.
 * Otherwise an honest node that reaches the interface at a higher rate than all others would use up what they
 * may send. */
static uint64_t counted_bytes(const AldLoad *load, const LinkRow *row)
{
        uint64_t rate = best_rate(load, load->speed);

        return row->node->local ? row->bytes : MIN(row->bytes, ald_probe_bytes(NULL, rate, 0));
}

static void add_bytes(AldLoad *load, const LinkRow *row, uint64_t now)
{
        uint64_t bytes = counted_bytes(load, row), age;

        load->change_bytes = ald_load_sum(load->change_bytes, row->change_bytes);
        if (row->ended_usec == ALD_ABSENT_UINT64 || row->ended_usec > now)
                return;
        age = now - row->ended_usec;
        if (age < USEC_PER_HOUR)
                load->bytes = ald_load_sum(load->bytes, bytes);
        if (age < load->last_age) {
                load->last_age = age;
                load->last_bytes = bytes;
        }
}

/* This is unknown for paths of other nodes, so they count as not deferred. */
static bool is_deferred(const AldLoads *loads, const AldEntry *entry)
{
        return entry->node->local && g_hash_table_contains(loads->deferred, entry->key);
}

/* A path that may not be loaded now does not delay others. */
static bool may_be_repeated(const Pair *pair)
{
        return (pair->sink->local || ald_node_is_online(pair->sink)) && pair->sink_interface &&
               pair->sink_interface->carrier != 0 && ald_probe_may_load(pair->sink, pair->sink_interface) &&
               (!pair->source_interface || pair->source_interface->carrier != 0) &&
               ald_probe_may_load(pair->source, pair->source_interface);
}

static void add_pair(AldLoads *loads, const AldEntry *entry, const LinkRow *row, const AldNode *sink)
{
        const AldLinkSocket *link = ald_record_as(entry->record, LINK_SOCKET, AldLinkSocket);
        const AldNetwork *network = ald_node_as(sink, NETWORK, AldNetwork);
        const Pair pair = {
                .source = entry->node,
                .sink = sink,
                .source_interface = find_interface(entry->node, link->source_interface),
                .sink_interface = network ? ald_network_find_address(network, ald_key_address(entry->key))
                                          : NULL,
                .source_load = row->source,
                .sink_load = row->sink,
                .measured_usec = row->attempts.measured_usec,
                .deadline = deadline_of(row, loads->input->now_realtime),
        };
        const Pair *other = g_hash_table_lookup(loads->pairs, &pair);

        if (pair.measured_usec == ALD_ABSENT_UINT64 || pair.measured_usec > loads->input->now_realtime ||
                ald_attempts_failures(&row->attempts) > 0 || is_deferred(loads, entry) ||
                !may_be_repeated(&pair))
                return;
        if (!other || other->measured_usec < pair.measured_usec)
                g_hash_table_add(loads->pairs, g_memdup2(&pair, sizeof pair));
}

static void set_deadlines(AldLoads *loads)
{
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init(&iter, loads->pairs);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
                const Pair *pair = key;

                pair->source_load->deadline = MIN(pair->source_load->deadline, pair->deadline);
                pair->sink_load->deadline = MIN(pair->sink_load->deadline, pair->deadline);
        }
}

static LinkRow row_of(AldLoads *loads, const AldEntry *entry, const AldNode *sink)
{
        return entry->kind == ALD_KIND_LINK_SOCKET ? socket_row(loads, entry, sink)
                                                   : rdma_row(loads, entry, sink);
}

static void add_rates_of(AldLoads *loads, const AldEntry *entry, const AldNode *sink)
{
        const LinkRow row = row_of(loads, entry, sink);

        add_rates(row.source, &row);
        if (row.sink)
                add_rates(row.sink, &row);
}

static void add_bytes_of(AldLoads *loads, const AldEntry *entry, const AldNode *sink)
{
        const LinkRow row = row_of(loads, entry, sink);
        uint64_t now = loads->input->now_realtime;

        add_bytes(row.source, &row, now);
        if (row.sink)
                add_bytes(row.sink, &row, now);
        if (entry->kind == ALD_KIND_LINK_SOCKET && sink)
                add_pair(loads, entry, &row, sink);
}

typedef void (*AddRow)(AldLoads *loads, const AldEntry *entry, const AldNode *sink);

static void add_rows_of_node(AldLoads *loads, AldStore *store, AldNode *node, AddRow add_row)
{
        for (AldEntry *entry = ald_node_after(node, NULL); entry; entry = ald_node_after(node, entry)) {
                AldId id;

                if (!ald_kinds[entry->kind].is_link || !entry->record)
                        continue;
                if (ald_key_parse(entry->kind, entry->key, &id) >= 0)
                        add_row(loads, entry, ald_store_find_node(store, &id));
        }
}

AldLoads *ald_loads_new(
        AldStore *store, const GPtrArray *peers, const AldPlannerInput *input, GHashTable *deferred)
{
        static const AddRow passes[] = { add_rates_of, add_bytes_of };
        AldLoads *loads = g_new0(AldLoads, 1);

        loads->places = g_hash_table_new_full(hash_place, equal_places, g_free, NULL);
        loads->pairs = g_hash_table_new_full(hash_pair, equal_pairs, g_free, NULL);
        loads->deferred = deferred;
        loads->input = input;
        /* The bytes of a row depend on all rates. */
        for (unsigned i = 0; i < G_N_ELEMENTS(passes); i++) {
                add_rows_of_node(loads, store, ald_store_local_node(store), passes[i]);
                for (guint k = 0; k < peers->len; k++)
                        add_rows_of_node(loads, store, peers->pdata[k], passes[i]);
        }
        set_deadlines(loads);
        return loads;
}

void ald_loads_free(AldLoads *loads)
{
        g_hash_table_unref(loads->places);
        g_hash_table_unref(loads->pairs);
        g_free(loads);
}

uint64_t ald_load_capacity(const AldLoad *load, const AldInterface *interface)
{
        uint64_t speed = interface ? interface->speed_bits_per_second : ALD_ABSENT_UINT64, rate;

        if (speed == 0)
                speed = ALD_ABSENT_UINT64;
        rate = best_rate(load, speed);
        return rate > 0 ? MIN(speed, rate) : speed;
}

/* Returns the default limit; INFINITY if the capacity is unknown. */
static double bytes_per_hour_of(const AldLoad *load, const AldInterface *carrier)
{
        uint64_t capacity = ald_load_capacity(load, carrier);

        return capacity == ALD_ABSENT_UINT64 ? INFINITY
                                             : 2.0 * (double) capacity / 8 * 3600 / ALD_PLANNER_SHARE;
}

static uint64_t time_for_bytes(double bytes, double bytes_per_hour)
{
        return bytes > 0 && isfinite(bytes_per_hour)
                       ? (uint64_t) (bytes / bytes_per_hour * (double) USEC_PER_HOUR)
                       : 0;
}

/* A fixed interval overrides the default limit, but not a configured one. */
AldShare ald_load_share(
        const AldLoad *load, const AldInterface *carrier, uint64_t bytes_per_hour, uint64_t interval)
{
        double all = bytes_per_hour > 0 ? (double) bytes_per_hour
                     : interval > 0     ? INFINITY
                                        : bytes_per_hour_of(load, carrier);
        double spots = (double) load->spots_bytes * (double) CHECKS_PER_HOUR;
        AldShare share = {
                .bytes_per_hour = all,
                .change_bytes = bytes_per_hour > 0
                                        ? 0
                                        : ALD_PLANNER_CHANGED_SHARES * bytes_per_hour_of(load, carrier),
        };

        share.whole_bytes_per_hour = all - MIN(spots, all / 2);
        share.spot_interval = MAX(ALD_LINK_CHECK_USEC,
                time_for_bytes((double) load->spots_bytes, isfinite(all) ? all / 2 : all));
        share.least_interval = time_for_bytes(
                ALD_PLANNER_STRETCH * (double) load->paths_bytes, share.whole_bytes_per_hour);
        return share;
}

bool ald_load_is_within(uint64_t bytes, uint64_t age, double bytes_per_hour)
{
        return age == UINT64_MAX || isinf(bytes_per_hour) ||
               (double) age * bytes_per_hour >= (double) bytes * (double) USEC_PER_HOUR;
}
