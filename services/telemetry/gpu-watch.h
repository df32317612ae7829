/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Tells of devices that appear, go, or get another driver: udev's events of PCI and DRM. */
typedef struct AldGpuWatch AldGpuWatch;

/* Without udev there are no events; that is logged, and the watch is deaf. */
AldGpuWatch *ald_gpu_watch_new(void (*changed)(void *userdata), void *userdata);
void ald_gpu_watch_free(AldGpuWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldGpuWatch, ald_gpu_watch_free)
