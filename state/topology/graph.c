/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record-key.h"
#include "state/link/link.h"
#include "state/link/path-candidates.h"
#include "state/link/probe-policy.h"
#include "state/topology/graph-device.h"
#include "state/topology/graph.h"
#include "state/topology/port-pairs.h"

/* Once this many changes are noted, they are processed without waiting for the next update. */
#define NOTED_MAX 1024u

/* A node, an edge or a pair, or one that no longer exists, in the list by revision. */
typedef struct Item {
        AldGraphItem is;
        void *owner;   /* Member, Path or Pair; NULL once it has gone */
        uint64_t hash; /* of its row */
        GList place;
} Item;

typedef struct Pair {
        AldGraphPair is; /* first, so that its ids are the key */
        bool dirty;
        Item item;
} Pair;

typedef struct Path {
        AldGraphPath is;
        Pair *pair; /* NULL within a node */
        char *key;
        unsigned found;   /* the last search that found it without its record */
        uint64_t reached; /* hash_reached() of its record */
        bool dirty;
        Item edges[2]; /* source to sink, and back */
} Path;

typedef struct Member {
        AldId id;
        GPtrArray *paths;   /* of Path, with this node at either end */
        uint64_t reach;     /* hash of what decides to which addresses paths lead */
        uint64_t joins;     /* hash of what joins ports in segments */
        bool is_host;       /* it reports interfaces or ports, and counts in n_hosts */
        bool dirty;         /* it is in dirty_members */
        bool paths_dirty;   /* its paths may look different */
        bool reach_dirty;   /* its paths over sockets have to be searched again */
        bool devices_dirty; /* the paths between its devices have to be searched again */
        Item item;
} Member;

struct AldGraph {
        AldStore *store;
        GHashTable *members; /* AldId → Member */
        GHashTable *paths;   /* of Path, each its own key by kind, source and key */
        GHashTable *pairs;   /* of Pair, each its own key by the ids */
        GQueue items;        /* of Item, by revision */
        GQueue gone;         /* of Item, which are in `items` as well */
        GPtrArray *noted;    /* of AldEntry, changed since they were last processed */
        GPtrArray *dirty_paths, *dirty_pairs, *dirty_members;
        bool segments_dirty;
        GPtrArray *segments; /* of AldSegmentRow */
        unsigned search;     /* number of the last search */
        size_t n_hosts;
        uint64_t revision;
        uint64_t forgotten; /* the newest revision of a gone item that is no longer remembered */
        uint64_t last_edge;
};

static guint hash_path(gconstpointer key)
{
        const Path *path = key;

        return ald_id_table_hash(&path->is.source) * 31 + g_str_hash(path->is.key) * 4 + path->is.kind;
}

static gboolean equal_paths(gconstpointer a, gconstpointer b)
{
        const Path *left = a, *right = b;

        return left->is.kind == right->is.kind && ald_id_equal(&left->is.source, &right->is.source) &&
               strcmp(left->is.key, right->is.key) == 0;
}

static guint hash_pair(gconstpointer key)
{
        const Pair *pair = key;

        return ald_id_table_hash(&pair->is.ids[0]) * 31 + ald_id_table_hash(&pair->is.ids[1]);
}

static gboolean equal_pairs(gconstpointer a, gconstpointer b)
{
        return memcmp(((const Pair *) a)->is.ids, ((const Pair *) b)->is.ids,
                       sizeof((const Pair *) a)->is.ids) == 0;
}

static void pair_free(gpointer data)
{
        Pair *pair = data;

        g_ptr_array_unref(pair->is.paths);
        g_free(pair);
}

static void path_free(gpointer data)
{
        Path *path = data;

        ald_graph_path_clear(&path->is);
        g_free(path->key);
        g_free(path);
}

static void member_free(gpointer data)
{
        Member *member = data;

        g_ptr_array_unref(member->paths);
        g_free(member);
}

void ald_graph_free(AldGraph *graph)
{
        if (!graph)
                return;
        for (GList *place = graph->gone.head; place;) {
                GList *next = place->next;

                g_free(place->data);
                g_list_free_1(place);
                place = next;
        }
        g_hash_table_unref(graph->paths);
        g_hash_table_unref(graph->pairs);
        g_hash_table_unref(graph->members);
        g_ptr_array_unref(graph->noted);
        g_ptr_array_unref(graph->dirty_paths);
        g_ptr_array_unref(graph->dirty_pairs);
        g_ptr_array_unref(graph->dirty_members);
        g_ptr_array_unref(graph->segments);
        g_free(graph);
}

/* Items by revision */

static void move_item_to_end(AldGraph *graph, Item *item)
{
        if (item->is.revision != 0)
                g_queue_unlink(&graph->items, &item->place);
        item->place.data = item;
        item->is.revision = ++graph->revision;
        g_queue_push_tail_link(&graph->items, &item->place);
}

/* Remembers that what the item stood for has gone. */
static void bury_item(AldGraph *graph, Item *item, AldGraphChange change)
{
        Item *gone;

        if (item->is.revision == 0) /* no client has seen it */
                return;
        g_queue_unlink(&graph->items, &item->place);
        gone = g_new0(Item, 1);
        gone->is = item->is;
        gone->is.change = change;
        gone->is.revision = 0;
        gone->is.bytes = 0;
        item->is.revision = 0;
        move_item_to_end(graph, gone);
        g_queue_push_tail(&graph->gone, gone);
        if (graph->gone.length > ALD_GRAPH_GONE_MAX) {
                Item *oldest = g_queue_pop_head(&graph->gone);

                graph->forgotten = oldest->is.revision;
                g_queue_unlink(&graph->items, &oldest->place);
                g_free(oldest);
        }
}

/* Rows are compared by their hashes. */

static uint64_t hash_row(const AldStruct *type, const void *row)
{
        uint64_t hash = ALD_HASH_BASIS;

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];

                if (!ald_field_is_absent(field, ald_field_of(field, row)))
                        hash = ald_field_hash(
                                field, ald_field_of(field, row), ald_hash_bytes(hash, &i, sizeof i));
        }
        return hash;
}

static void update_item_row(AldGraph *graph, Item *item, const AldStruct *type, const void *row, bool hidden)
{
        uint64_t hash = hash_row(type, row);

        if (item->is.revision != 0 && item->hash == hash && item->is.hidden == hidden)
                return;
        item->hash = hash;
        item->is.hidden = hidden;
        item->is.bytes = ald_struct_wire_size(type, row);
        move_item_to_end(graph, item);
}

/* Members and paths */

static Member *find_member(AldGraph *graph, const AldId *id)
{
        Member *member = g_hash_table_lookup(graph->members, id);

        if (member)
                return member;
        member = g_new0(Member, 1);
        member->id = member->item.is.node = *id;
        member->item.owner = member;
        member->paths = g_ptr_array_new();
        g_hash_table_insert(graph->members, &member->id, member);
        return member;
}

static void mark_member(AldGraph *graph, Member *member)
{
        if (member->dirty)
                return;
        member->dirty = true;
        g_ptr_array_add(graph->dirty_members, member);
}

static void mark_path(AldGraph *graph, Path *path)
{
        if (path->dirty)
                return;
        path->dirty = true;
        g_ptr_array_add(graph->dirty_paths, path);
}

static Pair *find_pair(AldGraph *graph, const AldId *a, const AldId *b)
{
        bool ordered = ald_id_compare(a, b) < 0;
        const Pair wanted = { .is.ids = { *(ordered ? a : b), *(ordered ? b : a) } };
        Pair *pair = g_hash_table_lookup(graph->pairs, &wanted);

        if (pair)
                return pair;
        pair = g_memdup2(&wanted, sizeof wanted);
        pair->is.paths = g_ptr_array_new();
        pair->item.is = (AldGraphItem){
                .change = ALD_GRAPH_PAIR, .node = pair->is.ids[0], .peer = pair->is.ids[1]
        };
        pair->item.owner = pair;
        g_hash_table_add(graph->pairs, pair);
        return pair;
}

static void mark_pair(AldGraph *graph, Pair *pair)
{
        if (pair->dirty)
                return;
        pair->dirty = true;
        g_ptr_array_add(graph->dirty_pairs, pair);
}

static Path *lookup_path(AldGraph *graph, AldEdgeRowKind kind, const AldId *source, const char *key)
{
        const Path wanted = { .is = { .kind = kind, .source = *source, .key = key } };

        return g_hash_table_lookup(graph->paths, &wanted);
}

/* Returns how many members a path has. Both ends of a path between devices are at one node. */
static unsigned n_members(const Path *path)
{
        return path->is.kind == ALD_EDGE_ROW_KIND_DEVICE ? 1 : 2;
}

/* Returns the path, and creates it if there is none. */
static Path *find_path(
        AldGraph *graph, AldEdgeRowKind kind, const AldId *source, const AldId *sink, const char *key)
{
        Path *path = lookup_path(graph, kind, source, key);

        if (path)
                return path;
        path = g_new0(Path, 1);
        if (kind != ALD_EDGE_ROW_KIND_DEVICE) {
                path->pair = find_pair(graph, source, sink);
                g_ptr_array_add(path->pair->is.paths, &path->is);
        }
        path->key = g_strdup(key);
        path->is = (AldGraphPath){ .kind = kind, .source = *source, .sink = *sink, .key = path->key };
        for (unsigned i = 0; i < 2; i++) {
                path->edges[i].is.change = ALD_GRAPH_EDGE;
                path->edges[i].is.edge = path->is.edges[i] = ++graph->last_edge;
                path->edges[i].owner = path;
        }
        g_hash_table_add(graph->paths, path);
        for (unsigned i = 0; i < n_members(path); i++) {
                Member *member = find_member(graph, i == 0 ? source : sink);

                g_ptr_array_add(member->paths, path);
                mark_member(graph, member);
        }
        return path;
}

static void remove_path(AldGraph *graph, Path *path)
{
        for (unsigned i = 0; i < n_members(path); i++) {
                Member *member = find_member(graph, i == 0 ? &path->is.source : &path->is.sink);

                g_ptr_array_remove_fast(member->paths, path);
                mark_member(graph, member);
        }
        for (unsigned i = 0; i < 2; i++)
                bury_item(graph, &path->edges[i], ALD_GRAPH_GONE_EDGE);
        if (path->pair) {
                g_ptr_array_remove_fast(path->pair->is.paths, &path->is);
                mark_pair(graph, path->pair);
        }
        g_hash_table_remove(graph->paths, path);
}

/* A record has changed */

/* Hashes what a record contributes to segments: the ends between which the sink was reached; 0 if it was not.
 * */
static uint64_t hash_reached(const AldRecord *record)
{
        AldLink link;

        if (!record)
                return 0;
        link = ald_link_of_record(record);
        return ald_link_reaches_sink(&link)
                       ? ald_hash_text(ald_hash_text(ALD_HASH_BASIS, link.from), link.to) | 1
                       : 0;
}

static void update_link_path(AldGraph *graph, const AldEntry *entry, bool exists)
{
        AldEdgeRowKind kind = entry->kind == ALD_KIND_LINK_RDMA ? ALD_EDGE_ROW_KIND_RDMA
                                                                : ALD_EDGE_ROW_KIND_SOCKET;
        const AldRecord *record = exists ? entry->record : NULL;
        uint64_t reached;
        AldId sink;
        Path *path;

        path = lookup_path(graph, kind, &entry->node->id, entry->key);
        if (!path) {
                /* A deletion does not matter if there never was a record here. */
                if (!record || ald_key_parse(entry->kind, entry->key, &sink) < 0 ||
                        ald_id_equal(&sink, &entry->node->id))
                        return;
                path = find_path(graph, kind, &entry->node->id, &sink, entry->key);
        }
        path->is.entry = record ? entry : NULL;
        mark_path(graph, path);
        reached = hash_reached(record);
        if (reached != path->reached)
                graph->segments_dirty = true;
        path->reached = reached;
}

/* Returns whether records of this kind show in the graph. */
static bool is_shown(AldKind kind)
{
        switch (kind) {
        case ALD_KIND_IDENTITY:
        case ALD_KIND_PRESENCE:
        case ALD_KIND_NETWORK:
        case ALD_KIND_FABRIC:
        case ALD_KIND_PROBE_POLICY:
        case ALD_KIND_BACKENDS:
        case ALD_KIND_COMPUTE:
                return true;
        default:
                return ald_kinds[kind].is_link;
        }
}

static void mark_node_dirty(AldGraph *graph, const AldEntry *entry)
{
        Member *member = find_member(graph, &entry->node->id);

        mark_member(graph, member);
        if (entry->kind == ALD_KIND_BACKENDS || entry->kind == ALD_KIND_COMPUTE) {
                member->devices_dirty = true;
                return;
        }
        if (entry->kind != ALD_KIND_IDENTITY)
                member->paths_dirty = true;
        if (entry->kind == ALD_KIND_NETWORK || entry->kind == ALD_KIND_PROBE_POLICY)
                member->reach_dirty = true;
}

static void process_entry(AldGraph *graph, const AldEntry *entry, bool exists)
{
        if (ald_kinds[entry->kind].is_link)
                update_link_path(graph, entry, exists);
        else
                mark_node_dirty(graph, entry);
}

static void process_noted(AldGraph *graph)
{
        for (guint i = 0; i < graph->noted->len; i++)
                process_entry(graph, graph->noted->pdata[i], true);
        g_ptr_array_set_size(graph->noted, 0);
}

/* A message brings many records, whose merges should not wait until the path or node of each is found. */
bool ald_graph_note_change(AldGraph *graph, const AldEntry *entry)
{
        if (!is_shown(entry->kind))
                return false;
        g_ptr_array_add(graph->noted, (gpointer) entry);
        /* No path may lead to a record that is deleted. */
        if (!entry->record || graph->noted->len >= NOTED_MAX)
                process_noted(graph);
        return true;
}

/* The entry is about to be freed, so it must not remain among the noted ones. */
bool ald_graph_note_removal(AldGraph *graph, AldEntry *entry)
{
        if (!is_shown(entry->kind))
                return false;
        process_noted(graph);
        process_entry(graph, entry, false);
        return true;
}

AldGraph *ald_graph_new(AldStore *store, uint64_t revision)
{
        AldGraph *graph = g_new0(AldGraph, 1);

        graph->store = store;
        graph->revision = graph->forgotten = revision;
        graph->members = g_hash_table_new_full(ald_id_table_hash, ald_id_table_equal, NULL, member_free);
        graph->paths = g_hash_table_new_full(hash_path, equal_paths, NULL, path_free);
        graph->pairs = g_hash_table_new_full(hash_pair, equal_pairs, pair_free, NULL);
        graph->noted = g_ptr_array_new();
        graph->dirty_paths = g_ptr_array_new();
        graph->dirty_pairs = g_ptr_array_new();
        graph->dirty_members = g_ptr_array_new();
        graph->segments = g_ptr_array_new_with_free_func(g_free);
        mark_member(graph, find_member(graph, &ald_store_local_node(store)->id));
        for (AldEntry *entry = ald_store_after(store, NULL, 0, NULL); entry;
                entry = ald_store_after(store, &entry->node->id, entry->kind, entry->key ?: ""))
                ald_graph_note_change(graph, entry);
        return graph;
}

bool ald_graph_is_outdated(const AldGraph *graph)
{
        return graph->noted->len > 0 || graph->dirty_members->len > 0 || graph->dirty_paths->len > 0 ||
               graph->segments_dirty;
}

/* Lists the keys of a table to which others may be added while the list is walked. */
static GPtrArray *list_keys(GHashTable *table)
{
        GPtrArray *keys = g_ptr_array_sized_new(g_hash_table_size(table));
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init(&iter, table);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                g_ptr_array_add(keys, key);
        return keys;
}

/* Paths over sockets that the addresses of two nodes make possible */

/* Hashes what paths over sockets depend on: what ald_candidates_compute() reads, and whether the node starts
 * probes. */
static uint64_t hash_reach(const AldNode *node)
{
        const AldNetwork *network = ald_node_as(node, NETWORK, AldNetwork);
        uint64_t hash = network ? ALD_HASH_BASIS : 0;
        bool starts = node && ald_probe_policy_starts(node, ALD_KIND_LINK_SOCKET);

        for (size_t i = 0; network && i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                hash = ald_hash_text(hash, interface->id);
                hash = ald_hash_text(hash, interface->type);
                hash = ald_hash_text(hash, interface->hardware_address);
                hash = ald_hash_texts(hash, interface->addresses);
                hash = ald_hash_text(hash, interface->controller);
                hash = ald_hash_texts(hash, interface->ports);
                hash = ald_hash_text(hash, interface->parent);
                hash = ald_hash_text(hash, interface->driver);
                hash = ald_hash_bytes(hash, &interface->carrier, sizeof interface->carrier);
        }
        for (size_t i = 0; network && i < network->neighbours.n; i++) {
                const AldNeighbour *neighbour = ald_rows_at(&network->neighbours, i);

                hash = ald_hash_text(hash, neighbour->interface);
                hash = ald_hash_text(hash, neighbour->chassis_id);
                hash = ald_hash_text(hash, neighbour->port_id);
        }
        return ald_hash_bytes(hash, &starts, sizeof starts);
}

/* Hashes what segments, and the choice of the node that probes their ports, depend on besides links. */
static uint64_t hash_joins(const AldNode *node, uint64_t reach)
{
        const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);
        bool counts = node && ald_node_counts(node);
        bool starts = node && ald_probe_policy_starts(node, ALD_KIND_LINK_RDMA);
        uint64_t hash = ald_hash_bytes(ald_hash_bytes(reach, &counts, sizeof counts), &starts, sizeof starts);

        for (size_t i = 0; fabric && i < fabric->rdma_ports.n; i++) {
                const AldRdmaPort *port = ald_rows_at(&fabric->rdma_ports, i);

                hash = ald_hash_text(hash, port->id);
                hash = ald_hash_text(hash, port->node_guid);
                hash = ald_hash_text(hash, port->port_guid);
                hash = ald_hash_text(hash, port->link_layer);
                hash = ald_hash_text(hash, port->transport);
                hash = ald_hash_text(hash, port->driver);
                hash = ald_hash_text(hash, port->state);
                hash = ald_hash_texts(hash, port->gids);
                hash = ald_hash_text(hash, port->interface);
                hash = ald_hash_text(hash, port->problem);
        }
        for (size_t i = 0; fabric && i < fabric->thunderbolt_domains.n; i++) {
                const AldThunderboltDomain *domain = ald_rows_at(&fabric->thunderbolt_domains, i);

                hash = ald_hash_text(hash, domain->domain_id);
        }
        for (size_t i = 0; fabric && i < fabric->thunderbolt_ports.n; i++) {
                const AldThunderboltPort *port = ald_rows_at(&fabric->thunderbolt_ports, i);

                hash = ald_hash_text(hash, port->id);
                hash = ald_hash_text(hash, port->domain_id);
                hash = ald_hash_text(hash, port->peer_domain_id);
                hash = ald_hash_text(hash, port->interface);
        }
        return hash;
}

/* Notes that the search found the path. */
static void mark_path_known(
        AldGraph *graph, Path *path, bool candidate, const char *source_port, const char *sink_port)
{
        path->found = graph->search;
        if (path->is.known && path->is.candidate == candidate &&
                g_strcmp0(path->is.known_ports[0], source_port) == 0 &&
                g_strcmp0(path->is.known_ports[1], sink_port) == 0)
                return;
        path->is.known = true;
        path->is.candidate = candidate;
        for (unsigned i = 0; i < 2; i++) {
                g_free(path->is.known_ports[i]);
                path->is.known_ports[i] = g_strdup(i == 0 ? source_port : sink_port);
        }
        mark_path(graph, path);
}

static void mark_path_unknown(AldGraph *graph, Path *path)
{
        path->is.known = false;
        path->is.candidate = false;
        for (unsigned i = 0; i < 2; i++)
                g_clear_pointer(&path->is.known_ports[i], g_free);
        mark_path(graph, path);
}

static void add_candidates(AldGraph *graph, const AldNode *source, const AldNode *sink, GArray *candidates,
        const GArray *mirrored)
{
        char id[ALD_ID_STRING_SIZE], key[ALD_KEY_MAX + 1];

        for (guint i = 0; i < candidates->len; i++) {
                const AldCandidate *candidate = &g_array_index(candidates, AldCandidate, i);
                bool covered = false;
                Path *path;

                for (guint k = 0; mirrored && k < mirrored->len; k++)
                        covered = covered ||
                                  ald_candidate_mirrors(&g_array_index(mirrored, AldCandidate, k), candidate);
                if (covered)
                        continue;
                g_snprintf(key, sizeof key, "%s,%s", ald_id_format(&sink->id, id), candidate->address);
                path = find_path(graph, ALD_EDGE_ROW_KIND_SOCKET, &source->id, &sink->id, key);
                if (path->is.routed == candidate->on_link)
                        mark_path(graph, path);
                path->is.routed = !candidate->on_link;
                mark_path_known(graph, path, candidate->n_scopes > 1,
                        candidate->interface ? candidate->interface->id : NULL,
                        candidate->sink_interface ? candidate->sink_interface->id : NULL);
        }
}

/* Divides the paths as the planner does: the node with the lower id probes all paths, and the other one those
 * that have no counterpart, unless only the other one probes. */
static void search_pair(AldGraph *graph, const AldNode *a, const AldNode *b)
{
        bool ordered = ald_id_compare(&a->id, &b->id) < 0;
        const AldNode *first = ordered ? a : b, *second = ordered ? b : a;
        g_autoptr(GArray) there = NULL, back = NULL;

        if (!ald_probe_policy_starts(first, ALD_KIND_LINK_SOCKET) &&
                ald_probe_policy_starts(second, ALD_KIND_LINK_SOCKET)) {
                back = ald_candidates_compute(
                        ald_node_as(second, NETWORK, AldNetwork), ald_node_as(first, NETWORK, AldNetwork));
                add_candidates(graph, second, first, back, NULL);
                return;
        }
        there = ald_candidates_compute(
                ald_node_as(first, NETWORK, AldNetwork), ald_node_as(second, NETWORK, AldNetwork));
        back = ald_candidates_compute(
                ald_node_as(second, NETWORK, AldNetwork), ald_node_as(first, NETWORK, AldNetwork));
        add_candidates(graph, first, second, there, NULL);
        add_candidates(graph, second, first, back, there);
}

static bool is_within_limit(const AldGraph *graph, const AldNode *a, const AldNode *b)
{
        return graph->n_hosts < ALD_GRAPH_ALL_BELOW || a->local || b->local;
}

static void search_paths_between(AldGraph *graph, const AldNode *node, const AldNode *peer)
{
        if (peer && peer != node && ald_node_as(peer, NETWORK, AldNetwork) &&
                is_within_limit(graph, node, peer))
                search_pair(graph, node, peer);
}

static void search_paths_from(AldGraph *graph, const AldNode *node)
{
        g_autoptr(GPtrArray) others = NULL;

        if (graph->n_hosts >= ALD_GRAPH_ALL_BELOW && !node->local) {
                search_paths_between(graph, node, ald_store_local_node(graph->store));
                return;
        }
        others = list_keys(graph->members);
        for (guint i = 0; i < others->len; i++) {
                const Member *other = others->pdata[i]; /* whose key is its first field */

                if (other->is_host)
                        search_paths_between(graph, node, ald_store_find_node(graph->store, &other->id));
        }
}

static void search_paths_of(AldGraph *graph, Member *member)
{
        const AldNode *node = ald_store_find_node(graph->store, &member->id);

        graph->search++;
        if (node && ald_node_as(node, NETWORK, AldNetwork))
                search_paths_from(graph, node);
        for (guint i = 0; i < member->paths->len; i++) {
                Path *path = member->paths->pdata[i];

                if (path->is.kind == ALD_EDGE_ROW_KIND_SOCKET && path->is.known &&
                        path->found != graph->search)
                        mark_path_unknown(graph, path);
        }
}

/* Paths between the devices of a node */

typedef struct DeviceSearch {
        AldGraph *graph;
        const AldNode *node;
} DeviceSearch;

static void on_device_join(const AldDeviceJoin *join, void *userdata)
{
        const DeviceSearch *search = userdata;
        int kind = ald_device_join_kind_from_string(join->kind);
        Path *path;

        if (kind < 0)
                return;
        path = find_path(
                search->graph, ALD_EDGE_ROW_KIND_DEVICE, &search->node->id, &search->node->id, join->id);
        path->is.join = (AldDeviceJoinKind) kind;
        mark_path_known(search->graph, path, false, join->device, join->peer);
}

/* Marks also the paths that remain, since their figures may have changed. */
static void search_devices_of(AldGraph *graph, Member *member)
{
        DeviceSearch search = { graph, ald_store_find_node(graph->store, &member->id) };

        graph->search++;
        if (search.node && is_within_limit(graph, search.node, search.node))
                ald_device_joins_foreach(search.node, on_device_join, &search);
        for (guint i = 0; i < member->paths->len; i++) {
                Path *path = member->paths->pdata[i];

                if (path->is.kind != ALD_EDGE_ROW_KIND_DEVICE)
                        continue;
                if (path->is.known && path->found != graph->search)
                        mark_path_unknown(graph, path);
                mark_path(graph, path);
        }
}

/* Paths that segments and cables make known */

static void mark_cable_known(AldGraph *graph, AldEdgeRowKind kind, const AldNode *source,
        const char *source_port, const AldNode *sink, const char *sink_port, bool candidate)
{
        char id[ALD_ID_STRING_SIZE];
        g_autofree char *key = g_strdup_printf(
                "%s,%s,%s", source_port, ald_id_format(&sink->id, id), sink_port);

        /* A peer may report ports with names that no record could have. */
        if (strchr(source_port, ',') || strchr(sink_port, ','))
                return;
        mark_path_known(graph, find_path(graph, kind, &source->id, &sink->id, key), candidate, source_port,
                sink_port);
}

/* The nodes of one pass: either those that count, whose segments the planner uses, or all nodes. */
typedef struct SegmentPass {
        AldGraph *graph;
        bool counting;
        GPtrArray *nodes; /* const AldNode */
        bool left_out;    /* there are nodes that do not count */
} SegmentPass;

static gboolean add_node(AldNode *node, void *userdata)
{
        SegmentPass *pass = userdata;

        if (!ald_node_as(node, NETWORK, AldNetwork) && !ald_node_as(node, FABRIC, AldFabric))
                return FALSE;
        if (pass->counting && !ald_node_counts(node))
                pass->left_out = true;
        else
                g_ptr_array_add(pass->nodes, node);
        return FALSE;
}

/* A path that ends at a node that does not count comes from the pass over all nodes, since the node's reports
 * are old. */
static bool is_of_pass(const SegmentPass *pass, const AldNode *a, const AldNode *b)
{
        return pass->counting == (ald_node_counts(a) && ald_node_counts(b));
}

typedef struct PairSearch {
        const SegmentPass *pass;
        const AldNode *node;
} PairSearch;

static void on_port_pair(const AldPortPair *pair, void *userdata)
{
        const PairSearch *search = userdata;
        AldGraph *graph = search->pass->graph;
        bool ordered = ald_id_compare(&search->node->id, &pair->peer->id) < 0;
        const AldNode *first = ordered ? search->node : pair->peer,
                      *second = ordered ? pair->peer : search->node;
        const char *first_port = ordered ? pair->own : pair->theirs;
        const char *second_port = ordered ? pair->theirs : pair->own;

        /* Each pair of nodes comes twice, unless only those of this node are listed. */
        if (!is_within_limit(graph, search->node, pair->peer) ||
                !is_of_pass(search->pass, search->node, pair->peer))
                return;
        if (!ald_probe_policy_starts(first, ALD_KIND_LINK_RDMA) &&
                ald_probe_policy_starts(second, ALD_KIND_LINK_RDMA))
                mark_cable_known(graph, ALD_EDGE_ROW_KIND_RDMA, second, second_port, first, first_port,
                        pair->candidate);
        else
                mark_cable_known(graph, ALD_EDGE_ROW_KIND_RDMA, first, first_port, second, second_port,
                        pair->candidate);
}

static void search_port_pairs(const SegmentPass *pass, const GPtrArray *segments)
{
        PairSearch search = { .pass = pass };

        for (guint i = 0; i < pass->nodes->len; i++) {
                search.node = pass->nodes->pdata[i];
                if (pass->graph->n_hosts < ALD_GRAPH_ALL_BELOW || search.node->local)
                        ald_port_pairs_foreach(segments, search.node, on_port_pair, &search);
        }
}

static void mark_cables_known(const SegmentPass *pass, const GArray *cables)
{
        for (guint i = 0; i < cables->len; i++) {
                const AldCable *cable = &g_array_index(cables, AldCable, i);

                if (is_of_pass(pass, cable->a.node, cable->b.node))
                        mark_cable_known(pass->graph,
                                cable->how == ALD_SEGMENT_THUNDERBOLT ? ALD_EDGE_ROW_KIND_THUNDERBOLT
                                                                      : ALD_EDGE_ROW_KIND_LLDP,
                                cable->a.node, cable->a.port, cable->b.node, cable->b.port, cable->candidate);
        }
}

static void describe_segments(AldGraph *graph, const GPtrArray *segments)
{
        g_ptr_array_set_size(graph->segments, 0);
        for (guint i = 0; i < segments->len; i++) {
                const AldSegment *segment = segments->pdata[i];
                g_auto(GStrv) members = ald_segment_member_texts(segment);
                const AldSegmentRow row = { .how = ald_segment_how_to_string(segment->how),
                        .identity = segment->identity,
                        .candidate = segment->candidate,
                        .members = (const char *const *) members };

                g_ptr_array_add(graph->segments, ald_struct_dup(&ald_segment_row_struct, &row));
        }
}

/* Returns whether nodes were left out. */
static bool search_pass(AldGraph *graph, bool counting)
{
        g_autoptr(GPtrArray) nodes = g_ptr_array_new(), segments = NULL;
        g_autoptr(GArray) cables = NULL;
        SegmentPass pass = { .graph = graph, .counting = counting, .nodes = nodes };

        ald_store_foreach_node(graph->store, add_node, &pass);
        segments = ald_segments_compute(graph->store, nodes, &cables);
        if (counting)
                describe_segments(graph, segments);
        search_port_pairs(&pass, segments);
        mark_cables_known(&pass, cables);
        return pass.left_out;
}

static void search_segments(AldGraph *graph)
{
        g_autoptr(GPtrArray) paths = NULL;

        graph->search++;
        if (search_pass(graph, true))
                search_pass(graph, false);
        paths = list_keys(graph->paths);
        for (guint i = 0; i < paths->len; i++) {
                Path *path = paths->pdata[i];

                if (path->is.kind != ALD_EDGE_ROW_KIND_SOCKET && path->is.kind != ALD_EDGE_ROW_KIND_DEVICE &&
                        path->is.known && path->found != graph->search)
                        mark_path_unknown(graph, path);
        }
}

/* The update */

/* Returns whether all members are affected, since the number of hosts has reached the limit or fallen below
 * it. */
static bool update_is_host(AldGraph *graph, Member *member, const AldNode *node)
{
        bool is_host = node &&
                       (ald_node_as(node, NETWORK, AldNetwork) || ald_node_as(node, FABRIC, AldFabric)),
             below = graph->n_hosts < ALD_GRAPH_ALL_BELOW;

        if (member->is_host == is_host)
                return false;
        member->is_host = is_host;
        graph->n_hosts += is_host ? 1 : (size_t) -1;
        return below != (graph->n_hosts < ALD_GRAPH_ALL_BELOW);
}

static void mark_paths_of(AldGraph *graph, Member *member)
{
        for (guint i = 0; i < member->paths->len; i++)
                mark_path(graph, member->paths->pdata[i]);
}

/* Notes what has to be searched and computed again. */
static void examine_member(AldGraph *graph, Member *member, bool *ret_all)
{
        const AldNode *node = ald_store_find_node(graph->store, &member->id);
        uint64_t reach, joins;

        if (update_is_host(graph, member, node))
                *ret_all = true;
        reach = member->reach_dirty ? hash_reach(node) : member->reach;
        member->reach_dirty = reach != member->reach;
        member->reach = reach;
        if (!member->paths_dirty)
                return;
        joins = hash_joins(node, reach);
        if (joins != member->joins)
                graph->segments_dirty = true;
        member->joins = joins;
        member->paths_dirty = false;
        mark_paths_of(graph, member);
}

static void mark_all_reach(AldGraph *graph)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, graph->members);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                ((Member *) value)->reach_dirty = ((Member *) value)->devices_dirty = true;
                mark_member(graph, value);
                mark_paths_of(graph, value);
        }
        graph->segments_dirty = true;
}

static void search_all(AldGraph *graph)
{
        bool all = false;

        for (guint i = 0; i < graph->dirty_members->len; i++)
                examine_member(graph, graph->dirty_members->pdata[i], &all);
        if (all)
                mark_all_reach(graph);
        /* Searching finds more members only among those that are known. */
        for (guint i = 0; i < graph->dirty_members->len; i++) {
                Member *member = graph->dirty_members->pdata[i];

                if (member->reach_dirty)
                        search_paths_of(graph, member);
                member->reach_dirty = false;
                if (member->devices_dirty)
                        search_devices_of(graph, member);
                member->devices_dirty = false;
        }
        if (graph->segments_dirty)
                search_segments(graph);
        graph->segments_dirty = false;
}

static bool is_local(AldGraph *graph, const AldId *id)
{
        return ald_id_equal(id, &ald_store_local_node(graph->store)->id);
}

/* Nodes that measured links to a forgotten node keep them in case it returns. */
static bool is_heard_of(AldGraph *graph, const AldId *id)
{
        const AldNode *node = ald_store_find_node(graph->store, id);

        return node && (node->local || node->n_records > 0);
}

static void update_path(AldGraph *graph, Path *path)
{
        g_auto(AldGraphSpace) space = {};
        AldEdgeRow row;
        bool hidden;

        path->dirty = false;
        path->is.searched = graph->n_hosts < ALD_GRAPH_ALL_BELOW || is_local(graph, &path->is.source) ||
                            is_local(graph, &path->is.sink);
        if (!path->is.entry && !path->is.known) {
                remove_path(graph, path);
                return;
        }
        if (path->pair)
                mark_pair(graph, path->pair);
        ald_graph_path_compute(&path->is, graph->store);
        hidden = !is_heard_of(graph, &path->is.source) || !is_heard_of(graph, &path->is.sink);
        for (unsigned i = 0; i < 2; i++) {
                ald_graph_path_describe(&path->is, graph->store, i == 1, &space, &row);
                update_item_row(graph, &path->edges[i], &ald_edge_row_struct, &row, hidden);
        }
}

static void update_pair(AldGraph *graph, Pair *pair)
{
        AldGraphSpace space = {};
        AldNodePairRow row;

        pair->dirty = false;
        if (pair->is.paths->len == 0) {
                bury_item(graph, &pair->item, ALD_GRAPH_GONE_PAIR);
                g_hash_table_remove(graph->pairs, pair);
                return;
        }
        ald_graph_pair_compute(&pair->is);
        ald_graph_pair_describe(&pair->is, &space, &row);
        update_item_row(graph, &pair->item, &ald_node_pair_row_struct, &row,
                !is_heard_of(graph, &pair->is.ids[0]) || !is_heard_of(graph, &pair->is.ids[1]));
}

static void describe_member(const AldId *id, const AldNode *node, AldGraphSpace *space, AldGraphNodeRow *ret)
{
        const AldIdentity *identity = ald_node_as(node, IDENTITY, AldIdentity);
        const AldPresence *presence = ald_node_as(node, PRESENCE, AldPresence);

        *ret = (AldGraphNodeRow) ALD_GRAPH_NODE_ROW_INIT;
        ret->node = ald_id_format(id, space->source);
        ret->presence = ald_graph_node_row_presence_to_string(ald_graph_presence_of(node));
        if (identity)
                ret->name = identity->friendly_name;
        if (presence)
                ret->since_usec = presence->since_usec;
}

/* Returns whether the store has anything of the node that belongs in the graph. */
static bool is_known(const AldNode *node)
{
        static const AldKind kinds[] = { ALD_KIND_IDENTITY, ALD_KIND_PRESENCE, ALD_KIND_NETWORK,
                ALD_KIND_FABRIC };

        for (size_t i = 0; node && i < G_N_ELEMENTS(kinds); i++)
                if (ald_node_record(node, kinds[i]))
                        return true;
        return node && node->local;
}

static void update_member(AldGraph *graph, Member *member)
{
        const AldNode *node = ald_store_find_node(graph->store, &member->id);
        AldGraphSpace space = {};
        AldGraphNodeRow row;

        member->dirty = false;
        if (member->paths->len == 0 && !is_known(node)) {
                bury_item(graph, &member->item, ALD_GRAPH_GONE_NODE);
                g_hash_table_remove(graph->members, &member->id);
                return;
        }
        describe_member(&member->id, node, &space, &row);
        update_item_row(
                graph, &member->item, &ald_graph_node_row_struct, &row, !is_heard_of(graph, &member->id));
}

uint64_t ald_graph_update(AldGraph *graph)
{
        if (!ald_graph_is_outdated(graph))
                return graph->revision;
        process_noted(graph);
        search_all(graph);
        for (guint i = 0; i < graph->dirty_paths->len; i++)
                update_path(graph, graph->dirty_paths->pdata[i]);
        g_ptr_array_set_size(graph->dirty_paths, 0);
        for (guint i = 0; i < graph->dirty_pairs->len; i++)
                update_pair(graph, graph->dirty_pairs->pdata[i]);
        g_ptr_array_set_size(graph->dirty_pairs, 0);
        for (guint i = 0; i < graph->dirty_members->len; i++)
                update_member(graph, graph->dirty_members->pdata[i]);
        g_ptr_array_set_size(graph->dirty_members, 0);
        return graph->revision;
}

/* Reading */

bool ald_graph_remembers(const AldGraph *graph, uint64_t revision)
{
        return revision != 0 && revision >= graph->forgotten && revision <= graph->revision;
}

void ald_graph_foreach_after(AldGraph *graph, uint64_t revision, AldGraphFunc func, void *userdata)
{
        GList *first = NULL;

        if (revision < graph->revision)
                for (GList *place = graph->items.tail; place; place = place->prev) {
                        if (((const Item *) place->data)->is.revision <= revision)
                                break;
                        first = place;
                }
        for (GList *place = first; place; place = place->next)
                if (!func(&((const Item *) place->data)->is, userdata))
                        return;
}

/* Items that are passed to callers are the first member of an Item. */
static const void *owner_of(const AldGraphItem *item)
{
        return ((const Item *) (const void *) item)->owner;
}

void ald_graph_describe_node(
        AldGraph *graph, const AldGraphItem *item, AldGraphSpace *space, AldGraphNodeRow *ret)
{
        describe_member(&item->node, ald_store_find_node(graph->store, &item->node), space, ret);
}

void ald_graph_describe_edge(AldGraph *graph, const AldGraphItem *item, AldGraphSpace *space, AldEdgeRow *ret)
{
        const Path *path = owner_of(item);

        ald_graph_path_describe(&path->is, graph->store, item == &path->edges[1].is, space, ret);
        ret->id = item->edge;
}

void ald_graph_describe_pair(const AldGraphItem *item, AldGraphSpace *space, AldNodePairRow *ret)
{
        ald_graph_pair_describe(&((const Pair *) owner_of(item))->is, space, ret);
}

bool ald_graph_has_returned(const AldGraph *graph, const AldGraphItem *item)
{
        const Pair pair = { .is.ids = { item->node, item->peer } };

        if (item->change == ALD_GRAPH_GONE_NODE)
                return g_hash_table_contains(graph->members, &item->node);
        return item->change == ALD_GRAPH_GONE_PAIR && g_hash_table_contains(graph->pairs, &pair);
}

size_t ald_graph_row_size(AldGraph *graph, const AldGraphItem *item)
{
        g_auto(AldGraphSpace) space = {};
        AldGraphNodeRow node;
        AldEdgeRow edge;

        if (!ald_graph_is_outdated(graph))
                return item->bytes;
        if (item->change == ALD_GRAPH_NODE) {
                ald_graph_describe_node(graph, item, &space, &node);
                return ald_struct_wire_size(&ald_graph_node_row_struct, &node);
        }
        if (item->change == ALD_GRAPH_EDGE) {
                ald_graph_describe_edge(graph, item, &space, &edge);
                return ald_struct_wire_size(&ald_edge_row_struct, &edge);
        }
        return item->bytes;
}

const GPtrArray *ald_graph_segments(const AldGraph *graph)
{
        return graph->segments;
}
