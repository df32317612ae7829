/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "tests/unit/log-count.h"

static GPtrArray *lines;

static GLogWriterOutput keep(GLogLevelFlags flags, const GLogField *fields, gsize n, gpointer userdata)
{
        for (gsize i = 0; i < n; i++)
                if (g_str_equal(fields[i].key, "MESSAGE")) {
                        g_ptr_array_add(lines, g_strdup(fields[i].value));
                        g_test_message("logged: %s", (const char *) fields[i].value);
                }
        return G_LOG_WRITER_HANDLED;
}

void log_count_install(void)
{
        lines = g_ptr_array_new_with_free_func(g_free);
        g_log_set_writer_func(keep, NULL, NULL);
}

unsigned log_count(const char *text)
{
        unsigned n = 0;

        for (guint i = 0; i < lines->len; i++)
                n += strstr(lines->pdata[i], text) != NULL;
        return n;
}

void log_count_reset(void)
{
        g_ptr_array_set_size(lines, 0);
}

size_t log_count_longest(void)
{
        size_t longest = 0;

        for (guint i = 0; i < lines->len; i++)
                longest = MAX(longest, strlen(lines->pdata[i]));
        return longest;
}
