/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <string.h>

#include "state/link/interface-roles.h"
#include "state/link/link.h"
#include "state/topology/segments-build.h"

/* Joins RDMA ports by the prefix of their GIDs, or by the interfaces behind them, and by the addresses that
 * probes reached. */

#define DEFAULT_PREFIX "fe80::/64"

static bool is(const char *string, const char *value)
{
        return string && strcmp(string, value) == 0;
}

static bool over_infiniband(const AldRdmaPort *port)
{
        return is(port->link_layer, ald_rdma_port_link_layer_to_string(ALD_RDMA_PORT_LINK_LAYER_INFINIBAND));
}

bool ald_rdma_port_is_roce(const AldRdmaPort *port)
{
        return port->transport
                       ? is(port->transport, ald_rdma_port_transport_to_string(ALD_RDMA_PORT_TRANSPORT_ROCE))
                       : !over_infiniband(port);
}

bool ald_rdma_port_is_ready(const AldRdmaPort *port)
{
        return is(port->state, "active") && port->gids && *port->gids;
}

/* Returns the prefix of the first GID, such as "fec0::/64" for "0 ib fec0::1:2"; NULL if it is not a GID. */
static const char *prefix_of(AldSegmentBuild *build, const AldRdmaPort *port)
{
        const char *type = strchr(port->gids[0], ' '), *gid = type ? strchr(type + 1, ' ') : NULL;
        char text[INET6_ADDRSTRLEN];
        struct in6_addr bytes;
        g_autofree char *prefix = NULL;

        if (!gid || inet_pton(AF_INET6, gid + 1, &bytes) != 1)
                return NULL;
        memset(bytes.s6_addr + 8, 0, 8);
        inet_ntop(AF_INET6, &bytes, text, sizeof text);
        prefix = g_strdup_printf("%s/64", text);
        return g_string_chunk_insert_const(build->strings, prefix);
}

typedef struct RdmaPortAddition {
        AldSegmentBuild *build;
        GHashTable *subnets; /* prefix → the first AldVertex in it */
} RdmaPortAddition;

/* Adds a port, and joins it with the first one that has the same prefix. */
static void add_infiniband_port(RdmaPortAddition *addition, const AldNode *node, const AldRdmaPort *port)
{
        const char *prefix = prefix_of(addition->build, port);
        AldVertex *vertex, *first;

        if (!prefix)
                return;
        vertex = ald_segment_vertex(addition->build, ALD_SEGMENT_INFINIBAND, node, port->id, true);
        vertex->identity = prefix;
        first = g_hash_table_lookup(addition->subnets, prefix);
        if (first)
                ald_segment_join(first, vertex, is(prefix, DEFAULT_PREFIX) ? ALD_JOIN_MAYBE : ALD_JOIN_SURE);
        else
                g_hash_table_insert(addition->subnets, (gpointer) prefix, vertex);
}

static void add_port(RdmaPortAddition *addition, const AldNode *node, const AldRdmaPort *port)
{
        const AldOwners *owners = addition->build->owners;

        if (!ald_rdma_port_is_ready(port) || !ald_owners_has(owners, node, port->node_guid) ||
                !ald_owners_has(owners, node, port->port_guid))
                return;
        if (over_infiniband(port))
                add_infiniband_port(addition, node, port);
        else if (port->interface && ald_rdma_port_is_roce(port))
                ald_segment_join(ald_segment_vertex(addition->build, ALD_SEGMENT_ROCE, node, port->id, true),
                        ald_segment_link(addition->build, node, port->interface), ALD_JOIN_SURE);
}

void ald_segments_add_rdma_ports(AldSegmentBuild *build)
{
        g_autoptr(GHashTable) subnets = g_hash_table_new(g_str_hash, g_str_equal);
        RdmaPortAddition addition = { .build = build, .subnets = subnets };

        for (guint i = 0; i < build->nodes->len; i++) {
                const AldNode *node = build->nodes->pdata[i];
                const AldFabric *fabric = ald_node_as(node, FABRIC, AldFabric);

                for (size_t k = 0; fabric && k < fabric->rdma_ports.n; k++)
                        add_port(&addition, node, ald_rows_at(&fabric->rdma_ports, k));
        }
}

static void join_by_rdma(
        AldSegmentBuild *build, const AldLink *link, const AldNode *source, const AldNode *sink)
{
        AldVertex *a = ald_segment_find(build, ALD_SEGMENT_INFINIBAND, source, link->from, true);
        AldVertex *b = ald_segment_find(build, ALD_SEGMENT_INFINIBAND, sink, link->to, true);

        if (a && b && is(a->identity, b->identity))
                ald_segment_join(a, b, ALD_JOIN_SURE);
}

static bool is_link_local(const char *address)
{
        struct in6_addr bytes;

        if (g_str_has_prefix(address, "169.254."))
                return true;
        return inet_pton(AF_INET6, address, &bytes) == 1 && IN6_IS_ADDR_LINKLOCAL(&bytes);
}

/* Returns the carrier of the interfaces that have the address; NULL if they are not all on one link, which is
 * possible for link-local addresses. */
static const char *interface_with(const AldNetwork *network, const char *address)
{
        const AldInterface *found = NULL;
        size_t n = strlen(address);

        for (size_t i = 0; i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i), *carrier;

                for (const char *const *a = interface->addresses; a && *a; a++) {
                        if (strncmp(*a, address, n) != 0 || (*a)[n] != '/')
                                continue;
                        carrier = ald_network_find_carrier(network, interface);
                        if (found && found != carrier)
                                return NULL;
                        found = carrier;
                }
        }
        return found ? found->id : NULL;
}

/* Returns whether the network of "192.0.2.1/24" contains the address. */
static bool network_contains(const char *own, const char *address)
{
        int family = strchr(own, ':') ? AF_INET6 : AF_INET;
        unsigned bits = family == AF_INET ? 32 : 128;
        uint8_t a[sizeof(struct in6_addr)], b[sizeof(struct in6_addr)];
        const char *slash = strchr(own, '/');
        g_autofree char *plain = slash ? g_strndup(own, (gsize) (slash - own)) : NULL;
        guint64 prefix;

        if (!plain || !g_ascii_string_to_unsigned(slash + 1, 10, 1, bits - 1, &prefix, NULL) ||
                inet_pton(family, plain, a) != 1 || inet_pton(family, address, b) != 1)
                return false;
        for (unsigned i = 0; i < prefix; i++)
                if ((a[i / 8] ^ b[i / 8]) & 0x80 >> i % 8)
                        return false;
        return true;
}

static bool is_on_link(const AldNode *source, const char *interface, const char *address)
{
        const AldNetwork *network = ald_node_as(source, NETWORK, AldNetwork);
        const AldInterface *own = network ? ald_rows_find(&network->interfaces, interface) : NULL;

        for (const char *const *text = own ? own->addresses : NULL; text && *text; text++)
                if (network_contains(*text, address))
                        return true;
        return false;
}

/* A host that answers at a link-local address is on the link; at an address of the same network, it is likely
 * to be. */
static void join_by_socket(
        AldSegmentBuild *build, const AldLink *link, const AldNode *source, const AldNode *sink)
{
        const AldNetwork *network = ald_node_as(sink, NETWORK, AldNetwork);
        bool link_local = is_link_local(link->to);
        const char *interface;

        if (!network || (!link_local && !is_on_link(source, link->from, link->to)))
                return;
        interface = interface_with(network, link->to);
        if (interface)
                ald_segment_join_links(build, source, link->from, sink, interface,
                        link_local ? ALD_JOIN_SURE : ALD_JOIN_MAYBE);
}

static void join_by_link(AldSegmentBuild *build, const AldEntry *entry)
{
        const AldLink link = ald_link_of(entry);
        const AldNode *sink;

        if (!ald_link_reaches_sink(&link) || !link.from || !link.to)
                return;
        sink = ald_store_find_node(build->store, &link.sink);
        if (!sink || sink == entry->node || !g_hash_table_contains(build->counted, sink))
                return;
        if (link.rdma)
                join_by_rdma(build, &link, entry->node, sink);
        else
                join_by_socket(build, &link, entry->node, sink);
}

/* Only measurements of nodes with ready ports are considered. */
void ald_segments_join_by_links(AldSegmentBuild *build)
{
        g_autoptr(GHashTable) sources = g_hash_table_new(NULL, NULL);
        GHashTableIter iter;
        gpointer key;

        g_hash_table_iter_init(&iter, build->vertices);
        while (g_hash_table_iter_next(&iter, &key, NULL)) {
                const AldVertex *vertex = key;

                if (vertex->is_port && vertex->how >= ALD_SEGMENT_INFINIBAND)
                        g_hash_table_add(sources, (gpointer) vertex->node);
        }
        g_hash_table_iter_init(&iter, sources);
        while (g_hash_table_iter_next(&iter, &key, NULL))
                for (AldEntry *entry = ald_node_after(key, NULL); entry; entry = ald_node_after(key, entry))
                        if (ald_kinds[entry->kind].is_link && entry->record)
                                join_by_link(build, entry);
}
