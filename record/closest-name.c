/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>

#include "record/closest-name.h"
#include "record/translate.h"

#define COMPARED_MAX 127u /* bytes of a name */
#define WORD_MIN 3u       /* shorter words resemble too many names */

static bool is_swapped(const char *a, unsigned i, const char *b, unsigned k)
{
        return i > 0 && k > 0 && g_ascii_tolower(a[i]) == g_ascii_tolower(b[k - 1]) &&
               g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[k]);
}

unsigned ald_edit_distance(const char *a, const char *b)
{
        unsigned rows[3][COMPARED_MAX + 1]; /* one row per letter of `a`, the last three in turn */
        unsigned i, n = (unsigned) strnlen(b, COMPARED_MAX);

        for (unsigned k = 0; k <= n; k++)
                rows[0][k] = k;
        for (i = 0; a[i]; i++) {
                const unsigned *above = rows[i % 3], *second = rows[(i + 2) % 3];
                unsigned *row = rows[(i + 1) % 3];

                row[0] = i + 1;
                for (unsigned k = 0; k < n; k++) {
                        unsigned changed = above[k] + (g_ascii_tolower(a[i]) != g_ascii_tolower(b[k]));

                        row[k + 1] = MIN(changed, MIN(row[k], above[k + 1]) + 1);
                        if (is_swapped(a, i, b, k))
                                row[k + 1] = MIN(row[k + 1], second[k - 1] + 1);
                }
        }
        return rows[i % 3][n];
}

bool ald_edits_are_few(const char *word, unsigned distance)
{
        return distance <= (strlen(word) + 3) / 4;
}

const char *ald_closest_name(const char *word, const char *const *names)
{
        const char *closest = NULL;
        unsigned least = G_MAXUINT;

        if (strlen(word) < WORD_MIN || strlen(word) > COMPARED_MAX)
                return NULL;
        for (; *names; names++) {
                unsigned distance = ald_edit_distance(*names, word);

                if (distance < least)
                        closest = *names;
                else if (distance == least && g_strcmp0(closest, *names) != 0)
                        closest = NULL;
                least = MIN(least, distance);
        }
        return closest && ald_edits_are_few(word, least) ? closest : NULL;
}

static void list_options(const GOptionEntry *const *tables, GPtrArray *names)
{
        g_ptr_array_add(names, (gpointer) "help");
        for (; *tables; tables++)
                for (const GOptionEntry *entry = *tables; entry->long_name; entry++)
                        g_ptr_array_add(names, (gpointer) entry->long_name);
        g_ptr_array_add(names, NULL);
}

char *ald_option_suggestion(const GOptionEntry *const *tables, char *const *words)
{
        g_autoptr(GPtrArray) names = g_ptr_array_new();

        list_options(tables, names);
        for (; *words && strcmp(*words, "--") != 0; words++) {
                g_autofree char *name = g_str_has_prefix(*words, "--")
                                                ? g_strndup(*words + 2, strcspn(*words + 2, "="))
                                                : NULL;
                const char *closest;

                if (!name || g_strv_contains((const char *const *) names->pdata, name))
                        continue;
                closest = ald_closest_name(name, (const char *const *) names->pdata);
                return closest ? g_strdup_printf(_("Unknown option --%s; did you mean --%s?"), name, closest)
                               : NULL;
        }
        return NULL;
}
