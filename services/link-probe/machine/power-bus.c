/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/machine/power-bus.h"
#include "common/bus-cleanup.h"
#include "services/link-probe/machine/power.h"

#define UPOWER "org.freedesktop.UPower"
#define UPOWER_PATH "/org/freedesktop/UPower"

struct AldPower {
        AldService *service;
        sd_bus_slot *query;
        bool known, battery; /* as reported by UPower */
};

AldPower *ald_power_new(AldService *service)
{
        AldPower *power = g_new0(AldPower, 1);

        power->service = service;
        /* Connects at once, so that the connection exists when it is first needed. */
        (void) ald_service_system_bus(service);
        return power;
}

void ald_power_free(AldPower *power)
{
        if (!power)
                return;
        sd_bus_slot_unref(power->query);
        g_free(power);
}

static int on_reply(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        AldPower *power = userdata;
        int battery = 0;

        power->query = sd_bus_slot_unref(power->query);
        power->known = !sd_bus_message_is_method_error(reply, NULL) &&
                       sd_bus_message_read(reply, "v", "b", &battery) >= 0;
        power->battery = battery;
        return 0;
}

/* Asks UPower for OnBattery without starting it: it is running on machines with a battery. */
static void query_upower(AldPower *power)
{
        sd_bus *bus = ald_service_system_bus(power->service);
        g_autoptr(AldMessage) call = NULL;
        int r;

        if (!bus || power->query)
                return;
        r = sd_bus_message_new_method_call(
                bus, &call, UPOWER, UPOWER_PATH, "org.freedesktop.DBus.Properties", "Get");
        if (r >= 0)
                r = sd_bus_message_append(call, "ss", UPOWER, "OnBattery");
        if (r >= 0)
                r = sd_bus_message_set_auto_start(call, false);
        if (r >= 0)
                (void) sd_bus_call_async(bus, &power->query, call, on_reply, power, 0);
}

bool ald_power_on_battery(AldPower *power)
{
        query_upower(power);
        return power->known ? power->battery : ald_power_read_battery(ald_service_root(power->service));
}
