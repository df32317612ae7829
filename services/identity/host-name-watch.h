/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * Calls back when the kernel's host name may have changed, even without hostname1. Returns a source id for
 * g_source_remove(), or 0 if the root has nothing to watch.
 */
guint ald_host_name_watch(int root, void (*changed)(gpointer userdata), gpointer userdata);
