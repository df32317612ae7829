/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/common/record-signals.h"
#include "common/bus-cleanup.h"
#include "record/record-bus.h"

static int new_signal(sd_bus *bus, const char *destination, const char *path, const char *interface,
        const char *member, sd_bus_message **ret)
{
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = sd_bus_message_new_signal(bus, &signal, path, interface, member);
        if (r >= 0 && destination)
                r = sd_bus_message_set_destination(signal, destination);
        if (r >= 0 && destination)
                r = sd_bus_message_set_auto_start(signal, false);
        if (r >= 0)
                *ret = g_steal_pointer(&signal);
        return r;
}

int ald_record_emit_changed(
        sd_bus *bus, const char *destination, const char *path, const AldRecord *record, uint64_t fields)
{
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = new_signal(
                bus, destination, path, "org.freedesktop.DBus.Properties", "PropertiesChanged", &signal);
        if (r >= 0)
                r = ald_record_bus_append_changed(signal, record, fields);
        return r < 0 ? r : sd_bus_send(bus, signal, NULL);
}

int ald_record_emit_added(sd_bus *bus, const char *destination, const char *manager, const char *path,
        const AldRecord *const *records)
{
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = new_signal(
                bus, destination, manager, "org.freedesktop.DBus.ObjectManager", "InterfacesAdded", &signal);
        if (r >= 0)
                r = sd_bus_message_append_basic(signal, 'o', path);
        if (r >= 0)
                r = sd_bus_message_open_container(signal, 'a', "{sa{sv}}");
        for (; r >= 0 && *records; records++)
                r = ald_record_bus_append_interface(signal, *records);
        if (r >= 0)
                r = sd_bus_message_close_container(signal);
        return r < 0 ? r : sd_bus_send(bus, signal, NULL);
}

int ald_record_emit_removed(sd_bus *bus, const char *destination, const char *manager, const char *path,
        const char *const *interfaces)
{
        g_autoptr(AldMessage) signal = NULL;
        int r;

        r = new_signal(bus, destination, manager, "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved",
                &signal);
        if (r >= 0)
                r = sd_bus_message_append_basic(signal, 'o', path);
        if (r >= 0)
                r = sd_bus_message_append_strv(signal, (char **) interfaces);
        return r < 0 ? r : sd_bus_send(bus, signal, NULL);
}
