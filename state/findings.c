/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/findings-report.h"

#define SHORT_ID_DIGITS 8

const char *ald_severity_to_string(AldSeverity severity)
{
        static const char *const strings[] = { "error", "warning", "notice" };

        g_assert((size_t) severity < G_N_ELEMENTS(strings));
        return strings[severity];
}

static void finding_free(gpointer data)
{
        AldFinding *finding = data;

        g_strfreev(finding->nodes);
        g_free(finding->text);
        g_free(finding->remedy);
        g_free(finding);
}

static char **nodes_to_strv(const AldId *nodes, size_t n)
{
        char **strv = g_new0(char *, n + 1);

        for (size_t i = 0; i < n; i++) {
                strv[i] = g_malloc(ALD_ID_STRING_SIZE);
                ald_id_format(&nodes[i], strv[i]);
        }
        return strv;
}

void ald_report_add(AldReport *report, AldSeverity severity, const char *id, const AldId *nodes,
        size_t n_nodes, char *text, char *remedy)
{
        AldFinding *finding = g_new(AldFinding, 1);

        *finding = (AldFinding){
                .id = id,
                .severity = severity,
                .nodes = nodes_to_strv(nodes, n_nodes),
                .text = text,
                .remedy = remedy,
        };
        g_ptr_array_add(report->findings, finding);
}

bool ald_report_full(AldReport *report, const char *id)
{
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(report->counts, id)) + 1;

        g_hash_table_insert(report->counts, (gpointer) id, GUINT_TO_POINTER(count));
        return count > ALD_FINDINGS_PER_ID;
}

static void add_what_is_left(AldReport *report)
{
        GHashTableIter iter;
        gpointer id, count;

        g_hash_table_iter_init(&iter, report->counts);
        while (g_hash_table_iter_next(&iter, &id, &count)) {
                guint n = GPOINTER_TO_UINT(count);

                if (n > ALD_FINDINGS_PER_ID)
                        ald_report_add(report, ALD_SEVERITY_NOTICE, id, NULL, 0,
                                g_strdup_printf("There are %u more findings %s.", n - ALD_FINDINGS_PER_ID,
                                        (const char *) id),
                                NULL);
        }
}

char *ald_report_short_id(const AldId *id)
{
        char string[ALD_ID_STRING_SIZE];

        return g_strndup(ald_id_format(id, string), SHORT_ID_DIGITS);
}

static const char *friendly_name(const AldNode *node)
{
        const AldIdentity *identity = ald_record_as(
                ald_node_record(node, ALD_KIND_IDENTITY), IDENTITY, AldIdentity);

        return identity ? identity->friendly_name : NULL;
}

char *ald_report_name(AldReport *report, const AldId *id)
{
        const AldNode *node = ald_store_find_node(report->store, id);
        const char *name = node ? friendly_name(node) : NULL;
        g_autofree char *short_id = ald_report_short_id(id);

        if (!name)
                return g_steal_pointer(&short_id);
        if (GPOINTER_TO_UINT(g_hash_table_lookup(report->names, name)) > 1)
                return g_strdup_printf("%s (%s)", name, short_id);
        return g_strdup(name);
}

char *ald_report_names(AldReport *report, const AldId *ids, size_t n, size_t max_named)
{
        g_autoptr(GString) names = g_string_new(NULL);

        if (n > max_named)
                return g_strdup_printf("%zu nodes", n);
        for (size_t i = 0; i < n; i++) {
                g_autofree char *name = ald_report_name(report, &ids[i]);

                if (i > 0)
                        g_string_append(names, i == n - 1 ? " and " : ", ");
                g_string_append(names, name);
        }
        return g_string_free(g_steal_pointer(&names), FALSE);
}

static gboolean count_name(AldNode *node, void *userdata)
{
        GHashTable *names = userdata;
        const char *name = friendly_name(node);

        if (name) {
                guint count = GPOINTER_TO_UINT(g_hash_table_lookup(names, name));

                g_hash_table_insert(names, (gpointer) name, GUINT_TO_POINTER(count + 1));
        }
        return FALSE;
}

static int compare_findings(gconstpointer a, gconstpointer b)
{
        const AldFinding *left = *(const AldFinding *const *) a, *right = *(const AldFinding *const *) b;
        int r = (int) left->severity - (int) right->severity;

        if (r == 0)
                r = strcmp(left->id, right->id);
        if (r == 0)
                r = g_strcmp0(left->nodes[0], right->nodes[0]);
        return r != 0 ? r : strcmp(left->text, right->text);
}

GPtrArray *ald_findings_compute(AldStore *store, uint64_t now_realtime, bool clock_is_set)
{
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
        g_autoptr(GHashTable) uneven = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        AldReport report = {
                .store = store,
                .now_realtime = now_realtime,
                .clock_is_set = clock_is_set,
                .findings = g_ptr_array_new_with_free_func(finding_free),
                .names = names,
                .counts = counts,
                .uneven = uneven,
        };

        ald_store_foreach_node(store, count_name, names);
        ald_find_in_nodes(&report);
        ald_find_in_presences(&report);
        ald_find_in_memberships(&report);
        ald_find_in_groups(&report);
        ald_find_in_links(&report);
        ald_find_in_rdma_ports(&report);
        ald_find_contested_hardware(&report);
        ald_find_bridge_loops(&report);
        add_what_is_left(&report);
        g_ptr_array_sort(report.findings, compare_findings);
        return report.findings;
}
