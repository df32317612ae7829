/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/desktop/tables/search-terms.h"

static char *fold_case(const char *text)
{
        g_autofree char *normal = NULL;

        if (g_str_is_ascii(text))
                return g_ascii_strdown(text, -1);
        normal = g_utf8_normalize(text, -1, G_NORMALIZE_ALL);
        return normal ? g_utf8_casefold(normal, -1) : g_strdup("");
}

static bool contains_all(const char *folded, const char *const *terms)
{
        for (; *terms; terms++)
                if (!strstr(folded, *terms))
                        return false;
        return true;
}

GStrv ald_search_terms_new(const char *typed)
{
        g_autofree char *folded = fold_case(typed);
        g_auto(GStrv) words = g_strsplit_set(folded, " \t", -1);
        g_autoptr(GPtrArray) terms = g_ptr_array_new();

        for (char **word = words; *word; word++)
                if (**word)
                        g_ptr_array_add(terms, g_strdup(*word));
        if (terms->len == 0)
                return NULL;
        g_ptr_array_add(terms, NULL);
        return (GStrv) g_ptr_array_free(g_steal_pointer(&terms), FALSE);
}

bool ald_search_terms_match(const char *const *terms, const char *text)
{
        g_autofree char *folded = terms ? fold_case(text) : NULL;

        return !terms || contains_all(folded, terms);
}

bool ald_search_terms_narrow(const char *const *before, const char *const *now)
{
        g_autofree char *all = now ? g_strjoinv("\n", (GStrv) now) : g_strdup("");

        return !before || contains_all(all, before);
}
