/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record.h"
#include "services/common/sysroot.h"
#include "services/common/thunderbolt.h"
#include "services/telemetry/fabric/fabric-thunderbolt.h"

/* After Documentation/ABI/testing/sysfs-bus-thunderbolt of the kernel: domain0, its router 0-0, other hosts
 * 0-1 and 0-301 of the type thunderbolt_xdomain, the services they offer 0-1.0. */
#define BUS "sys/bus/thunderbolt/devices"
#define DOMAIN "domain"

static char *path_of(const char *device)
{
        return g_strdup_printf(BUS "/%s", device);
}

static bool is_host(AldFabricRows *rows, const char *device)
{
        g_autofree char *path = path_of(device);
        const char *uevent = ald_fabric_read(rows, path, "uevent");

        return uevent && strstr(uevent, "DEVTYPE=thunderbolt_xdomain");
}

/* Vendor and device, of which either may be missing. */
static const char *name_of(AldFabricRows *rows, const char *path)
{
        const char *vendor = ald_fabric_read(rows, path, "vendor_name");
        const char *device = ald_fabric_read(rows, path, "device_name");
        g_autofree char *name = NULL;

        if (!vendor || !device)
                return vendor ?: device;
        name = g_strdup_printf("%s %s", vendor, device);
        return g_string_chunk_insert_const(rows->strings, name);
}

static uint64_t generation_of(AldFabricRows *rows, const char *path)
{
        g_autofree char *file = g_strdup_printf("%s/generation", path);
        uint64_t generation;

        if (ald_sysroot_read_uint64(rows->root, file, &generation) < 0 || generation == 0)
                return ALD_ABSENT_UINT64;
        return generation;
}

/* By which other hosts know the domain of this number. */
static const char *domain_id_of(AldFabricRows *rows, const char *number)
{
        g_autofree char *router = g_strdup_printf(BUS "/%s-0", number);

        return ald_fabric_read(rows, router, "unique_id");
}

static void add_domain(AldFabricRows *rows, const char *device)
{
        const char *number = device + strlen(DOMAIN);
        g_autofree char *router = g_strdup_printf(BUS "/%s-0", number);
        AldThunderboltDomain domain = ALD_THUNDERBOLT_DOMAIN_INIT;

        domain.id = g_string_chunk_insert(rows->strings, device);
        domain.domain_id = domain_id_of(rows, number);
        domain.name = name_of(rows, router);
        domain.generation = generation_of(rows, router);
        g_array_append_val(rows->domains, domain);
}

/* The network runs over one of the services that the other host offers. */
static const char *interface_to(AldFabricRows *rows, const char *device)
{
        g_autofree char *path = path_of(device), *prefix = g_strdup_printf("%s.", device);
        g_auto(GStrv) names = NULL;
        const char *interface = NULL;

        if (ald_sysroot_list(rows->root, path, &names) < 0)
                return NULL;
        for (char **name = names; *name && !interface; name++) {
                g_autofree char *directory = g_strdup_printf("%s/%s/net", path, *name);

                if (g_str_has_prefix(*name, prefix))
                        interface = ald_fabric_first_in(rows, directory);
        }
        return interface;
}

static void add_connection(AldFabricRows *rows, const char *device)
{
        g_autofree char *path = path_of(device), *number = g_strndup(device, strcspn(device, "-"));
        AldThunderboltPort connection = ALD_THUNDERBOLT_PORT_INIT;

        connection.id = g_string_chunk_insert(rows->strings, device);
        connection.domain_id = domain_id_of(rows, number);
        connection.peer_domain_id = ald_fabric_read(rows, path, "unique_id");
        connection.peer_name = name_of(rows, path);
        ald_thunderbolt_read(rows->root, path, &connection.generation, &connection.speed_bits_per_second);
        connection.interface = interface_to(rows, device);
        g_array_append_val(rows->connections, connection);
}

void ald_fabric_read_thunderbolt(AldFabricRows *rows)
{
        g_auto(GStrv) devices = NULL;

        if (ald_sysroot_list(rows->root, BUS, &devices) < 0)
                return;
        for (char **device = devices; *device; device++) {
                if (g_str_has_prefix(*device, DOMAIN)) {
                        if (ald_fabric_has_room(rows, rows->domains))
                                add_domain(rows, *device);
                } else if (is_host(rows, *device) && ald_fabric_has_room(rows, rows->connections)) {
                        add_connection(rows, *device);
                }
        }
}
