/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "record/listed-name.h"
#include "record/translate.h"

char *ald_listed_name(const char *name)
{
        g_autoptr(GString) escaped = NULL;

        if (!strpbrk(name, ",;\""))
                return g_strdup(name);
        escaped = g_string_new(NULL);
        for (; *name; name++) {
                if (*name == '"' || *name == '\\')
                        g_string_append_c(escaped, '\\');
                g_string_append_c(escaped, *name);
        }
        /* Translators: a name with a comma, in a list of names. */
        return g_strdup_printf(_("\"%s\""), escaped->str);
}
