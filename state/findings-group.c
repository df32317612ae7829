/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings-report.h"

/* What shows by comparing nodes: those that say the same, and those that do not. */

#define MAX_NAMED 3u
#define MAX_GROUPS 8u

/* The nodes that say one string, which points into a record of theirs. */
typedef struct Group {
        const char *string;
        GArray *ids;
} Group;

static void group_free(gpointer data)
{
        Group *group = data;

        g_array_unref(group->ids);
        g_free(group);
}

/* The larger first. */
static int compare_groups(gconstpointer a, gconstpointer b)
{
        const Group *left = *(const Group *const *) a, *right = *(const Group *const *) b;

        if (left->ids->len != right->ids->len)
                return left->ids->len > right->ids->len ? -1 : 1;
        return strcmp(left->string, right->string);
}

typedef struct Groups {
        GPtrArray *list;
        GHashTable *by_string; /* the same */
} Groups;

static void groups_init(Groups *groups)
{
        groups->list = g_ptr_array_new_with_free_func(group_free);
        groups->by_string = g_hash_table_new(g_str_hash, g_str_equal);
}

static void groups_clear(Groups *groups)
{
        g_hash_table_unref(groups->by_string);
        g_ptr_array_unref(groups->list);
}

static void groups_add(Groups *groups, const char *string, const AldId *id)
{
        Group *group = g_hash_table_lookup(groups->by_string, string);

        if (!group) {
                group = g_new(Group, 1);
                *group = (Group){ .string = string, .ids = g_array_new(FALSE, FALSE, sizeof(AldId)) };
                g_ptr_array_add(groups->list, group);
                g_hash_table_insert(groups->by_string, (gpointer) string, group);
        }
        g_array_append_vals(group->ids, id, 1);
}

/* All in one pass. */
typedef struct Said {
        Groups systems;
        Groups versions;
        Groups names;
        Groups reasons;
} Said;

static gboolean listen(AldNode *node, void *userdata)
{
        Said *said = userdata;
        const AldIdentity *identity = ald_record_as(
                ald_node_record(node, ALD_KIND_IDENTITY), IDENTITY, AldIdentity);
        const AldSystem *system = ald_record_as(ald_node_record(node, ALD_KIND_SYSTEM), SYSTEM, AldSystem);

        if (!ald_node_counts(node))
                return FALSE;
        if (identity && identity->operating_system)
                groups_add(&said->systems, identity->operating_system, &node->id);
        if (identity && identity->alidade_version)
                groups_add(&said->versions, identity->alidade_version, &node->id);
        if (identity && identity->friendly_name)
                groups_add(&said->names, identity->friendly_name, &node->id);
        for (const char *const *reason = system ? system->absent_reasons : NULL; reason && *reason; reason++)
                groups_add(&said->reasons, *reason, &node->id);
        return FALSE;
}

static int compare_ids(gconstpointer a, gconstpointer b)
{
        return ald_id_compare(a, b);
}

/* `what` they run, a plural. */
static void find_differing(
        AldReport *report, GPtrArray *groups, const char *finding, const char *what, const char *remedy)
{
        g_autoptr(GString) text = g_string_new("The nodes run different ");
        g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(AldId));

        if (groups->len < 2 || ald_report_full(report, finding))
                return;
        g_string_append_printf(text, "%s: ", what);
        g_ptr_array_sort(groups, compare_groups);
        for (guint i = 0; i < groups->len; i++) {
                const Group *group = groups->pdata[i];
                const AldId *ids = (const AldId *) (void *) group->ids->data;

                g_array_append_vals(all, ids, group->ids->len);
                if (i < MAX_GROUPS) {
                        g_autofree char *names = ald_report_names(report, ids, group->ids->len, MAX_NAMED);

                        g_string_append_printf(text, "%s%s on %s", i > 0 ? "; " : "", group->string, names);
                }
        }
        if (groups->len > MAX_GROUPS)
                g_string_append_printf(text, "; and %u others", groups->len - MAX_GROUPS);
        g_string_append_c(text, '.');
        g_array_sort(all, compare_ids);
        ald_report_add(report, ALD_SEVERITY_NOTICE, finding, (const AldId *) (void *) all->data, all->len,
                g_string_free(g_steal_pointer(&text), FALSE), g_strdup(remedy));
}

static void find_shared_name(AldReport *report, const Group *group)
{
        const AldId *ids = (const AldId *) (void *) group->ids->data;
        g_autoptr(GString) text = g_string_new(NULL);

        if (group->ids->len < 2 || ald_report_full(report, "friendly-name-shared"))
                return;
        g_string_printf(text, "%u nodes are called \"%s\"", group->ids->len, group->string);
        for (guint i = 0; i < MIN(group->ids->len, MAX_GROUPS); i++) {
                g_autofree char *short_id = ald_report_short_id(&ids[i]);

                g_string_append_printf(text, "%s%s", i == 0 ? ": " : ", ", short_id);
        }
        g_string_append(text, group->ids->len > MAX_GROUPS ? ", …" : ".");
        ald_report_add(report, ALD_SEVERITY_NOTICE, "friendly-name-shared", ids, group->ids->len,
                g_string_free(g_steal_pointer(&text), FALSE),
                g_strdup("Give each a name of its own with \"alidadectl set-name NAME\", run on that node."));
}

/* A reason reads "Field: reason". */
static void find_absent_field(AldReport *report, const Group *group)
{
        const AldId *ids = (const AldId *) (void *) group->ids->data;
        const char *colon = strstr(group->string, ": ");
        g_autofree char *names = NULL;
        char *text;

        if (ald_report_full(report, "field-absent"))
                return;
        names = ald_report_names(report, ids, group->ids->len, MAX_NAMED);
        if (colon)
                text = g_strdup_printf("%.*s of %s is not known: %s.", (int) (colon - group->string),
                        group->string, names, colon + 2);
        else
                text = g_strdup_printf("Something of %s is not known: %s.", names, group->string);
        ald_report_add(report, ALD_SEVERITY_NOTICE, "field-absent", ids, group->ids->len, text, NULL);
}

void ald_find_in_groups(AldReport *report)
{
        Said said;

        groups_init(&said.systems);
        groups_init(&said.versions);
        groups_init(&said.names);
        groups_init(&said.reasons);
        ald_store_foreach_node(report->store, listen, &said);
        find_differing(report, said.systems.list, "os-versions-differ", "operating systems",
                "Bring the nodes to one release, unless they are meant to differ.");
        find_differing(report, said.versions.list, "versions-differ", "versions of Alidade",
                "Upgrade the others as well: what only the newer versions know is not shown everywhere.");
        for (guint i = 0; i < said.names.list->len; i++)
                find_shared_name(report, said.names.list->pdata[i]);
        for (guint i = 0; i < said.reasons.list->len; i++)
                find_absent_field(report, said.reasons.list->pdata[i]);
        groups_clear(&said.systems);
        groups_clear(&said.versions);
        groups_clear(&said.names);
        groups_clear(&said.reasons);
}
