/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "record/listed-name.h"

char *ald_listed_name(const char *name)
{
        GString *quoted;

        if (!strpbrk(name, ",;\""))
                return g_strdup(name);
        quoted = g_string_new("\"");
        for (; *name; name++) {
                if (*name == '"' || *name == '\\')
                        g_string_append_c(quoted, '\\');
                g_string_append_c(quoted, *name);
        }
        g_string_append_c(quoted, '"');
        return g_string_free(quoted, FALSE);
}
