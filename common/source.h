/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Detaches a source from its main loop and drops the reference; does nothing if there is none. */
static inline void ald_source_clear(GSource **source)
{
        if (*source)
                g_source_destroy(*source);
        g_clear_pointer(source, g_source_unref);
}
