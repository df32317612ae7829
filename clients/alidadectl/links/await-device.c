/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <stdlib.h>

#include <glib.h>

#include "clients/alidadectl/links/await-device.h"
#include "clients/command-line/bus.h"
#include "clients/command-line/print.h"

#define PATIENCE_USEC (10 * G_USEC_PER_SEC)
#define MATCH                                                                            \
        "type='signal',sender='" ALD_LINK_PROBE_NAME "',path='" ALD_LINK_PROBE_PATH      \
        "',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',arg0=" \
        "'" ALD_LINK_PROBE_INTERFACE "'"

/* The sender does not matter, since the signal only makes us look again. */
static int on_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        *(bool *) userdata = true;
        return 0;
}

/* Negative if the service is too old to report it. */
static int is_measured(sd_bus *bus)
{
        char *device = NULL;
        int r = sd_bus_get_property_string(bus, ALD_LINK_PROBE_NAME, ALD_LINK_PROBE_PATH,
                ALD_LINK_PROBE_INTERFACE, "ComputeDevice", NULL, &device);

        if (r >= 0)
                r = *device != '\0';
        free(device);
        return r;
}

/* Returns false if the time is over or the bus is gone. */
static bool wait_for_change(sd_bus *bus, const bool *changed, gint64 deadline)
{
        while (!*changed) {
                gint64 left = deadline - g_get_monotonic_time();
                int r = sd_bus_process(bus, NULL);

                if (r == 0 && left > 0)
                        r = sd_bus_wait(bus, (uint64_t) left);
                if (r < 0 || left <= 0)
                        return false;
        }
        return true;
}

void ald_await_device(sd_bus *bus)
{
        gint64 deadline = g_get_monotonic_time() + PATIENCE_USEC;
        sd_bus_slot *slot = NULL;
        bool changed = false;
        int r = sd_bus_add_match(bus, &slot, MATCH, on_changed, &changed);

        while (r >= 0 && (r = is_measured(bus)) > 0) {
                if (!wait_for_change(bus, &changed, deadline)) {
                        ald_complain("A device is still in use by a measurement that was ended");
                        break;
                }
                changed = false;
        }
        sd_bus_slot_unref(slot);
}
