/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/alerts/alert-groups.h"
#include "state/alerts/alert-key.h"
#include "state/findings/findings-words.h"

#define LEAST_OF_ACTIVE 2u
#define NO_NODE G_MAXUINT
#define SEVERAL_NODES (G_MAXUINT - 1)

/* The kinds of places, the narrower first. */
typedef enum PlaceKind {
        PORT,
        UPLINK,
        LEAVES,
        SWITCH,
} PlaceKind;

typedef struct Place {
        PlaceKind kind;
        char *key;
        GPtrArray *links;        /* of AldAlertLink, in trouble or healthy */
        unsigned node;           /* of a port */
        const char *port;        /* its name */
        AldAlertSwitch above[2]; /* of the other kinds except leaves */
        unsigned troubled, left; /* links in trouble, and those of them not explained yet */
        unsigned least;          /* the number that it must explain */
} Place;

typedef struct Search {
        AldAlertPaths *paths;
        GHashTable *active;
        GHashTable *places;   /* key → Place */
        GPtrArray *ordered;   /* the same places, in an order independent of hashes */
        unsigned *leaf_of;    /* for each node the least one of its leaf */
        unsigned *leaf_sizes; /* by the least node */
} Search;

static void place_free(gpointer data)
{
        Place *place = data;

        g_free(place->key);
        g_ptr_array_unref(place->links);
        g_free(place);
}

static const AldAlertNode *node_at(const AldAlertPaths *paths, unsigned index)
{
        return &g_array_index(paths->nodes, AldAlertNode, index);
}

/* Adds a link to the place with the key, of which it takes ownership. */
static void add_to_place(Search *search, const Place *prototype, char *key, AldAlertLink *link)
{
        Place *place = g_hash_table_lookup(search->places, key);

        if (!place) {
                place = g_memdup2(prototype, sizeof *prototype);
                place->key = key;
                place->links = g_ptr_array_new();
                g_hash_table_insert(search->places, key, place);
                g_ptr_array_add(search->ordered, place);
        } else
                g_free(key);
        g_ptr_array_add(place->links, link);
        place->troubled += link->troubled;
        place->left += link->troubled;
}

static void add_to_port(Search *search, AldAlertLink *link, const AldAlertEnd *end)
{
        const Place place = { .kind = PORT, .node = end->node, .port = end->port };

        if (end->port)
                add_to_place(search, &place, g_strdup_printf("port %u %s", end->node, end->port), link);
}

static void add_to_switch(Search *search, AldAlertLink *link, const AldAlertSwitch *above)
{
        const Place place = { .kind = SWITCH, .above = { *above } };

        if (above->id)
                add_to_place(search, &place, g_strconcat("switch ", above->id, NULL), link);
}

static void add_to_uplink(
        Search *search, AldAlertLink *link, const AldAlertSwitch *x, const AldAlertSwitch *y)
{
        bool swap = strcmp(x->id, y->id) > 0;
        const Place place = { .kind = UPLINK, .above = { swap ? *y : *x, swap ? *x : *y } };

        add_to_place(search, &place, g_strconcat("uplink ", place.above[0].id, "\n", place.above[1].id, NULL),
                link);
}

static void add_to_leaves(Search *search, AldAlertLink *link)
{
        const Place place = { .kind = LEAVES };
        unsigned x = search->leaf_of[link->ends[0].node], y = search->leaf_of[link->ends[1].node];

        if (x != y && search->leaf_sizes[x] > 1 && search->leaf_sizes[y] > 1)
                add_to_place(search, &place, g_strdup_printf("leaves %u %u", MIN(x, y), MAX(x, y)), link);
}

static void add_to_all_places(Search *search, AldAlertLink *link)
{
        const AldAlertSwitch *x = &link->ends[0].above, *y = &link->ends[1].above;
        bool same = x->id && y->id && strcmp(x->id, y->id) == 0;

        add_to_port(search, link, &link->ends[0]);
        add_to_port(search, link, &link->ends[1]);
        add_to_switch(search, link, x);
        if (!same)
                add_to_switch(search, link, y);
        if (!x->id || !y->id)
                add_to_leaves(search, link);
        else if (!same)
                add_to_uplink(search, link, x, y);
}

static unsigned find_leaf(const unsigned *leaf_of, unsigned node)
{
        while (leaf_of[node] != node)
                node = leaf_of[node];
        return node;
}

/* Nodes with healthy links between them share a leaf. */
static void find_leaves(Search *search)
{
        guint n = search->paths->nodes->len;

        search->leaf_of = g_new(unsigned, n);
        search->leaf_sizes = g_new0(unsigned, n);
        for (guint i = 0; i < n; i++)
                search->leaf_of[i] = i;
        for (guint i = 0; i < search->paths->links->len; i++) {
                const AldAlertLink *link = search->paths->links->pdata[i];
                unsigned x = find_leaf(search->leaf_of, link->ends[0].node);
                unsigned y = find_leaf(search->leaf_of, link->ends[1].node);

                if (link->healthy && !link->troubled)
                        search->leaf_of[MAX(x, y)] = MIN(x, y);
        }
        for (guint i = 0; i < n; i++) {
                search->leaf_of[i] = find_leaf(search->leaf_of, i);
                search->leaf_sizes[search->leaf_of[i]]++;
        }
}

/* Returns the nodes of the links in trouble in ascending order. Nodes of leaves come in the order that
 * ald_alert_key() needs: ascending for the first leaf, then descending for the other one. */
static GArray *nodes_of(const Search *search, const Place *place)
{
        GArray *nodes = g_array_new(FALSE, FALSE, sizeof(unsigned));
        guint n = search->paths->nodes->len;
        g_autofree bool *found = g_new0(bool, n);
        unsigned first = n;

        for (guint i = 0; i < place->links->len; i++) {
                const AldAlertLink *link = place->links->pdata[i];

                for (unsigned k = 0; k < 2 && link->troubled; k++) {
                        found[link->ends[k].node] = true;
                        first = MIN(first, search->leaf_of[link->ends[k].node]);
                }
        }
        for (unsigned i = 0; i < n; i++)
                if (found[i] && (place->kind != LEAVES || search->leaf_of[i] == first))
                        g_array_append_val(nodes, i);
        for (unsigned i = n; place->kind == LEAVES && i-- > 0;)
                if (found[i] && search->leaf_of[i] != first)
                        g_array_append_val(nodes, i);
        return nodes;
}

/* Makes a complete row in one block. */
static AldFindingRow *make_row(const AldAlertPaths *paths, AldFindingRowId id, AldFindingRowSeverity severity,
        const GArray *nodes, AldFindingRow *arguments)
{
        g_autofree const char **ids = g_new0(const char *, nodes->len + 1);
        g_autofree const char **names = g_new0(const char *, nodes->len + 1);
        g_autofree char *texts = g_malloc0(nodes->len * ALD_ID_STRING_SIZE + 1), *text = NULL, *remedy = NULL;

        for (guint i = 0; i < nodes->len; i++) {
                const AldAlertNode *node = node_at(paths, g_array_index(nodes, unsigned, i));

                ids[i] = ald_id_format(&node->id, texts + i * ALD_ID_STRING_SIZE);
                names[i] = node->name;
        }
        arguments->id = ald_finding_row_id_to_string(id);
        arguments->severity = ald_finding_row_severity_to_string(severity);
        arguments->nodes = ids;
        arguments->names = names;
        text = ald_finding_text(arguments);
        remedy = ald_finding_remedy(arguments);
        arguments->text = text;
        arguments->remedy = remedy;
        return ald_struct_dup(&ald_finding_row_struct, arguments);
}

static void merge_node(unsigned *nodes, unsigned node)
{
        *nodes = *nodes == NO_NODE || *nodes == node ? node : SEVERAL_NODES;
}

static bool is_single(unsigned nodes)
{
        return nodes < SEVERAL_NODES;
}

/* Returns the node whose records alone are the evidence: it has measured all links, has the port, or is the
 * only one that is plugged into the switch, or into one of two. Returns SEVERAL_NODES if there is no such
 * node. */
static unsigned reporter_of(const Place *place)
{
        unsigned measured = NO_NODE, plugged[2] = { NO_NODE, NO_NODE };

        for (guint i = 0; i < place->links->len; i++) {
                const AldAlertLink *link = place->links->pdata[i];

                for (unsigned k = 0; k < 2 && link->troubled; k++) {
                        const AldAlertEnd *end = &link->ends[k];

                        if (link->troubled_by[k])
                                merge_node(&measured, end->node);
                        for (unsigned n = 0; n < 2 && end->above.id; n++)
                                if (g_strcmp0(end->above.id, place->above[n].id) == 0)
                                        merge_node(&plugged[n], end->node);
                }
        }
        if (is_single(measured))
                return measured;
        if (place->kind == PORT)
                return place->node;
        if (is_single(plugged[0]) == is_single(plugged[1]))
                return SEVERAL_NODES;
        return is_single(plugged[0]) ? plugged[0] : plugged[1];
}

static AldFindingRow *describe_place(const Search *search, const Place *place)
{
        static const AldFindingRowId ids[] = {
                [PORT] = ALD_FINDING_ROW_ID_INTERFACE_LINKS_AFFECTED,
                [UPLINK] = ALD_FINDING_ROW_ID_UPLINK_LINKS_AFFECTED,
                [LEAVES] = ALD_FINDING_ROW_ID_UPLINK_LINKS_AFFECTED,
                [SWITCH] = ALD_FINDING_ROW_ID_SWITCH_LINKS_AFFECTED,
        };
        const unsigned reporter = reporter_of(place);
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        g_autoptr(GArray) nodes = NULL;
        char reporter_id[ALD_ID_STRING_SIZE];

        if (is_single(reporter))
                row.reporter = ald_id_format(&node_at(search->paths, reporter)->id, reporter_id);
        if (place->kind == PORT) {
                nodes = g_array_new(FALSE, FALSE, sizeof(unsigned));
                g_array_append_val(nodes, place->node);
        } else
                nodes = nodes_of(search, place);
        row.interface = place->port;
        row.switch_id = place->above[0].id;
        row.switch_name = place->above[0].name;
        row.second_switch_id = place->above[1].id;
        row.second_switch_name = place->above[1].name;
        row.link_count = place->troubled;
        return make_row(search->paths, ids[place->kind], ALD_FINDING_ROW_SEVERITY_WARNING, nodes, &row);
}

/* Returns the number that a place must explain if `bad` of `all` are in trouble, or 0 if it explains nothing.
 * */
static guint least_of(GHashTable *active, const AldFindingRow *row, guint bad, guint all)
{
        g_autofree char *key = ald_alert_key(row);

        if (g_hash_table_contains(active, key))
                return bad >= LEAST_OF_ACTIVE && bad * 2 > all ? LEAST_OF_ACTIVE : 0;
        return bad >= ALD_ALERT_GROUP_LEAST && bad == all ? ALD_ALERT_GROUP_LEAST : 0;
}

static bool is_better(const Place *place, const Place *best)
{
        if (!best || place->left != best->left)
                return !best || place->left > best->left;
        if (place->kind != best->kind)
                return place->kind < best->kind;
        return strcmp(place->key, best->key) < 0;
}

static void accept_place(Search *search, Place *place, AldFindingRow *row)
{
        g_ptr_array_add(search->paths->causes, row);
        for (guint i = 0; i < place->links->len; i++) {
                AldAlertLink *link = place->links->pdata[i];

                if (link->troubled && !link->cause)
                        link->cause = row;
        }
        for (guint i = 0; i < search->ordered->len; i++) {
                Place *other = search->ordered->pdata[i];

                other->left = 0;
                for (guint k = 0; k < other->links->len; k++) {
                        const AldAlertLink *link = other->links->pdata[k];

                        other->left += link->troubled && !link->cause;
                }
        }
}

/* Drops the places that explain nothing, so that only few have to be compared. */
static void drop_places_that_explain_nothing(Search *search)
{
        for (guint i = search->ordered->len; i-- > 0;) {
                Place *place = search->ordered->pdata[i];

                if (place->troubled >= LEAST_OF_ACTIVE) {
                        g_autofree AldFindingRow *row = describe_place(search, place);

                        place->least = least_of(search->active, row, place->troubled, place->links->len);
                }
                if (place->least == 0)
                        g_ptr_array_remove_index_fast(search->ordered, i);
        }
}

static void explain_links(AldAlertPaths *paths, GHashTable *active)
{
        g_autoptr(GHashTable) places = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, place_free);
        g_autoptr(GPtrArray) ordered = g_ptr_array_new();
        Search search = { .paths = paths, .active = active, .places = places, .ordered = ordered };

        find_leaves(&search);
        for (guint i = 0; i < paths->links->len; i++)
                add_to_all_places(&search, paths->links->pdata[i]);
        drop_places_that_explain_nothing(&search);
        for (;;) {
                Place *best = NULL;

                for (guint i = 0; i < ordered->len; i++) {
                        Place *place = ordered->pdata[i];

                        if (place->left >= place->least && is_better(place, best))
                                best = place;
                }
                if (!best)
                        break;
                accept_place(&search, best, describe_place(&search, best));
        }
        g_free(search.leaf_of);
        g_free(search.leaf_sizes);
}

typedef struct Members {
        AldAlertSwitch above;
        GArray *offline; /* indices of nodes */
        guint n;         /* number of all its nodes */
} Members;

static void members_free(gpointer data)
{
        Members *members = data;

        g_array_unref(members->offline);
        g_free(members);
}

/* Collects the nodes of each switch, in the order of their first nodes. */
static GPtrArray *collect_members(const AldAlertPaths *paths)
{
        g_autoptr(GHashTable) by_id = g_hash_table_new(g_str_hash, g_str_equal);
        GPtrArray *all = g_ptr_array_new_with_free_func(members_free);

        for (unsigned i = 0; i < paths->nodes->len; i++) {
                const AldAlertNode *node = node_at(paths, i);
                g_autoptr(GArray) switches = ald_alert_paths_switches(node);

                for (guint k = 0; k < switches->len; k++) {
                        const AldAlertSwitch *above = &g_array_index(switches, AldAlertSwitch, k);
                        Members *members = g_hash_table_lookup(by_id, above->id);

                        if (!members) {
                                members = g_new(Members, 1);
                                *members = (Members){ *above, g_array_new(FALSE, FALSE, sizeof i), 0 };
                                g_hash_table_insert(by_id, (gpointer) above->id, members);
                                g_ptr_array_add(all, members);
                        }
                        members->n++;
                        if (node->offline)
                                g_array_append_val(members->offline, i);
                }
        }
        return all;
}

static void explain_offline(AldAlertPaths *paths, GHashTable *active, const Members *members)
{
        g_autofree AldFindingRow *row = NULL;
        AldFindingRow arguments = ALD_FINDING_ROW_INIT;
        const AldFindingRow *cause;

        if (members->offline->len < LEAST_OF_ACTIVE)
                return;
        arguments.switch_id = members->above.id;
        arguments.switch_name = members->above.name;
        row = make_row(paths, ALD_FINDING_ROW_ID_SWITCH_NODES_OFFLINE, ALD_FINDING_ROW_SEVERITY_WARNING,
                members->offline, &arguments);
        if (least_of(active, row, members->offline->len, members->n) == 0)
                return;
        cause = row;
        g_ptr_array_add(paths->causes, g_steal_pointer(&row));
        for (guint i = 0; i < members->offline->len; i++) {
                gpointer node = GUINT_TO_POINTER(g_array_index(members->offline, unsigned, i) + 1);

                if (!g_hash_table_contains(paths->offline, node))
                        g_hash_table_insert(paths->offline, node, (gpointer) cause);
        }
}

void ald_alert_groups_find(AldAlertPaths *paths, GHashTable *active)
{
        g_autoptr(GPtrArray) members = collect_members(paths);

        explain_links(paths, active);
        for (guint i = 0; i < members->len; i++)
                explain_offline(paths, active, members->pdata[i]);
}
