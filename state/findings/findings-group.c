/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings/findings-report.h"

/* Compares nodes: finds those that report the same, and those that differ. */

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
        GHashTable *by_string; /* the same groups */
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

/* The devices of one name, by their drivers. */
typedef struct DeviceGroup {
        const char *name; /* points into a record */
        Groups drivers;
} DeviceGroup;

static void device_group_free(gpointer data)
{
        DeviceGroup *group = data;

        groups_clear(&group->drivers);
        g_free(group);
}

/* The reports of all nodes, collected in one pass. */
typedef struct Reported {
        Groups systems;
        Groups versions;
        Groups names;
        Groups reasons;
        GPtrArray *devices;          /* of DeviceGroup, in the order of the nodes */
        GHashTable *devices_by_kind; /* the same groups */
        GStringChunk *strings;
} Reported;

static DeviceGroup *find_device_group(Reported *reported, const char *name, const char *kind)
{
        DeviceGroup *group = g_hash_table_lookup(reported->devices_by_kind, kind);

        if (group)
                return group;
        group = g_new0(DeviceGroup, 1);
        group->name = name;
        groups_init(&group->drivers);
        g_ptr_array_add(reported->devices, group);
        g_hash_table_insert(reported->devices_by_kind, (gpointer) kind, group);
        return group;
}

/* Groups a device by its driver version. The version is that of the kernel driver, or of the OpenCL runtime
 * if the driver has none, so only versions of the same one are compared. NVIDIA's driver always has one. A
 * node with several devices of a kind counts once, unless their drivers differ. */
static void collect_device(Reported *reported, const AldNode *node, const AldBackend *device)
{
        bool is_nvidia = g_str_equal(device->driver, "nvidia");
        g_autofree char *kind = g_strdup_printf(
                "%s\n%s", device->name, is_nvidia ? "" : device->open_cl_platform ?: "");
        g_autofree char *driver = g_strdup_printf("%s %s", device->driver, device->driver_version);
        Groups *drivers = &find_device_group(
                reported, device->name, g_string_chunk_insert_const(reported->strings, kind))
                                   ->drivers;
        const char *kept = g_string_chunk_insert_const(reported->strings, driver);
        const Group *group = g_hash_table_lookup(drivers->by_string, kept);

        if (!group || !ald_id_equal(&g_array_index(group->ids, AldId, group->ids->len - 1), &node->id))
                groups_add(drivers, kept, &node->id);
}

static void collect_devices(Reported *reported, const AldNode *node)
{
        const AldBackends *backends = ald_node_as(node, BACKENDS, AldBackends);

        for (size_t i = 0; backends && i < backends->devices.n; i++) {
                const AldBackend *device = ald_rows_at(&backends->devices, i);

                if (g_strcmp0(device->class, ald_backend_class_to_string(ALD_BACKEND_CLASS_GPU)) == 0 &&
                        !device->parent && device->unified != 1 && device->name && device->driver &&
                        device->driver_version)
                        collect_device(reported, node, device);
        }
}

static gboolean collect_reports(AldNode *node, void *userdata)
{
        Reported *reported = userdata;
        const AldIdentity *identity = ald_node_as(node, IDENTITY, AldIdentity);
        const AldSystem *system = ald_node_as(node, SYSTEM, AldSystem);

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
        collect_devices(reported, node);
        return FALSE;
}

/* Returns the only node that a finding is about, which may be in it several times; else NULL. */
static const AldId *sole_reporter(const GArray *nodes)
{
        const AldId *ids = (const AldId *) (const void *) nodes->data;

        for (guint i = 1; i < nodes->len; i++)
                if (!ald_id_equal(&ids[0], &ids[i]))
                        return NULL;
        return ids;
}

static bool is_full(AldReport *report, AldFindingRowId id, const GArray *nodes)
{
        return ald_report_full(report, ALD_FINDING_ROW_SEVERITY_NOTICE, id, sole_reporter(nodes),
                (const AldId *) (const void *) nodes->data, nodes->len);
}

static void add_finding(
        AldReport *report, AldFindingRowId id, const GArray *nodes, const AldFindingRow *arguments)
{
        ald_report_add(report, ALD_FINDING_ROW_SEVERITY_NOTICE, id, sole_reporter(nodes),
                (const AldId *) (const void *) nodes->data, nodes->len, arguments);
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

/* Finds nodes that run different values; `device` is what they run them for, or NULL. */
static void find_differing(AldReport *report, GPtrArray *groups, AldFindingRowId id, const char *device)
{
        g_autoptr(GArray) runs = g_array_new(FALSE, FALSE, sizeof(Runs));
        g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(AldId));
        g_autoptr(GPtrArray) values = g_ptr_array_new();
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (groups->len < 2)
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
        if (is_full(report, id, ids))
                return;
        g_ptr_array_add(values, NULL);
        row.values = (const char *const *) values->pdata;
        row.device_name = device;
        add_finding(report, id, ids, &row);
}

static void find_shared_name(AldReport *report, const Group *group)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (group->ids->len < 2 || is_full(report, ALD_FINDING_ROW_ID_FRIENDLY_NAME_SHARED, group->ids))
                return;
        row.shared_name = group->string;
        add_finding(report, ALD_FINDING_ROW_ID_FRIENDLY_NAME_SHARED, group->ids, &row);
}

/* A reason reads "Field: reason"; another node may send it without a field. */
static void find_absent_field(AldReport *report, const Group *group)
{
        const char *colon = strstr(group->string, ": ");
        g_autofree char *field = colon ? g_strndup(group->string, (gsize) (colon - group->string)) : NULL;
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (is_full(report, ALD_FINDING_ROW_ID_FIELD_ABSENT, group->ids))
                return;
        if (field && *field && colon[2]) {
                row.field = field;
                row.reason = colon + 2;
        } else {
                row.reason = group->string;
        }
        add_finding(report, ALD_FINDING_ROW_ID_FIELD_ABSENT, group->ids, &row);
}

bool ald_findings_differ_for_system(const AldSystem *a, const AldSystem *b)
{
        if (!a->absent_reasons || !b->absent_reasons)
                return a->absent_reasons != b->absent_reasons;
        return !g_strv_equal(a->absent_reasons, b->absent_reasons);
}

void ald_find_in_groups(AldReport *report)
{
        Reported reported;

        groups_init(&reported.systems);
        groups_init(&reported.versions);
        groups_init(&reported.names);
        groups_init(&reported.reasons);
        reported.devices = g_ptr_array_new_with_free_func(device_group_free);
        reported.devices_by_kind = g_hash_table_new(g_str_hash, g_str_equal);
        reported.strings = g_string_chunk_new(1024);
        ald_store_foreach_node(report->store, collect_reports, &reported);
        find_differing(report, reported.systems.list, ALD_FINDING_ROW_ID_OS_VERSIONS_DIFFER, NULL);
        find_differing(report, reported.versions.list, ALD_FINDING_ROW_ID_VERSIONS_DIFFER, NULL);
        for (guint i = 0; i < reported.devices->len; i++) {
                const DeviceGroup *group = reported.devices->pdata[i];

                find_differing(
                        report, group->drivers.list, ALD_FINDING_ROW_ID_DEVICE_DRIVERS_DIFFER, group->name);
        }
        for (guint i = 0; i < reported.names.list->len; i++)
                find_shared_name(report, reported.names.list->pdata[i]);
        for (guint i = 0; i < reported.reasons.list->len; i++)
                find_absent_field(report, reported.reasons.list->pdata[i]);
        groups_clear(&reported.systems);
        groups_clear(&reported.versions);
        groups_clear(&reported.names);
        groups_clear(&reported.reasons);
        g_hash_table_unref(reported.devices_by_kind);
        g_ptr_array_unref(reported.devices);
        g_string_chunk_free(reported.strings);
}
