/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "record/record-key.h"
#include "record/record.h"
#include "services/common/sysroot.h"
#include "services/link-probe/net/counters.h"
#include "state/link/interface-roles.h"

#define CLASS "sys/class/infiniband"
#define GIGABIT 1e9
#define INTERFACE_GIDS_MAX 16u

/* The unit of the data counters of all adapters. */
#define BYTES_PER_COUNT 4u

static char *path_in(const char *directory, const char *file)
{
        return g_strdup_printf("%s/%s", directory, file);
}

static char *read_text(int root, const char *directory, const char *file)
{
        g_autofree char *path = path_in(directory, file);
        char *text = NULL;

        return ald_sysroot_read_string(root, path, &text) < 0 ? NULL : text;
}

static uint64_t read_bytes(int root, const char *directory, const char *file)
{
        g_autofree char *path = path_in(directory, file);
        uint64_t count;

        return ald_sysroot_read_uint64(root, path, &count) < 0 || count > ALD_INTEGER_MAX
                       ? ALD_ABSENT_UINT64
                       : count * BYTES_PER_COUNT;
}

/* Parses a speed such as "100 Gb/sec (4X EDR)". */
static uint64_t read_speed(int root, const char *directory)
{
        g_autofree char *text = read_text(root, directory, "rate");
        char *unit = NULL;
        double gigabits = text ? g_ascii_strtod(text, &unit) : 0;

        return text && g_str_has_prefix(unit, " Gb/sec") && gigabits > 0 && gigabits < 1e6
                       ? (uint64_t) (gigabits * GIGABIT)
                       : ALD_ABSENT_UINT64;
}

/* Returns the interface from whose address the GIDs of RoCE are derived. If none is named, as with
 * InfiniBand, returns that of the adapter. */
static char *read_interface(int root, const char *device, const char *port)
{
        g_autofree char *net = path_in(device, "device/net");
        g_auto(GStrv) names = NULL;

        for (unsigned i = 0; i < INTERFACE_GIDS_MAX; i++) {
                g_autofree char *file = g_strdup_printf("gid_attrs/ndevs/%u", i);
                char *name = read_text(root, port, file);

                if (name)
                        return name;
        }
        return ald_sysroot_list(root, net, &names) >= 0 && names[0] ? g_strdup(names[0]) : NULL;
}

bool ald_port_name_ok(const char *name)
{
        g_autofree char *key = g_strdup_printf("%s,%032d,%s", name, 1, name);

        return strlen(name) < ALD_PORT_NAME_SIZE && *name != '.' &&
               ald_key_parse(ALD_KIND_LINK_RDMA, key, NULL) >= 0;
}

static void add_port(GArray *ports, int root, const char *device, const char *number)
{
        g_autofree char *node = g_strdup_printf(CLASS "/%s", device);
        g_autofree char *directory = g_strdup_printf("%s/ports/%s", node, number);
        g_autofree char *name = g_strdup_printf("%s.%s", device, number);
        g_autofree char *interface = NULL;
        AldPortCounters port = { 0 };

        if (!ald_port_name_ok(name))
                return;
        g_strlcpy(port.name, name, sizeof port.name);
        interface = read_interface(root, node, directory);
        if (interface && g_strlcpy(port.interface, interface, sizeof port.interface) >= sizeof port.interface)
                *port.interface = '\0';
        port.bits_per_second = read_speed(root, directory);
        port.received = read_bytes(root, directory, "counters/port_rcv_data");
        port.sent = read_bytes(root, directory, "counters/port_xmit_data");
        if (port.received == ALD_ABSENT_UINT64 || port.sent == ALD_ABSENT_UINT64)
                port.received = port.sent = ALD_ABSENT_UINT64;
        g_array_append_val(ports, port);
}

static GArray *port_counters_read(int root)
{
        GArray *ports = g_array_new(FALSE, FALSE, sizeof(AldPortCounters));
        g_auto(GStrv) devices = NULL;

        if (ald_sysroot_list(root, CLASS, &devices) < 0)
                return ports;
        for (char **device = devices; *device; device++) {
                g_autofree char *directory = g_strdup_printf(CLASS "/%s/ports", *device);
                g_auto(GStrv) numbers = NULL;

                if (ald_sysroot_list(root, directory, &numbers) < 0)
                        continue;
                for (char **number = numbers; *number && ports->len < ALD_PORTS_MAX; number++)
                        add_port(ports, root, *device, *number);
        }
        return ports;
}

#define PATH "proc/net/dev"
#define INTERFACES_MAX 1024u

/* Rates over shorter intervals are not meaningful. */
#define SPAN_MIN_USEC G_USEC_PER_SEC

typedef struct Counter {
        uint64_t received, sent; /* bytes, at the last reading */
        uint64_t read_usec;      /* 0: never, or a probe has run since */
        uint64_t rate;
        /* Of an interface, in both directions: at the last reading, and at the last full measurement through
         * it. */
        uint64_t packets, errors, packets_before, errors_before;
        bool counted;
        bool probed; /* a probe has used it since the last reading */
        unsigned generation;
} Counter;

struct AldCounters {
        int root;
        unsigned generation;
        bool warned;
        GHashTable *by_name;  /* interface or port → Counter */
        GHashTable *occupied; /* interface or port → name under which all on its wire are released */
        GArray *ports;        /* of AldPortCounters, at the last reading */
};

AldCounters *ald_counters_new(int root)
{
        AldCounters *counters = g_new0(AldCounters, 1);

        counters->root = root;
        counters->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        counters->occupied = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        counters->ports = port_counters_read(root);
        return counters;
}

void ald_counters_free(AldCounters *counters)
{
        if (!counters)
                return;
        g_hash_table_unref(counters->by_name);
        g_hash_table_unref(counters->occupied);
        g_array_unref(counters->ports);
        g_free(counters);
}

static uint64_t rate_of(const Counter *counter, uint64_t received, uint64_t sent, uint64_t now_usec)
{
        uint64_t span = now_usec - counter->read_usec, bytes;

        if (counter->read_usec == 0 || span == 0 || received < counter->received || sent < counter->sent)
                return ALD_ABSENT_UINT64;
        bytes = MAX(received - counter->received, sent - counter->sent);
        return (uint64_t) ((double) bytes * 8 * G_USEC_PER_SEC / (double) span);
}

static Counter *counter_of(AldCounters *counters, const char *name)
{
        Counter *counter = g_hash_table_lookup(counters->by_name, name);

        if (counter || g_hash_table_size(counters->by_name) >= INTERFACES_MAX)
                return counter;
        counter = g_new0(Counter, 1);
        counter->rate = ALD_ABSENT_UINT64;
        g_hash_table_insert(counters->by_name, g_strdup(name), counter);
        return counter;
}

static void update_rate(
        AldCounters *counters, const char *name, uint64_t received, uint64_t sent, uint64_t now_usec)
{
        Counter *counter = counter_of(counters, name);

        if (!counter)
                return;
        counter->generation = counters->generation;
        if (counter->read_usec != 0 && now_usec - counter->read_usec < SPAN_MIN_USEC &&
                !g_hash_table_contains(counters->occupied, name))
                return;
        counter->rate = rate_of(counter, received, sent, now_usec);
        counter->received = received;
        counter->sent = sent;
        counter->read_usec = g_hash_table_contains(counters->occupied, name) ? 0 : now_usec;
}

/* Counters restart when an interface is created again. Drops during a probe do not count, since a probe loads
 * the link until packets are dropped. */
static void update_errors(AldCounters *counters, const char *name, uint64_t packets, uint64_t errors)
{
        Counter *counter = counter_of(counters, name);

        if (!counter)
                return;
        if (!counter->counted || packets < counter->packets || errors < counter->errors) {
                counter->packets_before = packets;
                counter->errors_before = errors;
        } else if (counter->probed || g_hash_table_contains(counters->occupied, name)) {
                counter->packets_before += packets - counter->packets;
                counter->errors_before += errors - counter->errors;
        }
        counter->probed = false;
        counter->packets = packets;
        counter->errors = errors;
        counter->counted = true;
}

/* Parses " eth0: BYTES PACKETS ERRS DROP fifo frame compressed multicast BYTES PACKETS ERRS DROP …". */
static void read_line(AldCounters *counters, char *line, uint64_t now_usec)
{
        char *colon = strrchr(line, ':');
        uint64_t values[12];
        char *rest = colon ? colon + 1 : NULL;

        for (size_t i = 0; rest && i < G_N_ELEMENTS(values); i++) {
                char *end;

                values[i] = g_ascii_strtoull(rest, &end, 10);
                rest = end == rest ? NULL : end;
        }
        if (!rest)
                return;
        *colon = '\0';
        update_rate(counters, g_strchug(line), values[0], values[8], now_usec);
        update_errors(counters, g_strchug(line), values[1] + values[9],
                values[2] + values[3] + values[10] + values[11]);
}

static void read_ports(AldCounters *counters, uint64_t now_usec)
{
        g_array_unref(counters->ports);
        counters->ports = port_counters_read(counters->root);
        for (unsigned i = 0; i < counters->ports->len; i++) {
                const AldPortCounters *port = ald_counters_port(counters, i);

                if (port->received != ALD_ABSENT_UINT64)
                        update_rate(counters, port->name, port->received, port->sent, now_usec);
        }
}

unsigned ald_counters_ports(const AldCounters *counters)
{
        return counters->ports->len;
}

const AldPortCounters *ald_counters_port(const AldCounters *counters, unsigned i)
{
        return &g_array_index(counters->ports, AldPortCounters, i);
}

static gboolean is_gone(gpointer name, gpointer value, gpointer userdata)
{
        return ((Counter *) value)->generation != ((AldCounters *) userdata)->generation;
}

void ald_counters_read(AldCounters *counters, uint64_t now_usec)
{
        g_autofree char *text = NULL;
        char *line, *rest;
        int r = ald_sysroot_read(counters->root, PATH, &text);

        if (r < 0) {
                if (!counters->warned)
                        g_warning("%s: %s; traffic on interfaces is not measured", PATH, g_strerror(-r));
                counters->warned = true;
                return;
        }
        counters->generation++;
        for (line = rest = text; (line = strsep(&rest, "\n"));)
                read_line(counters, line, now_usec);
        read_ports(counters, now_usec);
        g_hash_table_foreach_remove(counters->by_name, is_gone, counters);
}

uint64_t ald_counters_rate(const AldCounters *counters, const char *name)
{
        const Counter *counter = g_hash_table_lookup(counters->by_name, name);

        return counter && !g_hash_table_contains(counters->occupied, name) ? counter->rate
                                                                           : ALD_ABSENT_UINT64;
}

bool ald_counters_has_errors(const AldCounters *counters, const char *name)
{
        const Counter *counter = g_hash_table_lookup(counters->by_name, name);
        uint64_t errors = counter ? counter->errors - counter->errors_before : 0;

        return errors >= ALD_COUNTERS_ERRORS_MIN &&
               errors * ALD_COUNTERS_ERRORS_SHARE >= counter->packets - counter->packets_before;
}

void ald_counters_reset_errors(AldCounters *counters, const char *name)
{
        Counter *counter = g_hash_table_lookup(counters->by_name, name);

        if (!counter)
                return;
        counter->packets_before = counter->packets;
        counter->errors_before = counter->errors;
}

const AldPortCounters *ald_counters_find_port(const AldCounters *counters, const char *name)
{
        for (unsigned i = 0; i < counters->ports->len; i++)
                if (g_str_equal(ald_counters_port(counters, i)->name, name))
                        return ald_counters_port(counters, i);
        return NULL;
}

/* Returns the carrier of an interface, or of the interface behind a port; else the name itself. */
static const char *wire_of(const AldCounters *counters, const AldNetwork *network, const char *name)
{
        const AldPortCounters *port = ald_counters_find_port(counters, name);
        const char *interface = port && *port->interface ? port->interface : name;
        const AldInterface *row = network ? ald_rows_find(&network->interfaces, interface) : NULL;

        return row ? ald_network_find_carrier(network, row)->id : interface;
}

bool ald_counters_is_occupied(const AldCounters *counters, const AldNetwork *network, const char *name)
{
        return g_hash_table_contains(counters->occupied, name) ||
               g_hash_table_contains(counters->occupied, wire_of(counters, network, name));
}

static void mark_occupied(AldCounters *counters, const char *name, const char *user)
{
        g_hash_table_replace(counters->occupied, g_strdup(name), g_strdup(user));
}

int ald_counters_occupy(AldCounters *counters, const AldNetwork *network, const char *name)
{
        const char *wire = wire_of(counters, network, name);

        if (ald_counters_is_occupied(counters, network, name))
                return -EBUSY;
        mark_occupied(counters, name, name);
        mark_occupied(counters, wire, name);
        for (unsigned i = 0; i < counters->ports->len; i++) {
                const AldPortCounters *port = ald_counters_port(counters, i);

                if (!g_str_equal(wire_of(counters, network, port->name), wire))
                        continue;
                mark_occupied(counters, port->name, name);
                if (*port->interface)
                        mark_occupied(counters, port->interface, name);
        }
        return 0;
}

/* Forgets the traffic so far, which was caused by the probe. */
static void forget_traffic(AldCounters *counters, const char *name)
{
        Counter *counter = g_hash_table_lookup(counters->by_name, name);

        if (!counter)
                return;
        counter->read_usec = 0;
        counter->rate = ALD_ABSENT_UINT64;
        counter->probed = true;
}

void ald_counters_release(AldCounters *counters, const char *held)
{
        g_autofree char *user = g_strdup(held);
        GHashTableIter iter;
        gpointer name, by;

        g_hash_table_iter_init(&iter, counters->occupied);
        while (g_hash_table_iter_next(&iter, &name, &by))
                if (g_str_equal(by, user)) {
                        forget_traffic(counters, name);
                        g_hash_table_iter_remove(&iter);
                }
}

static void add_traffic(GHashTable *traffic, const char *name, uint64_t rate)
{
        const uint64_t *known = g_hash_table_lookup(traffic, name);

        if (!known || *known < rate)
                g_hash_table_replace(traffic, g_strdup(name), g_memdup2(&rate, sizeof rate));
}

GHashTable *ald_counters_traffic(const AldCounters *counters)
{
        GHashTable *traffic = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        GHashTableIter iter;
        gpointer name, value;

        g_hash_table_iter_init(&iter, counters->by_name);
        while (g_hash_table_iter_next(&iter, &name, &value)) {
                const AldPortCounters *port = ald_counters_find_port(counters, name);
                uint64_t rate = ((Counter *) value)->rate;

                if (g_hash_table_contains(counters->occupied, name) || rate == ALD_ABSENT_UINT64)
                        continue;
                add_traffic(traffic, name, rate);
                if (port && *port->interface)
                        add_traffic(traffic, port->interface, rate);
        }
        g_hash_table_iter_init(&iter, counters->occupied);
        while (g_hash_table_iter_next(&iter, &name, NULL))
                add_traffic(traffic, name, UINT64_MAX);
        return traffic;
}
