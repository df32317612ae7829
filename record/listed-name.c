/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "record/listed-name.h"
#include "record/translate.h"

char *ald_listed_name(const char *name)
{
        /* Translators: a name with a comma, in a list of names. */
        return strpbrk(name, ",;") ? g_strdup_printf(_("\"%s\""), name) : g_strdup(name);
}
