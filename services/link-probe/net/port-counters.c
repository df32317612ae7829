/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/key.h"
#include "services/common/sysroot.h"
#include "services/link-probe/net/port-counters.h"

#define CLASS "sys/class/infiniband"
#define GIGABIT 1e9
#define INTERFACE_GIDS_MAX 16u

/* The unit of the counters of all adapters. */
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

/* "100 Gb/sec (4X EDR)". */
static uint64_t read_speed(int root, const char *directory)
{
        g_autofree char *text = read_text(root, directory, "rate");
        char *unit = NULL;
        double gigabits = text ? g_ascii_strtod(text, &unit) : 0;

        return text && g_str_has_prefix(unit, " Gb/sec") && gigabits > 0 && gigabits < 1e6
                       ? (uint64_t) (gigabits * GIGABIT)
                       : ALD_ABSENT_UINT64;
}

/* The one whose address makes the GIDs of RoCE; that of the adapter if none is named, as InfiniBand's. */
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

GArray *ald_port_counters_read(int root)
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
