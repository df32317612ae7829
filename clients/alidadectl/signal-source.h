/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * Blocks these signals, up to a 0, and tells of each one in the thread's default main context. Beyond what
 * g_unix_signal_source_new() takes, it knows those of job control. Negative errno. Destroy and unref the
 * source to end it; the signals stay blocked.
 */
int ald_signal_source_new(
        const int *signals, void (*arrived)(int signal, void *userdata), void *userdata, GSource **ret);
