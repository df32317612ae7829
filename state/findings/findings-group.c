/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings/findings-report.h"

/* What shows by comparing nodes: those that report the same, and those that do not. */

/* The nodes that report the same string, which points into a record of theirs. */
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

/* Collected in one pass. */
typedef struct Reported {
        Groups systems;
        Groups versions;
        Groups names;
        Groups reasons;
} Reported;

static gboolean collect(AldNode *node, void *userdata)
{
        Reported *reported = userdata;
        const AldIdentity *identity = ald_record_as(
                ald_node_record(node, ALD_KIND_IDENTITY), IDENTITY, AldIdentity);
        const AldSystem *system = ald_record_as(ald_node_record(node, ALD_KIND_SYSTEM), SYSTEM, AldSystem);

        if (!ald_node_counts(node))
                return FALSE;
        if (identity && identity->operating_system)
                groups_add(&reported->systems, identity->operating_system, &node->id);
        if (identity && identity->alidade_version)
                groups_add(&reported->versions, identity->alidade_version, &node->id);
        if (identity && identity->friendly_name)
                groups_add(&reported->names, identity->friendly_name, &node->id);
        for (const char *const *reason = system ? system->absent_reasons : NULL; reason && *reason; reason++)
                groups_add(&reported->reasons, *reason, &node->id);
        return FALSE;
}

/* One node and what it runs. */
typedef struct Runs {
        AldId id;
        const char *value;
} Runs;

static int compare_runs(gconstpointer a, gconstpointer b)
{
        return ald_id_compare(&((const Runs *) a)->id, &((const Runs *) b)->id);
}

static void find_differing(AldReport *report, GPtrArray *groups, AldFindingRowId id)
{
        g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(Runs));
        g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(AldId));
        g_autoptr(GPtrArray) values = g_ptr_array_new();
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (groups->len < 2 || ald_report_full(report, id))
                return;
        for (guint i = 0; i < groups->len; i++) {
                const Group *group = groups->pdata[i];

                for (guint n = 0; n < group->ids->len; n++) {
                        const Runs one = { g_array_index(group->ids, AldId, n), group->string };

                        g_array_append_val(runs, one);
                }
        }
        g_array_sort(runs, compare_runs);
        for (guint i = 0; i < runs->len; i++) {
                const Runs *one = &g_array_index(runs, Runs, i);

                g_array_append_val(ids, one->id);
                g_ptr_array_add(values, (gpointer) one->value);
        }
        g_ptr_array_add(values, NULL);
        row.values = (const char *const *) values->pdata;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_NOTICE, id, (const AldId *) (void *) ids->data,
                ids->len, &row);
}

static void find_shared_name(AldReport *report, const Group *group)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (group->ids->len < 2 || ald_report_full(report, ALD_FINDING_ROW_ID_FRIENDLY_NAME_SHARED))
                return;
        row.shared_name = group->string;
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_FRIENDLY_NAME_SHARED,
                (const AldId *) (void *) group->ids->data, group->ids->len, &row);
}

/* A reason reads "Field: reason"; another node may send it without a field. */
static void find_absent_field(AldReport *report, const Group *group)
{
        const char *colon = strstr(group->string, ": ");
        g_autofree char *field = colon ? g_strndup(group->string, (gsize) (colon - group->string)) : NULL;
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (ald_report_full(report, ALD_FINDING_ROW_ID_FIELD_ABSENT))
                return;
        if (field && *field && colon[2]) {
                row.field = field;
                row.reason = colon + 2;
        } else {
                row.reason = group->string;
        }
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_NOTICE, ALD_FINDING_ROW_ID_FIELD_ABSENT,
                (const AldId *) (void *) group->ids->data, group->ids->len, &row);
}

void ald_find_in_groups(AldReport *report)
{
        Reported reported;

        groups_init(&reported.systems);
        groups_init(&reported.versions);
        groups_init(&reported.names);
        groups_init(&reported.reasons);
        ald_store_foreach_node(report->store, collect, &reported);
        find_differing(report, reported.systems.list, ALD_FINDING_ROW_ID_OS_VERSIONS_DIFFER);
        find_differing(report, reported.versions.list, ALD_FINDING_ROW_ID_VERSIONS_DIFFER);
        for (guint i = 0; i < reported.names.list->len; i++)
                find_shared_name(report, reported.names.list->pdata[i]);
        for (guint i = 0; i < reported.reasons.list->len; i++)
                find_absent_field(report, reported.reasons.list->pdata[i]);
        groups_clear(&reported.systems);
        groups_clear(&reported.versions);
        groups_clear(&reported.names);
        groups_clear(&reported.reasons);
}
