/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "record/record.h"
#include "services/common/sysroot.h"
#include "services/telemetry/fabric/fabric-rdma.h"

#define CLASS "sys/class/infiniband"
#define VERBS "sys/class/infiniband_verbs"

/* The limit in the documentation of the record; the tables of some adapters are much longer, and mostly
 * empty. */
#define GIDS_MAX 32u
#define GIDS_LOOKED_AT 256u

#define GIGABIT 1e9

/* "4: ACTIVE" → "active". */
static const char *word_after_number(AldFabricRows *rows, const char *text)
{
        const char *colon = text ? strchr(text, ':') : NULL;
        g_autofree char *word = colon ? g_ascii_strdown(colon + 1, -1) : NULL;

        if (!word || *g_strstrip(word) == '\0')
                return NULL;
        return g_string_chunk_insert_const(rows->strings, word);
}

/* "100 Gb/sec (4X EDR)". */
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

static const char *gid_type_of(const char *text, bool ethernet)
{
        if (!ethernet)
                return "ib";
        return g_strcmp0(text, "RoCE v2") == 0 ? "rocev2" : "rocev1";
}

typedef struct Gid {
        struct in6_addr bytes;
        const char *type;
        const char *interface; /* or NULL */
} Gid;

/* False if that entry of the table is empty, or is no GID. */
static bool read_gid(AldFabricRows *rows, const char *port, unsigned index, bool ethernet, Gid *ret)
{
        char file[64];
        const char *text;

        snprintf(file, sizeof file, "gids/%u", index);
        text = ald_fabric_read(rows, port, file);
        if (!text || inet_pton(AF_INET6, text, &ret->bytes) != 1 || IN6_IS_ADDR_UNSPECIFIED(&ret->bytes))
                return false;
        snprintf(file, sizeof file, "gid_attrs/types/%u", index);
        ret->type = gid_type_of(ald_fabric_read(rows, port, file), ethernet);
        snprintf(file, sizeof file, "gid_attrs/ndevs/%u", index);
        ret->interface = ethernet ? ald_fabric_read(rows, port, file) : NULL;
        return true;
}

static const char *describe_gid(AldFabricRows *rows, unsigned index, const Gid *gid)
{
        char text[INET6_ADDRSTRLEN];
        g_autofree char *line = NULL;

        inet_ntop(AF_INET6, &gid->bytes, text, sizeof text);
        line = g_strdup_printf(
                "%u %s %s%s%s", index, gid->type, text, gid->interface ? " " : "", gid->interface ?: "");
        return g_string_chunk_insert_const(rows->strings, line);
}

/* The second half of an InfiniBand port's first GID. */
static const char *port_guid_of(AldFabricRows *rows, const Gid *gid)
{
        const uint8_t *half = gid->bytes.s6_addr + 8;
        char text[20];

        snprintf(text, sizeof text, "%02x%02x:%02x%02x:%02x%02x:%02x%02x", half[0], half[1], half[2], half[3],
                half[4], half[5], half[6], half[7]);
        return g_string_chunk_insert_const(rows->strings, text);
}

static void read_gids(AldFabricRows *rows, const char *directory, bool ethernet, AldRdmaPort *port)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new();

        for (unsigned i = 0; i < GIDS_LOOKED_AT; i++) {
                Gid gid;

                if (!read_gid(rows, directory, i, ethernet, &gid))
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

static const char *driver_of(AldFabricRows *rows, const char *node)
{
        g_autofree char *link = g_strdup_printf("%s/device/driver", node), *driver = NULL;

        if (ald_sysroot_link_name(rows->root, link, &driver) < 0)
                return NULL;
        return g_string_chunk_insert_const(rows->strings, driver);
}

/* The interface of the adapter, for ports whose GIDs name none: those of InfiniBand. */
static const char *interface_of(AldFabricRows *rows, const char *node)
{
        g_autofree char *directory = g_strdup_printf("%s/device/net", node);

        return ald_fabric_first_in(rows, directory);
}

/* Whether programs can open the device, according to the kernel's uverbs devices. Unknown if none could be
 * read. */
static const char *problem_of(AldFabricRows *rows, const char *device)
{
        g_auto(GStrv) names = NULL;
        int r = ald_sysroot_list(rows->root, VERBS, &names);

        if (r < 0 && r != -ENOENT)
                return NULL;
        for (char **name = names; name && *name; name++) {
                g_autofree char *directory = g_strdup_printf(VERBS "/%s", *name);

                if (g_strcmp0(ald_fabric_read(rows, directory, "ibdev"), device) == 0)
                        return NULL;
        }
        return ald_rdma_port_problem_to_string(ALD_RDMA_PORT_PROBLEM_NO_VERBS);
}

static void read_port(AldFabricRows *rows, const char *device, const char *number, const char *problem)
{
        g_autofree char *node = g_strdup_printf(CLASS "/%s", device);
        g_autofree char *directory = g_strdup_printf("%s/ports/%s", node, number);
        g_autofree char *id = g_strdup_printf("%s.%s", device, number);
        AldRdmaPort port = ALD_RDMA_PORT_INIT;

        port.id = g_string_chunk_insert(rows->strings, id);
        port.node_guid = ald_fabric_read(rows, node, "node_guid");
        port.link_layer = link_layer_of(ald_fabric_read(rows, directory, "link_layer"));
        port.state = word_after_number(rows, ald_fabric_read(rows, directory, "state"));
        port.physical_state = word_after_number(rows, ald_fabric_read(rows, directory, "phys_state"));
        port.rate_bits_per_second = parse_rate(ald_fabric_read(rows, directory, "rate"));
        port.driver = driver_of(rows, node);
        port.problem = problem;
        read_gids(rows, directory, g_strcmp0(port.link_layer, "ethernet") == 0, &port);
        if (!port.interface)
                port.interface = interface_of(rows, node);
        g_array_append_val(rows->rdma_ports, port);
}

static bool is_port_number(const char *name)
{
        return strspn(name, "0123456789") == strlen(name) && strlen(name) <= 3 && *name != '0';
}

void ald_fabric_read_rdma(AldFabricRows *rows)
{
        g_auto(GStrv) devices = NULL;

        if (ald_sysroot_list(rows->root, CLASS, &devices) < 0)
                return;
        for (char **device = devices; *device; device++) {
                g_autofree char *directory = g_strdup_printf(CLASS "/%s/ports", *device);
                const char *problem = problem_of(rows, *device);
                g_auto(GStrv) ports = NULL;

                if (ald_sysroot_list(rows->root, directory, &ports) < 0)
                        continue;
                for (char **port = ports; *port; port++)
                        if (is_port_number(*port) && ald_fabric_has_room(rows, rows->rdma_ports))
                                read_port(rows, *device, *port, problem);
        }
}
