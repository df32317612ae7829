/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "record/schema.h"
#include "services/common/sysroot.h"
#include "services/common/thunderbolt.h"
#include "services/telemetry/fabric/fabric.h"
#include "services/telemetry/host/device-watch.h"

/* The rows of one scan, with the strings they point to. */
typedef struct FabricRows {
        int root;
        GStringChunk *strings;
        GPtrArray *lists;    /* of char **, whose strings are in `strings` */
        GArray *rdma_ports;  /* of AldRdmaPort */
        GArray *domains;     /* of AldThunderboltDomain */
        GArray *connections; /* of AldThunderboltPort */
        unsigned left_out;   /* rows of any kind */
        unsigned gids_left_out;
        GHashTable *warned; /* paths that were logged as unreadable, by any scan */
} FabricRows;
/* Maximum number of rows of each kind, in case sysfs is broken or hostile. */
#define FABRIC_ROWS_MAX 64u
/* Maximum number of unreadable files that are logged. */
#define WARNINGS_MAX 256u

static FabricRows *fabric_rows_new(int root, GHashTable *warned)
{
        FabricRows *rows = g_new(FabricRows, 1);

        *rows = (FabricRows){
                .root = root,
                .strings = g_string_chunk_new(256),
                .lists = g_ptr_array_new_with_free_func(g_free),
                .rdma_ports = g_array_new(FALSE, FALSE, sizeof(AldRdmaPort)),
                .domains = g_array_new(FALSE, FALSE, sizeof(AldThunderboltDomain)),
                .connections = g_array_new(FALSE, FALSE, sizeof(AldThunderboltPort)),
                .warned = warned,
        };
        return rows;
}

static void fabric_rows_free(FabricRows *rows)
{
        g_array_unref(rows->rdma_ports);
        g_array_unref(rows->domains);
        g_array_unref(rows->connections);
        g_ptr_array_unref(rows->lists);
        g_string_chunk_free(rows->strings);
        g_free(rows);
}

/* Returns whether another row fits in this array; if not, counts it as left out. */
static bool fabric_has_room(FabricRows *rows, const GArray *array)
{
        if (array->len < FABRIC_ROWS_MAX)
                return true;
        rows->left_out++;
        return false;
}

/* Returns whether an error is normal: the file does not exist, the driver does not support it, or the device
 * has just disappeared. */
static bool is_expected_error(int error)
{
        return error == -ENOENT || error == -ENOTDIR || error == -ENODATA || error == -ENODEV ||
               error == -EINVAL;
}

/* Reads a file into a string that the rows own. Returns NULL if it cannot be read, which is logged once
 * unless it is normal. */
static const char *fabric_read(FabricRows *rows, const char *directory, const char *file)
{
        g_autofree char *path = g_strdup_printf("%s/%s", directory, file), *text = NULL;
        int r = ald_sysroot_read_string(rows->root, path, &text);

        if (r < 0) {
                if (!is_expected_error(r) && g_hash_table_size(rows->warned) < WARNINGS_MAX &&
                        g_hash_table_add(rows->warned, g_strdup(path)))
                        g_warning("Cannot read /%s: %s; its values are omitted", path, g_strerror(-r));
                return NULL;
        }
        return g_string_chunk_insert_const(rows->strings, text);
}

/* Returns the first network interface in a directory whose entries are named after interfaces, or NULL. */
static const char *fabric_first_interface(FabricRows *rows, const char *directory)
{
        g_auto(GStrv) names = NULL;

        if (ald_sysroot_list(rows->root, directory, &names) < 0 || !names[0])
                return NULL;
        return g_string_chunk_insert_const(rows->strings, names[0]);
}

#define CLASS "sys/class/infiniband"
#define VERBS "sys/class/infiniband_verbs"

/* GIDS_MAX is the limit that the record documents. The tables of some adapters are much longer, and mostly
 * empty. */
#define GIDS_MAX 32u
#define GIDS_SCANNED 256u

#define GIGABIT 1e9

/* Returns "active" for "4: ACTIVE"; NULL if there is no word. */
static const char *word_after_number(FabricRows *rows, const char *text)
{
        const char *colon = text ? strchr(text, ':') : NULL;
        g_autofree char *word = colon ? g_ascii_strdown(colon + 1, -1) : NULL;

        if (!word || *g_strstrip(word) == '\0')
                return NULL;
        return g_string_chunk_insert_const(rows->strings, word);
}

/* Parses a rate such as "100 Gb/sec (4X EDR)" into bits per second; absent for anything else. */
static uint64_t parse_rate(const char *text)
{
        char *unit;
        double gigabits = text ? g_ascii_strtod(text, &unit) : 0;

        if (!text || !g_str_has_prefix(unit, " Gb/sec") || !(gigabits > 0 && gigabits < 1e6))
                return ALD_ABSENT_UINT64;
        return (uint64_t) (gigabits * GIGABIT);
}

static const char *link_layer_of(const char *text)
{
        if (g_strcmp0(text, "InfiniBand") == 0)
                return ald_rdma_port_link_layer_to_string(ALD_RDMA_PORT_LINK_LAYER_INFINIBAND);
        if (g_strcmp0(text, "Ethernet") == 0)
                return ald_rdma_port_link_layer_to_string(ALD_RDMA_PORT_LINK_LAYER_ETHERNET);
        return NULL;
}

/* Returns the transport by the node type of the device, such as "4: RNIC"; NULL if unknown. The link layer
 * does not suffice, since it is Ethernet for iWARP and some vendors' own protocols as well. */
static const char *transport_of(const char *node_type, const char *link_layer)
{
        AldRdmaPortTransport transport = ALD_RDMA_PORT_TRANSPORT_OTHER;

        switch (node_type ? g_ascii_strtoull(node_type, NULL, 10) : 0) {
        case 0:
                return NULL;
        case 1: /* CA */
        case 2: /* switch */
        case 3: /* router */
                if (!link_layer)
                        return NULL;
                transport = g_str_equal(link_layer, "ethernet") ? ALD_RDMA_PORT_TRANSPORT_ROCE
                                                                : ALD_RDMA_PORT_TRANSPORT_INFINIBAND;
                break;
        case 4: /* RNIC */
                transport = ALD_RDMA_PORT_TRANSPORT_IWARP;
                break;
        default: /* usNIC, and protocols of vendors */
                break;
        }
        return ald_rdma_port_transport_to_string(transport);
}

/* Returns the type of a GID. The kernel reports "IB/RoCE v1" for everything that is not RoCE v2, so the port
 * decides first. */
static const char *gid_type_of(const char *text, const AldRdmaPort *port)
{
        int transport = ald_rdma_port_transport_from_string(port->transport);

        if (transport == ALD_RDMA_PORT_TRANSPORT_IWARP || transport == ALD_RDMA_PORT_TRANSPORT_OTHER)
                return port->transport;
        if (g_strcmp0(port->link_layer, "ethernet") != 0)
                return "ib";
        return g_strcmp0(text, "RoCE v2") == 0 ? "rocev2" : "rocev1";
}

typedef struct Gid {
        struct in6_addr bytes;
        const char *type;
        const char *interface; /* or NULL */
} Gid;

/* Reads one entry of the GID table. Returns false if it is empty or not a GID. */
static bool read_gid(
        FabricRows *rows, const char *directory, unsigned index, const AldRdmaPort *port, Gid *ret)
{
        char file[64];
        const char *text;

        snprintf(file, sizeof file, "gids/%u", index);
        text = fabric_read(rows, directory, file);
        if (!text || inet_pton(AF_INET6, text, &ret->bytes) != 1 || IN6_IS_ADDR_UNSPECIFIED(&ret->bytes))
                return false;
        snprintf(file, sizeof file, "gid_attrs/types/%u", index);
        ret->type = gid_type_of(fabric_read(rows, directory, file), port);
        snprintf(file, sizeof file, "gid_attrs/ndevs/%u", index);
        ret->interface = g_strcmp0(port->link_layer, "ethernet") == 0 ? fabric_read(rows, directory, file)
                                                                      : NULL;
        return true;
}

static const char *describe_gid(FabricRows *rows, unsigned index, const Gid *gid)
{
        char text[INET6_ADDRSTRLEN];
        g_autofree char *line = NULL;

        inet_ntop(AF_INET6, &gid->bytes, text, sizeof text);
        line = g_strdup_printf(
                "%u %s %s%s%s", index, gid->type, text, gid->interface ? " " : "", gid->interface ?: "");
        return g_string_chunk_insert_const(rows->strings, line);
}

/* Returns the GUID of an InfiniBand port, which is the second half of its first GID. */
static const char *port_guid_of(FabricRows *rows, const Gid *gid)
{
        const uint8_t *half = gid->bytes.s6_addr + 8;
        char text[20];

        snprintf(text, sizeof text, "%02x%02x:%02x%02x:%02x%02x:%02x%02x", half[0], half[1], half[2], half[3],
                half[4], half[5], half[6], half[7]);
        return g_string_chunk_insert_const(rows->strings, text);
}

static void read_gids(FabricRows *rows, const char *directory, AldRdmaPort *port)
{
        bool ethernet = g_strcmp0(port->link_layer, "ethernet") == 0;
        g_autoptr(GPtrArray) list = g_ptr_array_new();

        for (unsigned i = 0; i < GIDS_SCANNED; i++) {
                Gid gid;

                if (!read_gid(rows, directory, i, port, &gid))
                        continue;
                if (list->len == GIDS_MAX) {
                        rows->gids_left_out++;
                        continue;
                }
                g_ptr_array_add(list, (char *) describe_gid(rows, i, &gid));
                if (!port->interface)
                        port->interface = gid.interface;
                if (i == 0 && !ethernet)
                        port->port_guid = port_guid_of(rows, &gid);
        }
        if (list->len == 0)
                return;
        g_ptr_array_add(list, NULL);
        port->gids = (const char *const *) list->pdata;
        g_ptr_array_add(rows->lists, g_ptr_array_free(g_steal_pointer(&list), FALSE));
}

static const char *driver_of(FabricRows *rows, const char *node)
{
        g_autofree char *link = g_strdup_printf("%s/device/driver", node), *driver = NULL;

        if (ald_sysroot_link_name(rows->root, link, &driver) < 0)
                return NULL;
        return g_string_chunk_insert_const(rows->strings, driver);
}

/* Returns a problem if the kernel has no uverbs device for this device, so that programs cannot open it.
 * Returns NULL if it has one, or if the uverbs devices cannot be listed. */
static const char *problem_of(FabricRows *rows, const char *device)
{
        g_auto(GStrv) names = NULL;
        int r = ald_sysroot_list(rows->root, VERBS, &names);

        if (r < 0 && r != -ENOENT)
                return NULL;
        for (char **name = names; name && *name; name++) {
                g_autofree char *directory = g_strdup_printf(VERBS "/%s", *name);

                if (g_strcmp0(fabric_read(rows, directory, "ibdev"), device) == 0)
                        return NULL;
        }
        return ald_rdma_port_problem_to_string(ALD_RDMA_PORT_PROBLEM_NO_VERBS);
}

/* Returns whether a device is an SR-IOV virtual function, or a subfunction, which drivers create without
 * SR-IOV. */
static bool is_virtual_function(FabricRows *rows, const char *node)
{
        g_autofree char *link = g_strdup_printf("%s/device/physfn", node), *target = NULL;
        g_autofree char *number = g_strdup_printf("%s/device/sfnum", node);

        return ald_sysroot_link_target(rows->root, link, &target) >= 0 ||
               ald_sysroot_exists(rows->root, number);
}

/* Returns whether a port is a representor. While an adapter switches packets between its functions, its
 * device has such a port for each of them besides its own. Unlike a second port of the adapter, they carry
 * raw packets only, and have no GIDs. */
static bool is_representor(FabricRows *rows, const char *device, const char *number)
{
        g_autofree char *directory = g_strdup_printf(CLASS "/%s/ports/%s", device, number);
        struct in6_addr gid;
        const char *text;

        if (g_str_equal(number, "1") ||
                g_strcmp0(link_layer_of(fabric_read(rows, directory, "link_layer")), "ethernet") != 0)
                return false;
        text = fabric_read(rows, directory, "gids/0");
        return !text || inet_pton(AF_INET6, text, &gid) != 1 || IN6_IS_ADDR_UNSPECIFIED(&gid);
}

/* Reads only the fields that decide which ports are reported; read_port() reads the others of those
 * that are. */
static AldRdmaPort read_port_state(FabricRows *rows, const char *device, const char *number)
{
        g_autofree char *node = g_strdup_printf(CLASS "/%s", device);
        g_autofree char *directory = g_strdup_printf("%s/ports/%s", node, number);
        g_autofree char *id = g_strdup_printf("%s.%s", device, number);
        AldRdmaPort port = ALD_RDMA_PORT_INIT;

        port.id = g_string_chunk_insert(rows->strings, id);
        port.node_guid = fabric_read(rows, node, "node_guid");
        port.state = word_after_number(rows, fabric_read(rows, directory, "state"));
        port.virtual = is_virtual_function(rows, node);
        return port;
}

static void read_port(FabricRows *rows, AldRdmaPort *port)
{
        const char *dot = strrchr(port->id, '.');
        g_autofree char *device = g_strndup(port->id, (size_t) (dot - port->id));
        g_autofree char *node = g_strdup_printf(CLASS "/%s", device);
        g_autofree char *directory = g_strdup_printf("%s/ports/%s", node, dot + 1);

        port->link_layer = link_layer_of(fabric_read(rows, directory, "link_layer"));
        port->transport = transport_of(fabric_read(rows, node, "node_type"), port->link_layer);
        port->physical_state = word_after_number(rows, fabric_read(rows, directory, "phys_state"));
        port->rate_bits_per_second = parse_rate(fabric_read(rows, directory, "rate"));
        port->driver = driver_of(rows, node);
        port->problem = problem_of(rows, device);
        read_gids(rows, directory, port);
        /* The GIDs of InfiniBand ports name no interface, so the adapter's is used. */
        if (!port->interface) {
                g_autofree char *net = g_strdup_printf("%s/device/net", node);

                port->interface = fabric_first_interface(rows, net);
        }
}

static bool is_active(const AldRdmaPort *port)
{
        return g_strcmp0(port->state, "active") == 0;
}

/* Returns whether a port belongs to a virtual function that was never set up, of which an adapter may have
 * hundreds. */
static bool is_empty_function(const AldRdmaPort *port)
{
        return !is_active(port) && port->node_guid &&
               strspn(port->node_guid, "0:") == strlen(port->node_guid);
}

/* Ranks real ports before virtual functions, and the active ones first within each group. */
static unsigned rank_of_port(const AldRdmaPort *port)
{
        return (port->virtual == 1 ? 2u : 0u) + (is_active(port) ? 0u : 1u);
}

/* Removes ports until the others fit, starting with the last rank, and with the last port of each rank. */
static void drop_last_ranks(FabricRows *rows)
{
        GArray *ports = rows->rdma_ports;

        for (unsigned rank = 4; rank-- > 0;)
                for (guint i = ports->len; i-- > 0 && ports->len > FABRIC_ROWS_MAX;)
                        if (rank_of_port(&g_array_index(ports, AldRdmaPort, i)) == rank) {
                                g_array_remove_index(ports, i);
                                rows->left_out++;
                        }
}

static bool is_port_number(const char *name)
{
        return strspn(name, "0123456789") == strlen(name) && strlen(name) <= 3 && *name != '0';
}

/* Adds the ports of the RDMA devices in sys/class/infiniband. */
static void fabric_read_rdma(FabricRows *rows)
{
        g_auto(GStrv) devices = NULL;

        if (ald_sysroot_list(rows->root, CLASS, &devices) < 0)
                return;
        for (char **device = devices; *device; device++) {
                g_autofree char *directory = g_strdup_printf(CLASS "/%s/ports", *device);
                g_auto(GStrv) ports = NULL;

                if (ald_sysroot_list(rows->root, directory, &ports) < 0)
                        continue;
                for (char **number = ports; *number; number++) {
                        AldRdmaPort port;

                        if (!is_port_number(*number) || is_representor(rows, *device, *number))
                                continue;
                        port = read_port_state(rows, *device, *number);
                        if (!is_empty_function(&port))
                                g_array_append_val(rows->rdma_ports, port);
                }
        }
        drop_last_ranks(rows);
        for (guint i = 0; i < rows->rdma_ports->len; i++)
                read_port(rows, &g_array_index(rows->rdma_ports, AldRdmaPort, i));
}

/* The kernel's Documentation/ABI/testing/sysfs-bus-thunderbolt describes these names: domain0 is a domain,
 * 0-0 its router, 0-1 and 0-301 are other hosts, of the type thunderbolt_xdomain, and 0-1.0 is a service that
 * such a host offers. */
#define BUS "sys/bus/thunderbolt/devices"
#define DOMAIN "domain"

static char *device_path(const char *device)
{
        return g_strdup_printf(BUS "/%s", device);
}

static bool is_host(FabricRows *rows, const char *device)
{
        g_autofree char *path = device_path(device);
        const char *uevent = fabric_read(rows, path, "uevent");

        return uevent && strstr(uevent, "DEVTYPE=thunderbolt_xdomain");
}

/* Returns the names of vendor and device. Either may be missing; NULL if both are. */
static const char *vendor_and_device_name(FabricRows *rows, const char *path)
{
        const char *vendor = fabric_read(rows, path, "vendor_name");
        const char *device = fabric_read(rows, path, "device_name");
        g_autofree char *name = NULL;

        if (!vendor || !device)
                return vendor ?: device;
        name = g_strdup_printf("%s %s", vendor, device);
        return g_string_chunk_insert_const(rows->strings, name);
}

static uint64_t generation_of(FabricRows *rows, const char *path)
{
        g_autofree char *file = g_strdup_printf("%s/generation", path);
        uint64_t generation;

        if (ald_sysroot_read_uint64(rows->root, file, &generation) < 0 || generation == 0)
                return ALD_ABSENT_UINT64;
        return generation;
}

/* Returns the id by which other hosts know the domain of this number, or NULL. */
static const char *domain_id_of(FabricRows *rows, const char *number)
{
        g_autofree char *router = g_strdup_printf(BUS "/%s-0", number);

        return fabric_read(rows, router, "unique_id");
}

static void add_domain(FabricRows *rows, const char *device)
{
        const char *number = device + strlen(DOMAIN);
        g_autofree char *router = g_strdup_printf(BUS "/%s-0", number);
        AldThunderboltDomain domain = ALD_THUNDERBOLT_DOMAIN_INIT;

        domain.id = g_string_chunk_insert(rows->strings, device);
        domain.domain_id = domain_id_of(rows, number);
        domain.name = vendor_and_device_name(rows, router);
        domain.generation = generation_of(rows, router);
        g_array_append_val(rows->domains, domain);
}

/* Returns the network interface to another host, or NULL. It belongs to one of the services that the host
 * offers. */
static const char *interface_to(FabricRows *rows, const char *device)
{
        g_autofree char *path = device_path(device), *prefix = g_strdup_printf("%s.", device);
        g_auto(GStrv) names = NULL;
        const char *interface = NULL;

        if (ald_sysroot_list(rows->root, path, &names) < 0)
                return NULL;
        for (char **name = names; *name && !interface; name++) {
                g_autofree char *directory = g_strdup_printf("%s/%s/net", path, *name);

                if (g_str_has_prefix(*name, prefix))
                        interface = fabric_first_interface(rows, directory);
        }
        return interface;
}

static void add_connection(FabricRows *rows, const char *device)
{
        g_autofree char *path = device_path(device), *number = g_strndup(device, strcspn(device, "-"));
        AldThunderboltPort connection = ALD_THUNDERBOLT_PORT_INIT;

        connection.id = g_string_chunk_insert(rows->strings, device);
        connection.domain_id = domain_id_of(rows, number);
        connection.peer_domain_id = fabric_read(rows, path, "unique_id");
        connection.peer_name = vendor_and_device_name(rows, path);
        ald_thunderbolt_read(rows->root, path, &connection.generation, &connection.speed_bits_per_second);
        connection.interface = interface_to(rows, device);
        g_array_append_val(rows->connections, connection);
}

/* Adds the Thunderbolt and USB4 domains in sys/bus/thunderbolt, and the hosts that are connected to them. */
static void fabric_read_thunderbolt(FabricRows *rows)
{
        g_auto(GStrv) devices = NULL;

        if (ald_sysroot_list(rows->root, BUS, &devices) < 0)
                return;
        for (char **device = devices; *device; device++) {
                if (g_str_has_prefix(*device, DOMAIN)) {
                        if (fabric_has_room(rows, rows->domains))
                                add_domain(rows, *device);
                } else if (is_host(rows, *device) && fabric_has_room(rows, rows->connections)) {
                        add_connection(rows, *device);
                }
        }
}

/* The kernel adds and removes GIDs in a separate worker, after it has reported the address, so a scan waits
 * this long. */
#define SETTLE_MSEC 200u

struct AldFabricCollector {
        int root;
        bool any;
        unsigned logged_left_out, logged_gids_left_out;
        GHashTable *warned; /* paths */
        void (*changed)(void *userdata);
        void *userdata;
        FabricRows *rows;
        AldDeviceWatch *watch;
        guint settle_source;
};

/* Logs how much is left out, again only when that changes. */
static void log_left_out(AldFabricCollector *collector)
{
        const FabricRows *rows = collector->rows;

        if (rows->left_out == collector->logged_left_out &&
                rows->gids_left_out == collector->logged_gids_left_out)
                return;
        collector->logged_left_out = rows->left_out;
        collector->logged_gids_left_out = rows->gids_left_out;
        if (rows->left_out > 0 || rows->gids_left_out > 0)
                g_warning("The fabric record leaves out %u RDMA ports or Thunderbolt devices beyond the "
                          "limit of "
                          "%u each, and %u GIDs",
                        rows->left_out, FABRIC_ROWS_MAX, rows->gids_left_out);
        else
                g_message("The fabric record is complete again");
}

static void scan_fabric(AldFabricCollector *collector)
{
        g_clear_pointer(&collector->rows, fabric_rows_free);
        collector->rows = fabric_rows_new(collector->root, collector->warned);
        fabric_read_rdma(collector->rows);
        fabric_read_thunderbolt(collector->rows);
        log_left_out(collector);
        if (collector->rows->rdma_ports->len > 0 || collector->rows->domains->len > 0)
                collector->any = true;
}

/* Scans again, and reports the result even if nothing has changed: the sender of the record ignores unchanged
 * contents. */
static void rescan_and_report(void *userdata)
{
        AldFabricCollector *collector = userdata;

        scan_fabric(collector);
        if (collector->any)
                collector->changed(collector->userdata);
}

static gboolean on_settled(gpointer userdata)
{
        AldFabricCollector *collector = userdata;

        collector->settle_source = 0;
        rescan_and_report(collector);
        return G_SOURCE_REMOVE;
}

void ald_fabric_collector_rescan_soon(AldFabricCollector *collector)
{
        if (collector->settle_source == 0)
                collector->settle_source = g_timeout_add(SETTLE_MSEC, on_settled, collector);
}

bool ald_fabric_collector_any(const AldFabricCollector *collector)
{
        return collector->any;
}

static void fill_rows(AldRows *rows, const GArray *array)
{
        rows->items = array->data;
        rows->n = array->len;
}

void ald_fabric_collector_fill(const AldFabricCollector *collector, AldFabric *ret)
{
        *ret = (AldFabric) ALD_FABRIC_INIT;
        fill_rows(&ret->rdma_ports, collector->rows->rdma_ports);
        fill_rows(&ret->thunderbolt_domains, collector->rows->domains);
        fill_rows(&ret->thunderbolt_ports, collector->rows->connections);
}

AldFabricCollector *ald_fabric_collector_new(int root, void (*changed)(void *userdata), void *userdata)
{
        static const char *const subsystems[] = { "infiniband", "infiniband_verbs", "thunderbolt", "net",
                NULL };
        AldFabricCollector *collector = g_new0(AldFabricCollector, 1);

        collector->root = root;
        collector->changed = changed;
        collector->userdata = userdata;
        collector->warned = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        scan_fabric(collector);
        collector->watch = ald_device_watch_new(
                "RDMA devices and Thunderbolt hosts", subsystems, rescan_and_report, collector);
        return collector;
}

void ald_fabric_collector_free(AldFabricCollector *collector)
{
        if (!collector)
                return;
        g_clear_handle_id(&collector->settle_source, g_source_remove);
        ald_device_watch_free(collector->watch);
        fabric_rows_free(collector->rows);
        g_hash_table_unref(collector->warned);
        g_free(collector);
}
