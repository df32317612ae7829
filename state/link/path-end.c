/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "record/record.h"
#include "state/link/interface-roles.h"
#include "state/link/path-end.h"

/* Limits on the depth of stacked interfaces, on their number, and on the names of ports that are looked up: a
 * Linux bridge has at most 1024 ports, but a record has room for far more, and thousands of links may lead
 * over it. */
#define DEPTH_MAX 8u
#define VISITED_MAX 256u
#define NAMES_MAX 1024u

typedef struct PortSearch {
        const AldNetwork *network;
        AldActivePort active;
        void *userdata;
        GHashTable *visited; /* visited interfaces, since those that a peer reports may form a cycle */
        unsigned n_names;    /* names of ports that were looked up */
} PortSearch;

static const AldInterface *find_interface(const AldNetwork *network, const char *name)
{
        return network && name ? ald_rows_find(&network->interfaces, name) : NULL;
}

/* Returns the interface below a VLAN or macvlan. Traffic of a tunnel may take any path. */
static const AldInterface *find_parent(const PortSearch *search, const AldInterface *interface)
{
        return ald_interface_is(interface, ALD_INTERFACE_TYPE_TUNNEL)
                       ? NULL
                       : find_interface(search->network, interface->parent);
}

static void collect_carriers(
        PortSearch *search, const AldInterface *interface, unsigned depth, GPtrArray *found);

static void collect_ports(PortSearch *search, const AldInterface *interface, unsigned depth, GPtrArray *found)
{
        bool bond = ald_interface_is(interface, ALD_INTERFACE_TYPE_BOND);
        g_autofree char *active = bond && search->active ? search->active(interface->id, search->userdata)
                                                         : NULL;

        for (const char *const *name = interface->ports; name && *name && search->n_names < NAMES_MAX;
                name++, search->n_names++) {
                const AldInterface *port = find_interface(search->network, *name);

                if (port && port->carrier != 0 && (!active || strcmp(active, *name) == 0))
                        collect_carriers(search, port, depth + 1, found);
        }
}

/* Adds the interfaces that carry its traffic, several if nothing shows which one does. */
static void collect_carriers(
        PortSearch *search, const AldInterface *interface, unsigned depth, GPtrArray *found)
{
        const AldInterface *parent = find_parent(search, interface);

        if (depth >= DEPTH_MAX || g_hash_table_size(search->visited) >= VISITED_MAX ||
                !g_hash_table_add(search->visited, (gpointer) interface))
                return;
        if (parent)
                collect_carriers(search, parent, depth + 1, found);
        else if (ald_interface_is(interface, ALD_INTERFACE_TYPE_BRIDGE) ||
                 ald_interface_is(interface, ALD_INTERFACE_TYPE_BOND))
                collect_ports(search, interface, depth, found);
        else
                g_ptr_array_add(found, (gpointer) interface);
}

/* Ignores the ports of containers and virtual machines if a bridge has physical ports, too. */
static void keep_physical(GPtrArray *found)
{
        bool any = false;

        for (guint i = 0; i < found->len; i++)
                any = any || ald_interface_is_physical(found->pdata[i]);
        for (guint i = found->len; any && i > 0; i--)
                if (!ald_interface_is_physical(found->pdata[i - 1]))
                        g_ptr_array_remove_index(found, i - 1);
}

static const char *type_of(const AldInterface *port)
{
        for (AldInterfaceType type = 0; type < ALD_INTERFACE_TYPE_N; type++)
                if (type != ALD_INTERFACE_TYPE_UNKNOWN && ald_interface_is(port, type))
                        return ald_interface_type_to_string(type);
        return NULL;
}

static const char *common_type(const GPtrArray *ports)
{
        const char *type = ports->len > 0 ? type_of(ports->pdata[0]) : NULL;

        for (guint i = 1; i < ports->len; i++)
                if (g_strcmp0(type_of(ports->pdata[i]), type) != 0)
                        return NULL;
        return type;
}

static uint64_t common_speed(const GPtrArray *ports)
{
        const AldInterface *first = ports->len > 0 ? ports->pdata[0] : NULL;

        for (guint i = 1; i < ports->len; i++)
                if (((const AldInterface *) ports->pdata[i])->speed_bits_per_second !=
                        first->speed_bits_per_second)
                        return ALD_ABSENT_UINT64;
        return first ? first->speed_bits_per_second : ALD_ABSENT_UINT64;
}

/* A bond reports the combined speed of its ports. The kernel reports for a bridge the greatest speed of any
 * port, including ports of virtual machines. */
static uint64_t speed_of(const PortSearch *search, const AldInterface *interface, const GPtrArray *ports)
{
        const AldInterface *parent;

        for (unsigned depth = 0; depth < DEPTH_MAX && (parent = find_parent(search, interface)); depth++)
                interface = parent;
        if (!ald_interface_is(interface, ALD_INTERFACE_TYPE_BRIDGE) &&
                interface->speed_bits_per_second != ALD_ABSENT_UINT64)
                return interface->speed_bits_per_second;
        return common_speed(ports);
}

static uint64_t generation_of(const AldFabric *fabric, const AldInterface *port)
{
        for (size_t i = 0; fabric && port && i < fabric->thunderbolt_ports.n; i++) {
                const AldThunderboltPort *row = ald_rows_at(&fabric->thunderbolt_ports, i);

                if (g_strcmp0(row->interface, port->id) == 0)
                        return row->generation;
        }
        return ALD_ABSENT_UINT64;
}

AldPathEnd ald_path_end_of(const AldNetwork *network, const AldFabric *fabric, const AldInterface *interface,
        AldActivePort active, void *userdata)
{
        g_autoptr(GHashTable) visited = g_hash_table_new(NULL, NULL);
        PortSearch search = { network, active, userdata, visited, 0 };
        g_autoptr(GPtrArray) ports = g_ptr_array_new();
        AldPathEnd end = ALD_PATH_END_NONE;

        collect_carriers(&search, interface, 0, ports);
        keep_physical(ports);
        end.port = ports->len == 1 ? ports->pdata[0] : NULL;
        end.type = common_type(ports);
        end.generation = generation_of(fabric, end.port);
        end.bits_per_second = speed_of(&search, interface, ports);
        return end;
}

AldPathEnd ald_path_end_find(
        const AldNetwork *network, const AldFabric *fabric, const char *name, const char *address)
{
        const AldInterface *interface = find_interface(network, name);

        if (!interface && !name && network && address)
                interface = ald_network_find_address(network, address);
        return interface ? ald_path_end_of(network, fabric, interface, NULL, NULL) : ALD_PATH_END_NONE;
}

/* The most significant type comes first. */
static const AldInterfaceType types_by_rank[] = {
        ALD_INTERFACE_TYPE_WIFI,
        ALD_INTERFACE_TYPE_TUNNEL,
        ALD_INTERFACE_TYPE_UNKNOWN,
        ALD_INTERFACE_TYPE_ETHERNET,
        ALD_INTERFACE_TYPE_INFINIBAND,
        ALD_INTERFACE_TYPE_THUNDERBOLT,
        ALD_INTERFACE_TYPE_VETH,
};

static unsigned rank_of(const char *type)
{
        for (unsigned i = 0; type && i < G_N_ELEMENTS(types_by_rank); i++)
                if (strcmp(type, ald_interface_type_to_string(types_by_rank[i])) == 0)
                        return i;
        /* Other types say nothing about the path. */
        return rank_of(ald_interface_type_to_string(ALD_INTERFACE_TYPE_UNKNOWN));
}

const char *ald_path_type(const char *source, const char *sink)
{
        AldInterfaceType type = types_by_rank[MIN(rank_of(source), rank_of(sink))];

        return type == ALD_INTERFACE_TYPE_UNKNOWN ? NULL : ald_interface_type_to_string(type);
}

uint64_t ald_path_speed(uint64_t source, uint64_t sink)
{
        return source == ALD_ABSENT_UINT64 ? source : MIN(source, sink);
}

/* In records of version 0.1.0, iWARP ports differ from RoCE ports only in lacking such a GID. */
static bool has_rocev2(const AldRdmaPort *port)
{
        for (const char *const *gid = port->gids; gid && *gid; gid++)
                if (strstr(*gid, " rocev2 "))
                        return true;
        return false;
}

static bool has_link_layer(const AldRdmaPort *port, AldRdmaPortLinkLayer layer)
{
        return port && g_strcmp0(port->link_layer, ald_rdma_port_link_layer_to_string(layer)) == 0;
}

const char *ald_path_rdma_transport(const AldRdmaPort *source, const AldRdmaPort *sink)
{
        if (has_link_layer(source, ALD_RDMA_PORT_LINK_LAYER_INFINIBAND) &&
                has_link_layer(sink, ALD_RDMA_PORT_LINK_LAYER_INFINIBAND))
                return ald_link_rdma_transport_to_string(ALD_LINK_RDMA_TRANSPORT_INFINIBAND);
        if (has_link_layer(source, ALD_RDMA_PORT_LINK_LAYER_ETHERNET) &&
                has_link_layer(sink, ALD_RDMA_PORT_LINK_LAYER_ETHERNET) && has_rocev2(source) &&
                has_rocev2(sink))
                return ald_link_rdma_transport_to_string(ALD_LINK_RDMA_TRANSPORT_ROCE);
        return NULL;
}
