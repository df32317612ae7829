/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Tells of devices that appear, go, change, or get another driver: udev's events of some subsystems. */
typedef struct AldDeviceWatch AldDeviceWatch;

/*
 * `what` says in words whose events are missed where udev cannot be listened to: that is logged, and the
 * watch is deaf. The subsystems end with NULL.
 */
AldDeviceWatch *ald_device_watch_new(
        const char *what, const char *const *subsystems, void (*changed)(void *userdata), void *userdata);
void ald_device_watch_free(AldDeviceWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldDeviceWatch, ald_device_watch_free)
