/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>

#include <glib-unix.h>
#include <libudev.h>

#include "services/telemetry/host/device-watch.h"

/* A driver that loads causes a burst of events; one report afterwards is enough. */
#define SETTLE_MS 100
#define EVENTS_A_TURN 64

struct AldDeviceWatch {
        void (*changed)(void *userdata);
        void *userdata;
        struct udev *udev;
        struct udev_monitor *monitor;
        guint event_source, settle_source;
};

static gboolean on_settled(gpointer userdata)
{
        AldDeviceWatch *watch = userdata;

        watch->settle_source = 0;
        watch->changed(watch->userdata);
        return G_SOURCE_REMOVE;
}

static gboolean on_event(gint fd, GIOCondition condition, gpointer userdata)
{
        AldDeviceWatch *watch = userdata;

        for (unsigned i = 0; i < EVENTS_A_TURN; i++) {
                struct udev_device *device = udev_monitor_receive_device(watch->monitor);

                /* ENOBUFS means that events were lost, so a report is due as well. */
                if (!device && errno != ENOBUFS)
                        break;
                if (watch->settle_source == 0)
                        watch->settle_source = g_timeout_add(SETTLE_MS, on_settled, watch);
                if (!device)
                        break;
                udev_device_unref(device);
        }
        return G_SOURCE_CONTINUE;
}

static bool start_listening(AldDeviceWatch *watch, const char *const *subsystems)
{
        watch->udev = udev_new();
        if (!watch->udev)
                return false;
        watch->monitor = udev_monitor_new_from_netlink(watch->udev, "udev");
        if (!watch->monitor)
                return false;
        for (const char *const *subsystem = subsystems; *subsystem; subsystem++)
                if (udev_monitor_filter_add_match_subsystem_devtype(watch->monitor, *subsystem, NULL) < 0)
                        return false;
        return udev_monitor_enable_receiving(watch->monitor) >= 0;
}

AldDeviceWatch *ald_device_watch_new(
        const char *what, const char *const *subsystems, void (*changed)(void *userdata), void *userdata)
{
        AldDeviceWatch *watch = g_new0(AldDeviceWatch, 1);

        watch->changed = changed;
        watch->userdata = userdata;
        if (start_listening(watch, subsystems))
                watch->event_source = g_unix_fd_add(
                        udev_monitor_get_fd(watch->monitor), G_IO_IN, on_event, watch);
        else
                g_warning("Cannot monitor udev: %s that appear or disappear are not noticed", what);
        return watch;
}

void ald_device_watch_free(AldDeviceWatch *watch)
{
        if (!watch)
                return;
        if (watch->event_source != 0)
                g_source_remove(watch->event_source);
        if (watch->settle_source != 0)
                g_source_remove(watch->settle_source);
        if (watch->monitor)
                udev_monitor_unref(watch->monitor);
        if (watch->udev)
                udev_unref(watch->udev);
        g_free(watch);
}
