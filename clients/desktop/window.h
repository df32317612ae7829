/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <adwaita.h>

#include "clients/desktop/live/live-cluster.h"

/*
 * A window for one cluster: pages, details at the side, and the jobs that were started from it. Its actions
 * are listed in window.c and actions/actions.h. It follows the cluster only while it can be seen.
 */
#define ALD_TYPE_DESKTOP_WINDOW (ald_desktop_window_get_type())
G_DECLARE_FINAL_TYPE(AldDesktopWindow, ald_desktop_window, ALD, DESKTOP_WINDOW, AdwApplicationWindow)

/* Keeps a reference of the settings, which may be NULL if their schema is not installed. */
AldDesktopWindow *ald_desktop_window_new(
        AdwApplication *application, AldLiveCluster *cluster, GSettings *settings);

AldLiveCluster *ald_desktop_window_cluster(AldDesktopWindow *window);

/* Shows a page by its name: "topology", "nodes", "devices", "links", "findings" or "placement". */
void ald_desktop_window_show_page(AldDesktopWindow *window, const char *page);
