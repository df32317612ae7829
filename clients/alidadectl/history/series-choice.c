/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/alidadectl/history/series-choice.h"
#include "record/closest-name.h"

#define CLOSE_NAMES_MAX 5u

static char *full_name(const AldShownSeries *series)
{
        return g_strdup_printf("%s.%s", ald_kinds[series->kind].name, series->field);
}

/* Returns true if the name equals the whole, or a part of it up to a separator; case is ignored. */
static bool begins_with(const char *whole, const char *name)
{
        size_t n = strlen(name);

        return g_ascii_strncasecmp(whole, name, n) == 0 &&
               (whole[n] == '\0' || whole[n] == '.' || whole[n] == '[');
}

static bool matches_exactly(const AldShownSeries *series, const char *name)
{
        g_autofree char *full = full_name(series);

        return g_ascii_strcasecmp(full, name) == 0 || g_ascii_strcasecmp(series->field, name) == 0;
}

static bool matches_name(const AldShownSeries *series, const char *name)
{
        g_autofree char *full = full_name(series);
        const char *after_dot = strchr(full, '.') + 1; /* "Memory.AvailableBytes" of "Node1.Memory.…" */

        return begins_with(full, name) || begins_with(after_dot, name) || begins_with(series->field, name) ||
               g_ascii_strcasecmp(series->number->name, name) == 0;
}

/* Moves the series that the name matches to `chosen`; each is found only once. If a name matches several,
 * those that are not recorded may be omitted. */
static bool move_matching(GPtrArray *all, const char *name, GPtrArray *chosen)
{
        bool found = false;

        for (guint i = 0; i < chosen->len && !found; i++)
                found = matches_name(chosen->pdata[i], name);
        for (guint i = 0; i < all->len; i++) {
                AldShownSeries *series = all->pdata[i];

                if (!matches_name(series, name))
                        continue;
                series->optional = !matches_exactly(series, name);
                g_ptr_array_add(chosen, g_ptr_array_steal_index(all, i--));
                found = true;
        }
        return found;
}

/* Accepts any row that may have existed, such as a device that has been removed from the machine. */
static bool add_past_row(GPtrArray *chosen, const AldEntity *node, const char *name)
{
        guint before = chosen->len;

        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                g_autofree char *prefix = g_strdup_printf("%s.", ald_kinds[kind].name);
                const char *field = g_str_has_prefix(name, prefix) ? name + strlen(prefix) : name;
                const char *open = strchr(field, '['), *close = open ? strrchr(open, ']') : NULL;
                g_autofree char *rows_name = NULL, *id = NULL;
                g_autoptr(GPtrArray) of_row = NULL;
                const AldField *rows;

                if (!close || close == open + 1 || ald_kinds[kind].is_link)
                        continue;
                rows_name = g_strndup(field, (gsize) (open - field));
                id = g_strndup(open + 1, (gsize) (close - open - 1));
                rows = ald_struct_find(ald_kinds[kind].type, rows_name);
                if (!rows || rows->type != ALD_TYPE_ROWS)
                        continue;
                of_row = ald_shown_series_of_row(node, kind, rows, id);
                (void) move_matching(of_row, name, chosen);
        }
        return chosen->len > before;
}

/* Returns 0 if one contains the other; UINT_MAX if they are not similar. */
static unsigned dissimilarity(const char *candidate, const char *name)
{
        g_autofree char *low = g_ascii_strdown(candidate, -1), *wanted = g_ascii_strdown(name, -1);
        unsigned distance;

        if (strlen(wanted) >= 3 && (strstr(low, wanted) || strstr(wanted, low)))
                return 0;
        distance = ald_edit_distance(candidate, name);
        return ald_edits_are_few(name, distance) ? distance : G_MAXUINT;
}

typedef struct CloseName {
        const char *name;
        unsigned dissimilarity;
} CloseName;

static int compare_close(const void *a, const void *b)
{
        const CloseName *x = a, *y = b;

        return x->dissimilarity != y->dissimilarity ? (x->dissimilarity > y->dissimilarity) * 2 - 1
                                                    : strcmp(x->name, y->name);
}

/* Lists similar names of columns, in whatever row or record they are. */
static char *list_similar(const GPtrArray *all, const char *name)
{
        g_autoptr(GArray) close = g_array_new(FALSE, FALSE, sizeof(CloseName));
        g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
        const char *last = strrchr(name, '.');
        GString *out = g_string_new(NULL);

        last = last && last[1] ? last + 1 : name;
        for (guint i = 0; i < all->len; i++) {
                const AldShownSeries *series = all->pdata[i];
                CloseName one = { series->number->name, dissimilarity(series->number->name, last) };

                if (one.dissimilarity != G_MAXUINT && g_hash_table_add(seen, (gpointer) one.name))
                        g_array_append_val(close, one);
        }
        g_array_sort(close, compare_close);
        for (guint i = 0; i < MIN(close->len, CLOSE_NAMES_MAX); i++)
                g_string_append_printf(
                        out, "%s%s", i > 0 ? ", " : "", g_array_index(close, CloseName, i).name);
        return g_string_free(out, FALSE);
}

static char *describe_unknown(const GPtrArray *all, const char *name, bool of_link)
{
        g_autofree char *close = list_similar(all, name);
        const char *what = of_link ? "No figure of a link" : "Neither a node nor a figure of a node";

        return *close ? g_strdup_printf("%s is called \"%s\"; similar: %s", what, name, close)
                      : g_strdup_printf("%s is called \"%s\"; see org.alidade.%s(5)", what, name,
                                of_link ? "Link1.Socket" : "Node1.System");
}

int ald_series_choose(AldModel *model, const AldEntity *node, const AldEntity *peer, const char *const *names,
        double now_usec, GPtrArray **ret, char **ret_problem)
{
        g_autoptr(GPtrArray) all = peer ? ald_shown_series_all_of_links(model, node, peer, now_usec)
                                        : ald_shown_series_all_of_node(node);
        g_autoptr(GPtrArray) chosen = ald_shown_series_list_new();

        if (all->len == 0)
                return -ENXIO;
        for (; *names; names++) {
                if (move_matching(all, *names, chosen) || (!peer && add_past_row(chosen, node, *names)))
                        continue;
                *ret_problem = describe_unknown(all, *names, peer);
                return -ENOENT;
        }
        *ret = g_steal_pointer(&chosen);
        return 0;
}
