/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/*
 * Blocks the signals of a list that ends with 0, and calls back for each signal in the thread-default main
 * context. Unlike g_unix_signal_source_new(), it supports the signals of job control. Negative errno. Destroy
 * and unref the source to end it; the signals stay blocked.
 */
int ald_signal_source_new(
        const int *signals, void (*arrived)(int signal, void *userdata), void *userdata, GSource **ret);
