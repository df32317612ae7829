/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <NetworkManager.h>

#include "services/telemetry/network/network-nm-facts.h"

#define BITS_PER_KILOBIT UINT64_C(1000)

static AldInterfaceType type_of(NMDevice *device)
{
        switch (nm_device_get_device_type(device)) {
        case NM_DEVICE_TYPE_ETHERNET:
                return ALD_INTERFACE_TYPE_ETHERNET;
        case NM_DEVICE_TYPE_WIFI:
        case NM_DEVICE_TYPE_OLPC_MESH:
                return ALD_INTERFACE_TYPE_WIFI;
        case NM_DEVICE_TYPE_INFINIBAND:
                return ALD_INTERFACE_TYPE_INFINIBAND;
        case NM_DEVICE_TYPE_BOND:
        case NM_DEVICE_TYPE_TEAM:
                return ALD_INTERFACE_TYPE_BOND;
        case NM_DEVICE_TYPE_VLAN:
                return ALD_INTERFACE_TYPE_VLAN;
        case NM_DEVICE_TYPE_BRIDGE:
        case NM_DEVICE_TYPE_OVS_BRIDGE:
        case NM_DEVICE_TYPE_OVS_INTERFACE:
                return ALD_INTERFACE_TYPE_BRIDGE;
        case NM_DEVICE_TYPE_TUN:
        case NM_DEVICE_TYPE_IP_TUNNEL:
        case NM_DEVICE_TYPE_VXLAN:
        case NM_DEVICE_TYPE_WIREGUARD:
        case NM_DEVICE_TYPE_PPP:
                return ALD_INTERFACE_TYPE_TUNNEL;
        case NM_DEVICE_TYPE_VETH:
                return ALD_INTERFACE_TYPE_VETH;
        case NM_DEVICE_TYPE_DUMMY:
                return ALD_INTERFACE_TYPE_DUMMY;
        case NM_DEVICE_TYPE_LOOPBACK:
                return ALD_INTERFACE_TYPE_LOOPBACK;
        default:
                return ALD_INTERFACE_TYPE_N;
        }
}

static AldInterfaceMetered metered_of(NMDevice *device)
{
        switch (nm_device_get_metered(device)) {
        case NM_METERED_YES:
                return ALD_INTERFACE_METERED_YES;
        case NM_METERED_NO:
                return ALD_INTERFACE_METERED_NO;
        case NM_METERED_GUESS_YES:
                return ALD_INTERFACE_METERED_GUESS_YES;
        case NM_METERED_GUESS_NO:
                return ALD_INTERFACE_METERED_GUESS_NO;
        default:
                return ALD_INTERFACE_METERED_N;
        }
}

static uint64_t wifi_speed(NMDevice *device)
{
        guint32 kilobits = NM_IS_DEVICE_WIFI(device) ? nm_device_wifi_get_bitrate(NM_DEVICE_WIFI(device)) : 0;

        return kilobits > 0 ? kilobits * BITS_PER_KILOBIT : ALD_ABSENT_UINT64;
}

static const char *attribute(NMLldpNeighbor *neighbour, const char *name)
{
        const char *value = NULL;

        return nm_lldp_neighbor_get_attr_string_value(neighbour, name, &value) ? value : NULL;
}

static void add_neighbours(NMDevice *device, const char *interface, GArray *neighbours)
{
        const GPtrArray *heard = nm_device_get_lldp_neighbors(device);

        for (guint i = 0; heard && i < heard->len; i++) {
                NMLldpNeighbor *from = heard->pdata[i];
                AldNeighbour neighbour = ALD_NEIGHBOUR_INIT;

                neighbour.interface = interface;
                neighbour.chassis_id = attribute(from, NM_LLDP_ATTR_CHASSIS_ID);
                neighbour.port_id = attribute(from, NM_LLDP_ATTR_PORT_ID);
                neighbour.system_name = attribute(from, NM_LLDP_ATTR_SYSTEM_NAME);
                neighbour.port_description = attribute(from, NM_LLDP_ATTR_PORT_DESCRIPTION);
                g_array_append_val(neighbours, neighbour);
        }
}

/* A modem's interface is its control port; only its IP interface is one of the kernel's. */
static const char *interface_of(NMDevice *device)
{
        const char *ip_interface = nm_device_get_ip_iface(device);

        return ip_interface && *ip_interface ? ip_interface : nm_device_get_iface(device);
}

static const char *connection_of(NMDevice *device)
{
        NMActiveConnection *connection = nm_device_get_active_connection(device);

        return connection ? nm_active_connection_get_id(connection) : NULL;
}

void ald_network_nm_facts(const GPtrArray *devices, GArray *ret_devices, GArray *ret_neighbours)
{
        for (guint i = 0; i < devices->len; i++) {
                NMDevice *device = devices->pdata[i];
                AldManagedDevice found = {
                        .interface = interface_of(device),
                        .type = type_of(device),
                        .metered = metered_of(device),
                        .connection = connection_of(device),
                        .speed = wifi_speed(device),
                };

                if (!found.interface)
                        continue;
                g_array_append_val(ret_devices, found);
                add_neighbours(device, found.interface, ret_neighbours);
        }
}
