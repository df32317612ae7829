/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Reports devices that appear, disappear, change or are bound to another driver, by the udev events of some
 * subsystems. */
typedef struct AldDeviceWatch AldDeviceWatch;

/*
 * If udev cannot be monitored, this is logged, and the watch reports nothing; `what` describes the devices in
 * that message. The subsystems end with NULL.
 */
AldDeviceWatch *ald_device_watch_new(
        const char *what, const char *const *subsystems, void (*changed)(void *userdata), void *userdata);
void ald_device_watch_free(AldDeviceWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldDeviceWatch, ald_device_watch_free)
