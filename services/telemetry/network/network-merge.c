/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <linux/if_arp.h>
#include <string.h>

#include "record/record.h"
#include "services/telemetry/network/network-merge.h"
#include "services/telemetry/network/network-type.h"

/* Stacks such as a VLAN on a macvlan on a bond are possible; deeper ones than this do not occur in
 * practice. */
#define STACK_MAX 8

/* Neighbours are untrusted; they must not use up the room of the host's own interfaces. */
#define NEIGHBOUR_BYTES_MAX (ALD_RECORD_MAX / 8)
#define INTERFACE_BYTES_MAX (ALD_RECORD_MAX * 7 / 8 - 4096)

struct AldNetworkRows {
        AldNetwork fields;
        GArray *interfaces;
        GArray *neighbours;
        GStringChunk *strings;
        GPtrArray *lists;
        AldNetworkLeftOut left_out;
};

typedef struct Merge {
        const AldLinks *links;
        GHashTable *managed; /* interface name → AldManagedDevice */
        GHashTable *ports;   /* AldNetworkLink → GPtrArray of the names of its ports */
        AldNetworkRows *rows;
} Merge;

static const char *const *keep_list(Merge *merge, GPtrArray *list)
{
        g_ptr_array_add(list, NULL);
        g_ptr_array_add(merge->rows->lists, g_ptr_array_ref(list));
        return (const char *const *) list->pdata;
}

static const AldNetworkLink *link_below(const AldLinks *links, const AldNetworkLink *link)
{
        return ald_link_has_parent(&link->info) ? ald_links_find(links, link->info.parent) : NULL;
}

static const AldNetworkLink *link_above(const AldLinks *links, const AldNetworkLink *link)
{
        const AldNetworkLink *controller = link->info.controller != 0
                                                   ? ald_links_find(links, link->info.controller)
                                                   : NULL;

        return controller && ald_link_has_ports(&controller->info) ? controller : NULL;
}

static const AldManagedDevice *managed_of(const Merge *merge, const AldNetworkLink *link)
{
        return g_hash_table_lookup(merge->managed, link->info.name);
}

/* Returns the type according to the kernel. If the parent is in another network namespace, its type is
 * unknown; the interface then counts as Ethernet, which it looks like. */
static AldInterfaceType kernel_type(const Merge *merge, const AldNetworkLink *link)
{
        AldInterfaceType type = ald_link_type(&link->info, &link->facts);

        for (int i = 0; type == ALD_INTERFACE_TYPE_AS_PARENT; i++) {
                link = link_below(merge->links, link);
                if (!link || i == STACK_MAX)
                        return ALD_INTERFACE_TYPE_ETHERNET;
                type = ald_link_type(&link->info, &link->facts);
        }
        return type;
}

/* Prefers the type of NetworkManager, except for Ethernet, which is a fallback: NetworkManager treats
 * everything that looks like Ethernet as Ethernet. */
static AldInterfaceType type_of(const Merge *merge, const AldNetworkLink *link)
{
        const AldManagedDevice *device = managed_of(merge, link);
        AldInterfaceType type = kernel_type(merge, link);

        if (!device || device->type == ALD_INTERFACE_TYPE_N)
                return type;
        if (device->type == ALD_INTERFACE_TYPE_ETHERNET && type != ALD_INTERFACE_TYPE_UNKNOWN)
                return type;
        return device->type;
}

static bool ports_tell_speed(const Merge *merge, const AldNetworkLink *bond)
{
        for (size_t i = 0; i < ald_links_count(merge->links); i++) {
                const AldLinkInfo *port = &ald_links_at(merge->links, i)->info;

                if (port->controller == bond->info.index && !ald_link_reports_speed(port))
                        return false;
        }
        return true;
}

/* Returns whether the speed is real. A speed inherited from an interface with a made-up speed is made up,
 * too. */
static bool speed_is_real(const Merge *merge, const AldNetworkLink *link)
{
        for (int i = 0; link && i < STACK_MAX; i++) {
                if (!ald_link_reports_speed(&link->info) || !ports_tell_speed(merge, link))
                        return false;
                link = link_below(merge->links, link);
        }
        return true;
}

static uint64_t speed_of(const Merge *merge, const AldNetworkLink *link)
{
        const AldManagedDevice *device = managed_of(merge, link);

        if (!link->info.carrier)
                return ALD_ABSENT_UINT64;
        if (device && device->speed != ALD_ABSENT_UINT64)
                return device->speed;
        return speed_is_real(merge, link) ? link->facts.speed : ALD_ABSENT_UINT64;
}

/* Returns whether an interface has a link-layer address. IP tunnels have the IP address of their end in its
 * place. */
static bool has_hardware_address(const AldLinkInfo *info)
{
        static const uint8_t none[ALD_HARDWARE_ADDRESS_MAX];

        switch (info->arp_type) {
        case ARPHRD_TUNNEL:
        case ARPHRD_TUNNEL6:
        case ARPHRD_SIT:
        case ARPHRD_IPGRE:
        case ARPHRD_IP6GRE:
                return false;
        default:
                return memcmp(info->address, none, info->address_size) != 0;
        }
}

static const char *format_hardware_address(Merge *merge, const AldLinkInfo *info)
{
        char text[ALD_HARDWARE_ADDRESS_MAX * 3 + 1], *at = text;

        if (!has_hardware_address(info))
                return NULL;
        for (size_t i = 0; i < info->address_size; i++)
                at += g_snprintf(at, 4, "%02x:", info->address[i]);
        at[-1] = '\0';
        return g_string_chunk_insert(merge->rows->strings, text);
}

/* Formats the addresses. Two point-to-point addresses with the same local end are one address; they are
 * adjacent in the table. */
static const char *const *format_addresses(Merge *merge, const AldNetworkLink *link)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new();
        char bytes[INET6_ADDRSTRLEN], text[INET6_ADDRSTRLEN + 4];

        for (guint i = 0; i < link->addresses->len; i++) {
                const AldLinkAddress *address = &g_array_index(link->addresses, AldLinkAddress, i);

                inet_ntop(address->family, address->local, bytes, sizeof bytes);
                g_snprintf(text, sizeof text, "%s/%u", bytes, address->prefix);
                if (list->len == 0 || !g_str_equal(list->pdata[list->len - 1], text))
                        g_ptr_array_add(list, g_string_chunk_insert(merge->rows->strings, text));
        }
        return list->len > 0 ? keep_list(merge, list) : NULL;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static void collect_ports(Merge *merge)
{
        for (size_t i = 0; i < ald_links_count(merge->links); i++) {
                AldNetworkLink *port = ald_links_at(merge->links, i);
                const AldNetworkLink *controller = link_above(merge->links, port);
                GPtrArray *names = controller ? g_hash_table_lookup(merge->ports, controller) : NULL;

                if (!controller)
                        continue;
                if (!names) {
                        names = g_ptr_array_new();
                        g_hash_table_insert(merge->ports, (gpointer) controller, names);
                }
                g_ptr_array_add(names, port->info.name);
        }
}

static const char *const *ports_of(Merge *merge, const AldNetworkLink *link)
{
        GPtrArray *names = g_hash_table_lookup(merge->ports, link);

        if (!names)
                return NULL;
        g_ptr_array_sort(names, compare_names);
        return keep_list(merge, names);
}

static void fill_managed(const AldManagedDevice *device, AldInterface *row)
{
        if (!device)
                return;
        if (device->metered != ALD_INTERFACE_METERED_N)
                row->metered = ald_interface_metered_to_string(device->metered);
        row->connection = device->connection;
}

static void fill_row(Merge *merge, const AldNetworkLink *link, AldInterface *row)
{
        const AldNetworkLink *above = link_above(merge->links, link), *below = link_below(merge->links, link);

        *row = (AldInterface) ALD_INTERFACE_INIT;
        row->id = link->info.name;
        row->type = ald_interface_type_to_string(type_of(merge, link));
        row->hardware_address = format_hardware_address(merge, &link->info);
        row->addresses = format_addresses(merge, link);
        row->speed_bits_per_second = speed_of(merge, link);
        if (link->info.mtu != 0)
                row->mtu = link->info.mtu;
        /* A software interface has no device with a driver, so its kind takes the place of the driver. */
        row->driver = link->facts.driver ? link->facts.driver : link->info.kind;
        row->enabled = link->info.enabled;
        row->carrier = link->info.carrier;
        row->controller = above ? above->info.name : NULL;
        row->ports = ports_of(merge, link);
        row->parent = below ? below->info.name : NULL;
        fill_managed(managed_of(merge, link), row);
}

#define ALIGN8(n) (((n) + 7u) & ~(size_t) 7u)

/* Returns the room that a row takes in a record, with the string lists counted generously. */
static size_t row_bytes(const AldStruct *type, const void *row)
{
        size_t bytes = type->size;

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_field_of(field, row);

                if (ald_field_is_absent(field, value))
                        continue;
                if (field->type == ALD_TYPE_STRING)
                        bytes += ALIGN8(strlen(*(const char *const *) value) + 1);
                for (const char *const *item =
                                field->type == ALD_TYPE_STRV ? *(const char *const *const *) value : NULL;
                        item && *item; item++)
                        bytes += 2 * sizeof(char *) + ALIGN8(strlen(*item) + 1);
        }
        return bytes;
}

/* Adds interfaces by increasing index, so that hardware comes first, and interfaces of containers, which come
 * later, are left out if there is no room. */
static void add_interfaces(Merge *merge)
{
        AldNetworkRows *rows = merge->rows;
        size_t room = INTERFACE_BYTES_MAX;

        for (size_t i = 0; i < ald_links_count(merge->links); i++) {
                AldInterface row;
                size_t bytes;

                fill_row(merge, ald_links_at(merge->links, i), &row);
                if (!g_utf8_validate(row.id, -1, NULL)) {
                        rows->left_out.names++;
                        continue;
                }
                bytes = row_bytes(&ald_interface_struct, &row);
                if (bytes > room) {
                        rows->left_out.interfaces++;
                        continue;
                }
                room -= bytes;
                g_array_append_val(rows->interfaces, row);
        }
}

static void add_neighbours(Merge *merge, const AldManaged *managed)
{
        AldNetworkRows *rows = merge->rows;
        size_t room = NEIGHBOUR_BYTES_MAX;

        for (size_t i = 0; i < managed->n_neighbours; i++) {
                AldNeighbour row = managed->neighbours[i];
                g_autofree char *id = NULL;
                size_t bytes;

                if (!row.interface || !row.chassis_id || !row.port_id)
                        continue;
                id = g_strdup_printf("%s,%s,%s", row.interface, row.chassis_id, row.port_id);
                row.id = id;
                bytes = row_bytes(&ald_neighbour_struct, &row);
                if (bytes > room) {
                        rows->left_out.neighbours++;
                        continue;
                }
                room -= bytes;
                row.id = g_string_chunk_insert(rows->strings, id);
                g_array_append_val(rows->neighbours, row);
        }
}

AldNetworkRows *ald_network_merge(const AldLinks *links, const AldManaged *managed)
{
        g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GHashTable)
                ports = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) g_ptr_array_unref);
        AldNetworkRows *rows = g_new(AldNetworkRows, 1);
        Merge merge = { .links = links, .managed = by_name, .ports = ports, .rows = rows };

        *rows = (AldNetworkRows){
                .fields = ALD_NETWORK_INIT,
                .interfaces = g_array_new(FALSE, FALSE, sizeof(AldInterface)),
                .neighbours = g_array_new(FALSE, FALSE, sizeof(AldNeighbour)),
                .strings = g_string_chunk_new(4096),
                .lists = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref),
        };
        for (size_t i = 0; i < managed->n_devices; i++)
                g_hash_table_insert(
                        by_name, (gpointer) managed->devices[i].interface, (gpointer) &managed->devices[i]);
        collect_ports(&merge);
        add_interfaces(&merge);
        add_neighbours(&merge, managed);

        rows->left_out.links = ald_links_left_out(links);
        rows->left_out.addresses = ald_links_addresses_left_out(links);
        rows->fields.interfaces.items = rows->interfaces->data;
        rows->fields.interfaces.n = rows->interfaces->len;
        rows->fields.neighbours.items = rows->neighbours->data;
        rows->fields.neighbours.n = rows->neighbours->len;
        return rows;
}

void ald_network_rows_free(AldNetworkRows *rows)
{
        g_array_unref(rows->interfaces);
        g_array_unref(rows->neighbours);
        g_string_chunk_free(rows->strings);
        g_ptr_array_unref(rows->lists);
        g_free(rows);
}

const AldNetwork *ald_network_rows_fields(const AldNetworkRows *rows)
{
        return &rows->fields;
}

AldNetworkLeftOut ald_network_rows_left_out(const AldNetworkRows *rows)
{
        return rows->left_out;
}

static bool left_out_equal(const AldNetworkLeftOut *a, const AldNetworkLeftOut *b)
{
        return a->links == b->links && a->addresses == b->addresses && a->names == b->names &&
               a->interfaces == b->interfaces && a->neighbours == b->neighbours;
}

/* Appends "3 WHAT" to the list unless the number is 0. */
static void append_count(GString *list, size_t n, const char *one, const char *many)
{
        if (n > 0)
                g_string_append_printf(list, "%s%zu %s", list->len > 0 ? ", " : "", n, n == 1 ? one : many);
}

void ald_network_left_out_report(AldNetworkLeftOut *logged, const AldNetworkLeftOut *now)
{
        g_autoptr(GString) list = g_string_new(NULL);

        if (left_out_equal(logged, now))
                return;
        *logged = *now;
        append_count(list, now->links, "interface beyond the limit of " G_STRINGIFY(ALD_LINKS_MAX),
                "interfaces beyond the limit of " G_STRINGIFY(ALD_LINKS_MAX));
        append_count(list, now->interfaces, "interface for which the record has no room",
                "interfaces for which the record has no room");
        append_count(list, now->names, "interface whose name is not UTF-8",
                "interfaces whose names are not UTF-8");
        append_count(list, now->addresses,
                "address beyond the limit of " G_STRINGIFY(ALD_LINK_ADDRESSES_MAX) " for each interface",
                "addresses beyond the limit of " G_STRINGIFY(ALD_LINK_ADDRESSES_MAX) " for each interface");
        append_count(list, now->neighbours, "neighbour for which the record has no room",
                "neighbours for which the record has no room");
        if (list->len > 0)
                g_warning("The network record leaves out %s", list->str);
        else
                g_message("The network record is complete again");
}
