/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <glib.h>

#include "probes/rdma/port.h"

#define CLASS "/sys/class/infiniband"
#define ADDRESSES_MAX 4096u
#define ENTRIES_MAX 2047u /* GIDs of all ports of a device: the most that one call can return */

static unsigned prefix_of(const uint8_t *mask, size_t size)
{
        unsigned n = 0;

        for (size_t i = 0; i < size; i++)
                n += (unsigned) __builtin_popcount(mask[i]);
        return n;
}

static bool read_address(const struct ifaddrs *entry, AldLocalAddress *ret)
{
        if (!entry->ifa_addr || !entry->ifa_netmask)
                return false;
        ret->interface = if_nametoindex(entry->ifa_name);
        if (entry->ifa_addr->sa_family == AF_INET6) {
                const struct sockaddr_in6 *mask = (const void *) entry->ifa_netmask;

                ret->bytes = ((const struct sockaddr_in6 *) (const void *) entry->ifa_addr)->sin6_addr;
                ret->prefix = prefix_of(mask->sin6_addr.s6_addr, 16);
                return true;
        }
        if (entry->ifa_addr->sa_family == AF_INET) {
                const struct sockaddr_in *mask = (const void *) entry->ifa_netmask;
                const struct sockaddr_in *address = (const void *) entry->ifa_addr;

                ret->bytes = (struct in6_addr){ .s6_addr = { [10] = 0xff, [11] = 0xff } };
                memcpy(&ret->bytes.s6_addr[12], &address->sin_addr, 4);
                ret->prefix = 96 + prefix_of((const uint8_t *) &mask->sin_addr, 4);
                return true;
        }
        return false;
}

static size_t read_addresses(AldLocalAddress *ret)
{
        struct ifaddrs *list;
        size_t n = 0;

        if (getifaddrs(&list) < 0)
                return 0;
        for (const struct ifaddrs *entry = list; entry && n < ADDRESSES_MAX; entry = entry->ifa_next)
                n += read_address(entry, &ret[n]);
        freeifaddrs(list);
        return n;
}

static AldGidType type_of(uint32_t type)
{
        return type == IBV_GID_TYPE_ROCE_V2   ? ALD_GID_ROCE_V2
               : type == IBV_GID_TYPE_ROCE_V1 ? ALD_GID_ROCE_V1
                                              : ALD_GID_IB;
}

static void read_gids(AldVerbsPort *port)
{
        g_autofree AldLocalAddress *addresses = g_new(AldLocalAddress, ADDRESSES_MAX);
        g_autofree struct ibv_gid_entry *entries = g_new0(struct ibv_gid_entry, ENTRIES_MAX);
        size_t n_addresses = read_addresses(addresses);
        ssize_t n = ibv_query_gid_table(port->context, entries, ENTRIES_MAX, 0);

        for (ssize_t i = 0; i < n; i++) {
                AldGid gid = { .index = entries[i].gid_index,
                        .type = type_of(entries[i].gid_type),
                        .interface = entries[i].ndev_ifindex };

                memcpy(&gid.bytes, entries[i].gid.raw, sizeof gid.bytes);
                if (entries[i].port_num == port->number)
                        ald_gids_add(&port->gids, &gid, addresses, n_addresses);
        }
}

static int check_usable(const AldVerbsPort *port, AldFailure *failure)
{
        if (port->port.state != IBV_PORT_ACTIVE)
                return ald_fail(failure, ALD_FAILURE_PORT_DOWN, "%s is not up: the port is in the state %s",
                        port->name, ibv_port_state_str(port->port.state));
        if (port->gids.n == 0 && port->port.link_layer == IBV_LINK_LAYER_ETHERNET)
                return ald_fail(failure, ALD_FAILURE_NO_GID,
                        "%s has no GID that is an address of its interface", port->name);
        return 0;
}

static int read_node(const char *device)
{
        g_autofree char *path = g_build_filename(CLASS, device, "device/numa_node", NULL), *text = NULL;
        gint64 node;

        if (!g_file_get_contents(path, &text, NULL, NULL) ||
                !g_ascii_string_to_signed(g_strstrip(text), 10, 0, G_MAXINT, &node, NULL))
                return -1;
        return (int) node;
}

/* Opens a port of a device. Sets *n_ports to the number of its ports, if that is known. */
static int open_port(
        struct ibv_device *device, unsigned number, AldVerbsPort *ret, unsigned *n_ports, AldFailure *failure)
{
        const char *name = ibv_get_device_name(device);
        AldVerbsPort port = { .number = number, .node = read_node(name) };
        int r;

        snprintf(port.name, sizeof port.name, "%s.%u", name, number);
        errno = 0;
        port.context = ibv_open_device(device);
        if (!port.context && (errno == EACCES || errno == EPERM))
                return ald_fail(failure, ALD_FAILURE_NO_PERMISSION,
                        "%s cannot be opened: no permission for its node in /dev/infiniband", name);
        if (!port.context)
                return ald_fail(failure, ALD_FAILURE_NO_DEVICE, "%s cannot be opened: %s", name,
                        g_strerror(errno ?: EIO));
        r = ibv_query_device(port.context, &port.device);
        if (r == 0) {
                *n_ports = port.device.phys_port_cnt;
                r = ibv_query_port(port.context, (uint8_t) number, &port.port);
        }
        if (r == 0) {
                read_gids(&port);
                r = check_usable(&port, failure);
        } else
                r = ald_fail(failure, ALD_FAILURE_NO_SUCH_DEVICE, "%s cannot be queried: %s", port.name,
                        g_strerror(r));
        if (r < 0)
                ald_verbs_port_close(&port);
        else
                *ret = port;
        return r;
}

/* Fails with the reason why libibverbs does not show the device. */
static int explain_absence(const char *wanted, AldFailure *failure)
{
        g_autofree char *path = wanted ? g_build_filename(CLASS, wanted, NULL) : g_strdup(CLASS);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);

        if (!dir || !g_dir_read_name(dir))
                return wanted ? ald_fail(failure, ALD_FAILURE_NO_SUCH_DEVICE, "there is no RDMA device %s",
                                        wanted)
                              : ald_fail(failure, ALD_FAILURE_NO_DEVICE, "there is no RDMA device");
        if (!g_file_test("/sys/class/infiniband_verbs", G_FILE_TEST_IS_DIR))
                return ald_fail(
                        failure, ALD_FAILURE_NO_PROVIDER, "the kernel module ib_uverbs is not loaded");
        return ald_fail(failure, ALD_FAILURE_NO_PROVIDER,
                "libibverbs has no provider for %s: is ibverbs-providers installed?", wanted ?: "the device");
}

/* Splits "mlx5_0.1" into the device mlx5_0 and its port 1. Returns the port, or 0 for any. */
static unsigned split_name(const char *wanted, char **ret_device)
{
        const char *dot = wanted ? strrchr(wanted, '.') : NULL;
        guint64 number = 0;
        bool split = dot && g_ascii_string_to_unsigned(dot + 1, 10, 1, UINT8_MAX, &number, NULL);

        *ret_device = split ? g_strndup(wanted, (size_t) (dot - wanted)) : g_strdup(wanted);
        return (unsigned) number;
}

/* Opens the first port that works; the failure is that of the last one. */
static int open_any(struct ibv_device *device, unsigned number, AldVerbsPort *ret, AldFailure *failure)
{
        unsigned next = MAX(number, 1), n_ports = 0;
        int r;

        do {
                ald_failure_clear(failure);
                r = open_port(device, next, ret, &n_ports, failure);
        } while (r < 0 && number == 0 && next++ < n_ports);
        return r;
}

int ald_verbs_port_open(const char *wanted, AldVerbsPort *ret, AldFailure *failure)
{
        g_autofree char *device = NULL;
        unsigned number = split_name(wanted, &device);
        int n = 0, r = -ENODEV;
        struct ibv_device **list;

        /* The name may come from the other side. */
        if (wanted && (strchr(wanted, '/') || *wanted == '.'))
                return ald_fail(
                        failure, ALD_FAILURE_NO_SUCH_DEVICE, "this is not the name of an RDMA device");
        list = ibv_get_device_list(&n);

        for (int i = 0; i < n && r < 0; i++) {
                if (device && strcmp(ibv_get_device_name(list[i]), device) != 0)
                        continue;
                r = open_any(list[i], number, ret, failure);
        }
        if (list)
                ibv_free_device_list(list);
        return r < 0 && !failure->message ? explain_absence(device, failure) : r;
}

void ald_verbs_port_close(AldVerbsPort *port)
{
        if (port->context)
                ibv_close_device(port->context);
        port->context = NULL;
}

int ald_verbs_port_check_gid(const AldVerbsPort *port, const AldGid *gid, AldFailure *failure)
{
        struct ibv_gid_entry now = {};
        char text[INET6_ADDRSTRLEN] = "";

        if (ibv_query_gid_ex(port->context, port->number, gid->index, &now, 0) == 0 &&
                type_of(now.gid_type) == gid->type &&
                memcmp(&gid->bytes, now.gid.raw, sizeof gid->bytes) == 0)
                return 0;
        inet_ntop(AF_INET6, &gid->bytes, text, sizeof text);
        return ald_fail(failure, ALD_FAILURE_NO_GID, "the GID %s of %s disappeared", text, port->name);
}

uint64_t ald_verbs_port_rate(const AldVerbsPort *port)
{
        /* These are in units of 100 Mb/s, indexed by the bits of the enumerations. */
        static const unsigned speeds[] = { 25, 50, 100, 100, 140, 250, 500, 1000, 2000 };
        static const unsigned widths[] = { 1, 4, 8, 12, 2 };
        unsigned speed = port->port.active_speed ? (unsigned) __builtin_ctz(port->port.active_speed) : 99;
        unsigned width = port->port.active_width ? (unsigned) __builtin_ctz(port->port.active_width) : 99;

        if (speed >= G_N_ELEMENTS(speeds) || width >= G_N_ELEMENTS(widths))
                return 0;
        return UINT64_C(100000000) * speeds[speed] * widths[width];
}

bool ald_verbs_port_needs_manager(const AldVerbsPort *port)
{
        return port->context->device->transport_type == IBV_TRANSPORT_IWARP;
}

bool ald_verbs_port_takes_immediate(const AldVerbsPort *port)
{
        return !ald_verbs_port_needs_manager(port);
}

void ald_verbs_port_limits(const AldVerbsPort *port, AldRdmaPlanLimits *ret)
{
        struct rlimit locked = { RLIM_INFINITY, RLIM_INFINITY };

        getrlimit(RLIMIT_MEMLOCK, &locked);
        *ret = (AldRdmaPlanLimits){ .locked = locked.rlim_cur == RLIM_INFINITY ? 0 : locked.rlim_cur,
                .region = port->device.max_mr_size,
                .message = port->port.max_msg_sz,
                .requests = (unsigned) MAX(port->device.max_qp_wr, 0),
                .completions = (unsigned) MAX(port->device.max_cqe, 0) };
}
