/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "clients/alidadectl/check/requirement.h"
#include "clients/common/columns/node-columns.h"
#include "clients/common/format.h"
#include "clients/common/quantity.h"
#include "state/link/link.h"

#define RESENT_USEC 120e6           /* each record is sent again every 30 s */
#define MEASURED_USEC (24 * 3600e6) /* for figures of probes */

/* Nodes to or from which a link was measured recently, and has not failed since. */
typedef struct Peers {
        GHashTable *ids;
        double since_usec; /* of the oldest link; NaN if there is none */
} Peers;

static void add_peer(Peers *peers, const AldLink *link, const char *own)
{
        char source[ALD_ID_STRING_SIZE], sink[ALD_ID_STRING_SIZE];
        bool is_source;

        ald_id_format(&link->source, source);
        ald_id_format(&link->sink, sink);
        is_source = strcmp(source, own) == 0;
        if (!is_source && strcmp(sink, own) != 0)
                return;
        (void) g_hash_table_add(peers->ids, g_strdup(is_source ? sink : source));
        peers->since_usec = fmin(peers->since_usec, ald_uint64_to_double(link->measured_usec));
}

static void find_peers(const AldNodeRow *row, Peers *peers)
{
        const GPtrArray *all = ald_model_shown_links(row->model);
        double oldest_usec = ald_node_now(row->node, row->now_usec) - MEASURED_USEC;

        for (guint i = 0; i < all->len; i++)
                for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                        const AldRecord *record = ald_entity_record(all->pdata[i], kind);
                        AldLink link;

                        if (!record)
                                continue;
                        link = ald_link_of_record(record);
                        if (ald_link_reaches_sink(&link) &&
                                ald_uint64_to_double(link.measured_usec) >= oldest_usec)
                                add_peer(peers, &link, row->node->id);
                }
}

static double links_number(const void *row)
{
        g_autoptr(GHashTable) ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        Peers peers = { .ids = ids, .since_usec = NAN };

        find_peers(row, &peers);
        return g_hash_table_size(ids);
}

static double links_since(const void *row)
{
        g_autoptr(GHashTable) ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        Peers peers = { .ids = ids, .since_usec = NAN };

        find_peers(row, &peers);
        return peers.since_usec;
}

/* This is not a column of the list of nodes, since counting the links of each node again takes too long in a
 * large cluster. */
static const AldListColumn links_column = { .id = "links",
        .key = "Links",
        .description = "The number of nodes to or from which a link was measured",
        .number = links_number,
        .required = "links",
        .since = links_since,
        .is_measured = true };

/* Returns the next column that can be required, or the first after NULL; NULL after the last. */
static const AldListColumn *next_column(const AldListColumn *column)
{
        const AldListColumn *end = ald_node_columns + ALD_NODE_N_COLUMNS;

        if (column == &links_column)
                return NULL;
        for (column = column ? column + 1 : ald_node_columns; column < end; column++)
                if (column->required)
                        return column;
        return &links_column;
}

char *ald_requirements_help(void)
{
        GString *out = g_string_new(NULL);

        for (const AldListColumn *column = next_column(NULL); column; column = next_column(column))
                g_string_append_printf(out, "%-13s  %s\n", column->required, column->description);
        return g_string_free(out, FALSE);
}

static bool is_size(const AldListColumn *column)
{
        return ald_unit_of_name(column->key) == &ald_unit_bytes;
}

void ald_requirement_free(gpointer data)
{
        AldRequirement *requirement = data;

        g_free(requirement->text);
        g_free(requirement);
}

static int read_figure(const char *text, bool is_bytes, double *ret)
{
        uint64_t bytes;
        char *end;
        double value;
        int r = is_bytes ? ald_size_parse(text, &bytes) : 0;

        if (r < 0)
                return r;
        value = is_bytes ? ald_uint64_to_double(bytes) : g_ascii_strtod(text, &end);
        if (!is_bytes && (end == text || *end || !isfinite(value) || value < 0))
                return -EINVAL;
        *ret = value;
        return 0;
}

/* Parses the figure of a requirement, with the ">=" before it; "" if there is none. */
static int parse_figure(const AldListColumn *column, const char *word, const char *figure, double *ret_least,
        char **ret_reason)
{
        g_autofree char *problem = NULL;
        int r = -EINVAL;

        if (!*figure && !is_size(column))
                return 0;
        if (g_str_has_prefix(figure, ">="))
                r = read_figure(figure + 2, is_size(column), ret_least);
        if (r >= 0)
                return 0;
        problem = ald_size_problem(figure + MIN(strlen(figure), 2), r);
        *ret_reason = r == -EINVAL ? g_strdup_printf("\"%s\" is not a requirement; write %s>=%s", word,
                                             column->required, is_size(column) ? "64GiB" : "2")
                                   : g_strdup_printf("%s: the size is %s", word, problem);
        return r;
}

static int parse_requirement(const char *word, GPtrArray *requirements, char **ret_reason)
{
        size_t length = strcspn(word, ">=");
        const char *figure = word + length;
        AldRequirement requirement = { .least = NAN };
        int r;

        for (const AldListColumn *column = next_column(NULL); column; column = next_column(column)) {
                if (strlen(column->required) != length || strncmp(column->required, word, length) != 0)
                        continue;
                requirement.column = column;
                r = parse_figure(column, word, figure, &requirement.least, ret_reason);
                if (r < 0)
                        return r;
                requirement.text = g_strdup(word);
                g_ptr_array_add(requirements, g_memdup2(&requirement, sizeof requirement));
                return 0;
        }
        *ret_reason = g_strdup_printf(
                "Unknown requirement \"%s\"; see alidadectl check --require=help", word);
        return -EINVAL;
}

int ald_requirements_parse(const char *list, GPtrArray *requirements, char **ret_reason)
{
        g_auto(GStrv) words = g_strsplit(list, ",", -1);

        if (!words[0]) {
                *ret_reason = g_strdup("--require needs a requirement; see alidadectl check --require=help");
                return -EINVAL;
        }
        for (size_t i = 0; words[i]; i++) {
                int r = parse_requirement(words[i], requirements, ret_reason);
                if (r < 0)
                        return r;
        }
        return 0;
}

char *ald_requirement_judge(
        const AldRequirement *requirement, AldModel *model, const AldEntity *node, double now_usec)
{
        const AldListColumn *column = requirement->column;
        double most_usec = column->is_measured ? MEASURED_USEC : RESENT_USEC;
        double number = NAN, since = NAN, now = node ? ald_node_now(node, now_usec) : now_usec;
        g_autofree char *value = NULL, *age = NULL;
        bool enough;

        if (node) {
                AldNodeRow row = ald_node_row_last_known(node);

                row.model = model;
                row.now_usec = now_usec;
                number = column->number(&row);
                since = column->since(&row);
        }
        /* A measured figure may lack the time of its measurement although its record exists. */
        if (isnan(number) || (isnan(since) && !column->is_measured))
                return g_strdup("unknown");
        enough = isnan(requirement->least) ? number > 0 : number >= requirement->least;
        value = ald_format_figure(ald_unit_of_name(column->key), number);
        /* If nothing was measured, there is no age to show. */
        if (isnan(since))
                return enough || number > 0 ? g_strdup_printf("%s, of unknown age", value) : g_strdup(value);
        age = ald_format_age(since, now);
        if (now - since > most_usec)
                return g_strdup_printf("%s, but too old: %s", value, age);
        return enough ? NULL : g_strdup_printf("%s, %s", value, age);
}
