/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * Calls back when etc/os-release or usr/lib/os-release below the root, or the target of such a symbolic link,
 * may have changed: an upgrade replaces the file or the link. Returns a source id for g_source_remove(), or 0
 * if nothing can be watched.
 */
guint ald_os_release_watch(int root, void (*changed)(gpointer userdata), gpointer userdata);
