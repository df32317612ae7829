/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record.h"
#include "state/link/interface-roles.h"

/* Maximum depth of stacked interfaces. */
#define DEPTH_MAX 8u

bool ald_interface_is(const AldInterface *interface, AldInterfaceType type)
{
        return g_strcmp0(interface->type, ald_interface_type_to_string(type)) == 0;
}

bool ald_interface_is_physical(const AldInterface *interface)
{
        return ald_interface_is(interface, ALD_INTERFACE_TYPE_ETHERNET) ||
               ald_interface_is(interface, ALD_INTERFACE_TYPE_WIFI) ||
               ald_interface_is(interface, ALD_INTERFACE_TYPE_THUNDERBOLT) ||
               ald_interface_is(interface, ALD_INTERFACE_TYPE_INFINIBAND);
}

bool ald_network_has_physical(const AldNetwork *network)
{
        for (size_t i = 0; i < network->interfaces.n; i++)
                if (ald_interface_is_physical(ald_rows_at(&network->interfaces, i)))
                        return true;
        return false;
}

static const AldInterface *find_interface(const AldNetwork *network, const char *name)
{
        return name ? ald_rows_find(&network->interfaces, name) : NULL;
}

/* A bridge that only containers or virtual machines use has no such port. */
static bool port_leads_out(const AldInterface *port, bool physical)
{
        if (ald_interface_is(port, ALD_INTERFACE_TYPE_VETH))
                return !physical;
        return ald_interface_is_physical(port) || ald_interface_is(port, ALD_INTERFACE_TYPE_BOND) ||
               ald_interface_is(port, ALD_INTERFACE_TYPE_VLAN);
}

static bool bridge_leads_out(const AldNetwork *network, const AldInterface *bridge, bool physical)
{
        for (const char *const *name = bridge->ports; name && *name; name++) {
                const AldInterface *port = find_interface(network, *name);

                if (port && port_leads_out(port, physical))
                        return true;
        }
        return false;
}

bool ald_interface_is_metered(const AldInterface *interface)
{
        return g_strcmp0(interface->metered, ald_interface_metered_to_string(ALD_INTERFACE_METERED_YES)) ==
                       0 ||
               g_strcmp0(interface->metered,
                       ald_interface_metered_to_string(ALD_INTERFACE_METERED_GUESS_YES)) == 0;
}

bool ald_network_leads_out(const AldNetwork *network, const AldInterface *interface, bool physical)
{
        if (interface->carrier == 0 || interface->controller ||
                ald_interface_is(interface, ALD_INTERFACE_TYPE_LOOPBACK) ||
                ald_interface_is(interface, ALD_INTERFACE_TYPE_DUMMY))
                return false;
        if (ald_interface_is(interface, ALD_INTERFACE_TYPE_VETH))
                return !physical;
        return !ald_interface_is(interface, ALD_INTERFACE_TYPE_BRIDGE) ||
               bridge_leads_out(network, interface, physical);
}

const AldInterface *ald_network_find_address(const AldNetwork *network, const char *address)
{
        size_t n = strlen(address);

        for (size_t i = 0; i < network->interfaces.n; i++) {
                const AldInterface *interface = ald_rows_at(&network->interfaces, i);

                for (const char *const *a = interface->addresses; a && *a; a++)
                        if (strncmp(*a, address, n) == 0 && (*a)[n] == '/')
                                return interface;
        }
        return NULL;
}

const AldInterface *ald_network_find_carrier(const AldNetwork *network, const AldInterface *interface)
{
        for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
                const AldInterface *below = find_interface(network, interface->parent);

                if (!below)
                        below = find_interface(network, interface->controller);
                if (!below)
                        break;
                interface = below;
        }
        return interface;
}
