/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <NetworkManager.h>

#include "services/telemetry/network/network-merge.h"
#include "services/telemetry/network/network-nm.h"

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

static const char *lldp_attribute(NMLldpNeighbor *neighbour, const char *name)
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
                neighbour.chassis_id = lldp_attribute(from, NM_LLDP_ATTR_CHASSIS_ID);
                neighbour.port_id = lldp_attribute(from, NM_LLDP_ATTR_PORT_ID);
                neighbour.system_name = lldp_attribute(from, NM_LLDP_ATTR_SYSTEM_NAME);
                neighbour.port_description = lldp_attribute(from, NM_LLDP_ATTR_PORT_DESCRIPTION);
                g_array_append_val(neighbours, neighbour);
        }
}

/* Returns the name of the kernel's interface. A modem's interface is its control port; only its IP interface
 * is one of the kernel's. */
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

/* Appends the facts of libnm's devices (NMDevice): an AldManagedDevice for each, and AldNeighbours without
 * Ids. All strings belong to libnm. */
static void network_nm_facts(const GPtrArray *devices, GArray *ret_devices, GArray *ret_neighbours)
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

#define RETRY_MIN_SECONDS 1u
#define RETRY_MAX_SECONDS 60u

struct AldNetworkNm {
        GCancellable *attempt; /* of the present connection, also once it is established */
        GDBusConnection *bus;
        NMClient *client;
        GHashTable *watched; /* of GObject */
        guint retry;
        unsigned delay_seconds;

        GArray *devices;
        GArray *neighbours;
        AldManaged managed;

        void (*changed)(void *userdata);
        void *userdata;
};

static void connect_bus(AldNetworkNm *nm);

static void report_change(AldNetworkNm *nm)
{
        nm->changed(nm->userdata);
}

static void watch_properties(AldNetworkNm *nm, gpointer object, const char *const *properties)
{
        if (!g_hash_table_add(nm->watched, g_object_ref(object)))
                return;
        for (; *properties; properties++) {
                g_autofree char *signal = g_strconcat("notify::", *properties, NULL);
                g_signal_connect_swapped(object, signal, G_CALLBACK(report_change), nm);
        }
}

static void watch_device(AldNetworkNm *nm, NMDevice *device)
{
        static const char *const any[] = { NM_DEVICE_INTERFACE, NM_DEVICE_IP_INTERFACE,
                NM_DEVICE_ACTIVE_CONNECTION, NM_DEVICE_METERED, NM_DEVICE_LLDP_NEIGHBORS, NULL };
        static const char *const wifi[] = { NM_DEVICE_INTERFACE, NM_DEVICE_IP_INTERFACE,
                NM_DEVICE_ACTIVE_CONNECTION, NM_DEVICE_METERED, NM_DEVICE_LLDP_NEIGHBORS,
                NM_DEVICE_WIFI_BITRATE, NULL };

        watch_properties(nm, device, NM_IS_DEVICE_WIFI(device) ? wifi : any);
}

static void watch_connection(AldNetworkNm *nm, NMActiveConnection *connection)
{
        static const char *const properties[] = { NM_ACTIVE_CONNECTION_ID, NULL };

        watch_properties(nm, connection, properties);
}

static void on_device_added(NMClient *client, NMDevice *device, gpointer userdata)
{
        watch_device(userdata, device);
        report_change(userdata);
}

static void on_connection_added(NMClient *client, NMActiveConnection *connection, gpointer userdata)
{
        watch_connection(userdata, connection);
        report_change(userdata);
}

static void on_object_removed(NMClient *client, GObject *object, gpointer userdata)
{
        AldNetworkNm *nm = userdata;

        g_signal_handlers_disconnect_by_data(object, nm);
        g_hash_table_remove(nm->watched, object);
        report_change(nm);
}

static void watch_client(AldNetworkNm *nm)
{
        static const char *const properties[] = { NM_CLIENT_NM_RUNNING, NULL };
        const GPtrArray *devices = nm_client_get_devices(nm->client);
        const GPtrArray *connections = nm_client_get_active_connections(nm->client);

        watch_properties(nm, nm->client, properties);
        g_signal_connect(nm->client, NM_CLIENT_DEVICE_ADDED, G_CALLBACK(on_device_added), nm);
        g_signal_connect(nm->client, NM_CLIENT_DEVICE_REMOVED, G_CALLBACK(on_object_removed), nm);
        g_signal_connect(nm->client, NM_CLIENT_ACTIVE_CONNECTION_ADDED, G_CALLBACK(on_connection_added), nm);
        g_signal_connect(nm->client, NM_CLIENT_ACTIVE_CONNECTION_REMOVED, G_CALLBACK(on_object_removed), nm);
        for (guint i = 0; i < devices->len; i++)
                watch_device(nm, devices->pdata[i]);
        for (guint i = 0; i < connections->len; i++)
                watch_connection(nm, connections->pdata[i]);
}

/* Drops the connection. Handlers are disconnected first, since a client that is released reports the removal
 * of each of its objects. */
static void disconnect_bus(AldNetworkNm *nm)
{
        GHashTableIter iter;
        gpointer object;

        if (nm->attempt)
                g_cancellable_cancel(nm->attempt);
        g_clear_object(&nm->attempt);

        g_hash_table_iter_init(&iter, nm->watched);
        while (g_hash_table_iter_next(&iter, &object, NULL)) {
                g_signal_handlers_disconnect_by_data(object, nm);
                g_hash_table_iter_remove(&iter);
        }
        if (nm->bus)
                g_signal_handlers_disconnect_by_data(nm->bus, nm);
        g_clear_object(&nm->client);
        g_clear_object(&nm->bus);
}

static gboolean on_retry(gpointer userdata)
{
        AldNetworkNm *nm = userdata;

        nm->retry = 0;
        connect_bus(nm);
        return G_SOURCE_REMOVE;
}

/* Drops the connection and tries again after a delay. Logs the reason once per outage. */
static void retry_later(AldNetworkNm *nm, const char *what, const char *reason)
{
        if (nm->delay_seconds == RETRY_MIN_SECONDS)
                g_message("Network interfaces are shown without NetworkManager: %s: %s", what, reason);
        disconnect_bus(nm);
        nm->retry = g_timeout_add_seconds(nm->delay_seconds, on_retry, nm);
        nm->delay_seconds = MIN(nm->delay_seconds * 2, RETRY_MAX_SECONDS);
}

static void on_bus_closed(GDBusConnection *bus, gboolean vanished, GError *error, gpointer userdata)
{
        retry_later(userdata, "the system bus is gone", error ? error->message : "closed");
        report_change(userdata);
}

/* Returns the owner of an attempt, or NULL if it was canceled. Callbacks receive their attempt, because `nm`
 * may have been freed after a cancellation. */
static AldNetworkNm *owner_of(GCancellable *attempt)
{
        return g_cancellable_is_cancelled(attempt) ? NULL : g_object_get_data(G_OBJECT(attempt), "nm");
}

static void on_client(GObject *source, GAsyncResult *result, gpointer userdata)
{
        g_autoptr(GCancellable) attempt = userdata;
        g_autoptr(GError) error = NULL;
        g_autoptr(GObject) client = g_async_initable_new_finish(G_ASYNC_INITABLE(source), result, &error);
        AldNetworkNm *nm = owner_of(attempt);

        if (!nm)
                return;
        if (!client) {
                retry_later(nm, "cannot start libnm", error->message);
                return;
        }
        nm->delay_seconds = RETRY_MIN_SECONDS;
        nm->client = NM_CLIENT(g_steal_pointer(&client));
        watch_client(nm);
        report_change(nm);
}

/* Receives a private connection, since the shared one would exit the process when the bus closes. */
static void on_bus(GObject *source, GAsyncResult *result, gpointer userdata)
{
        g_autoptr(GCancellable) attempt = userdata;
        g_autoptr(GError) error = NULL;
        g_autoptr(GDBusConnection) bus = g_dbus_connection_new_for_address_finish(result, &error);
        AldNetworkNm *nm = owner_of(attempt);

        if (!nm)
                return;
        if (!bus) {
                retry_later(nm, "cannot reach the system bus", error->message);
                return;
        }
        nm->bus = g_object_ref(bus);
        g_signal_connect(bus, "closed", G_CALLBACK(on_bus_closed), nm);
        g_async_initable_new_async(NM_TYPE_CLIENT, G_PRIORITY_DEFAULT, attempt, on_client,
                g_object_ref(attempt), NM_CLIENT_DBUS_CONNECTION, bus, NM_CLIENT_INSTANCE_FLAGS,
                (guint) NM_CLIENT_INSTANCE_FLAGS_NO_AUTO_FETCH_PERMISSIONS, NULL);
}

static void connect_bus(AldNetworkNm *nm)
{
        g_autoptr(GError) error = NULL;
        g_autofree char *address = g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, NULL, &error);

        if (!address) {
                retry_later(nm, "no system bus", error->message);
                return;
        }
        nm->attempt = g_cancellable_new();
        g_object_set_data(G_OBJECT(nm->attempt), "nm", nm);
        g_dbus_connection_new_for_address(address,
                G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                        G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION,
                NULL, nm->attempt, on_bus, g_object_ref(nm->attempt));
}

AldNetworkNm *ald_network_nm_new(void (*changed)(void *userdata), void *userdata)
{
        AldNetworkNm *nm = g_new(AldNetworkNm, 1);

        *nm = (AldNetworkNm){
                .watched = g_hash_table_new_full(NULL, NULL, g_object_unref, NULL),
                .delay_seconds = RETRY_MIN_SECONDS,
                .devices = g_array_new(FALSE, FALSE, sizeof(AldManagedDevice)),
                .neighbours = g_array_new(FALSE, FALSE, sizeof(AldNeighbour)),
                .changed = changed,
                .userdata = userdata,
        };
        connect_bus(nm);
        return nm;
}

void ald_network_nm_free(AldNetworkNm *nm)
{
        g_clear_handle_id(&nm->retry, g_source_remove);
        disconnect_bus(nm);
        g_hash_table_unref(nm->watched);
        g_array_unref(nm->devices);
        g_array_unref(nm->neighbours);
        g_free(nm);
}

const AldManaged *ald_network_nm_read(AldNetworkNm *nm)
{
        g_array_set_size(nm->devices, 0);
        g_array_set_size(nm->neighbours, 0);
        if (nm->client && nm_client_get_nm_running(nm->client))
                network_nm_facts(nm_client_get_devices(nm->client), nm->devices, nm->neighbours);
        nm->managed = (AldManaged){
                .devices = (const AldManagedDevice *) nm->devices->data,
                .n_devices = nm->devices->len,
                .neighbours = (const AldNeighbour *) nm->neighbours->data,
                .n_neighbours = nm->neighbours->len,
        };
        return &nm->managed;
}

const AldNetworkNmApi ald_network_nm_api = {
        .start = ald_network_nm_new,
        .stop = ald_network_nm_free,
        .read = ald_network_nm_read,
};
