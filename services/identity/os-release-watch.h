/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * Calls back when etc/os-release or usr/lib/os-release below the root may have changed, or what either is a
 * symbolic link to: an upgrade replaces the file or the link. Returns a source id for g_source_remove(), or 0
 * where nothing can be watched.
 */
guint ald_os_release_watch(int root, void (*changed)(gpointer userdata), gpointer userdata);
