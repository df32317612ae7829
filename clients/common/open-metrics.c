/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/common/metric-sheet.h"
#include "clients/common/open-metrics.h"
#include "record/id.h"
#include "record/record-key.h"

#define PREFIX "alidade_"

/* The rows of one field of a record. */
typedef struct MetricRows {
        const AldField *field;
        char *key; /* their label: "device" for the field Devices */
        AldMetricSheet *sheet;
} MetricRows;

typedef struct MetricKind {
        AldMetricSheet *sheet;
        GArray *rows;
} MetricKind;

/* Counts the samples of what one node reports. */
typedef struct Account {
        unsigned added, left_out;
} Account;

typedef struct Render {
        AldModel *model;
        AldMetricSet *set;
        AldMetricFamily *up, *name, *updated, *left_out;
        GHashTable *accounts; /* id of a node → Account */
        Account *account;     /* of the node that reports what is being added */
        unsigned samples_per_node;
        AldMetricSheet *totals;
        AldMetricFamily *findings, *findings_by_id;
        MetricKind kinds[ALD_N_KINDS];
        GHashTable *replaced; /* labels of rows with a replaced character, which may occur twice */
        GString *labels, *row_labels;
} Render;

static void rows_clear(void *data)
{
        MetricRows *rows = data;

        g_free(rows->key);
        ald_metric_sheet_free(rows->sheet);
}

/* Returns "device" for "devices"; dbus-interfaces/schema.py rejects lists of rows without the s. */
static char *singular_of(const char *words)
{
        g_assert(g_str_has_suffix(words, "s"));
        return g_strndup(words, strlen(words) - 1);
}

static void add_kind(Render *render, AldKind kind)
{
        const AldStruct *type = ald_kinds[kind].type;
        const AldStructDocs *docs = ald_docs_of(type);
        g_autofree char *prefix = g_strconcat(PREFIX, docs->words, NULL);
        MetricKind *made = &render->kinds[kind];

        made->sheet = ald_metric_sheet_new(render->set, docs, prefix, NULL);
        made->rows = g_array_new(FALSE, FALSE, sizeof(MetricRows));
        g_array_set_clear_func(made->rows, rows_clear);
        for (size_t i = 0; i < type->n_fields; i++) {
                MetricRows rows = { .field = &type->fields[i] };
                g_autofree char *name = NULL;

                if (rows.field->type != ALD_TYPE_ROWS)
                        continue;
                rows.key = singular_of(docs->fields[i].words);
                name = g_strdup_printf("%s_%s", prefix, rows.key);
                rows.sheet = ald_metric_sheet_new(render->set, ald_docs_of(rows.field->rows), name, rows.key);
                g_array_append_val(made->rows, rows);
        }
}

static void render_init(Render *render, AldModel *model)
{
        AldMetricSet *set = ald_metric_set_new();

        render->model = model;
        render->set = set;
        render->replaced = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        render->samples_per_node = ALD_METRIC_SAMPLES_PER_NODE +
                                   ALD_METRIC_SAMPLES_PER_PEER * ald_model_nodes(model)->len;
        render->accounts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        render->labels = g_string_new(NULL);
        render->row_labels = g_string_new(NULL);
        render->up = ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE, g_strdup(PREFIX "node_up"), NULL,
                "Whether the node is heard on the network: 0 while it is offline, absent while that is "
                "unknown.");
        render->name = ald_metric_set_add(set, ALD_METRIC_TYPE_INFO, g_strdup(PREFIX "node"), NULL,
                "The name of the node, to be joined by its id; of a node without one, the first digits of "
                "the id.");
        render->left_out = ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE,
                g_strdup(PREFIX "node_samples_left_out"), NULL,
                "Number of samples of what the node reports that are left out because there are too many.");
        render->updated = ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE,
                g_strdup(PREFIX "node_updated_timestamp_seconds"), "seconds",
                "When the node last sent a record, by its own clock.");
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                add_kind(render, kind);
        render->totals = ald_metric_sheet_new(
                set, ald_docs_of(&ald_cluster_totals_struct), PREFIX "cluster", NULL);
        render->findings = ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE, g_strdup(PREFIX "cluster_findings"),
                NULL, "Number of findings of each severity.");
        render->findings_by_id = ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE,
                g_strdup(PREFIX "cluster_findings_by_id"), NULL,
                "Number of findings of each id; absent without any.");
}

static void render_clear(Render *render)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                ald_metric_sheet_free(render->kinds[kind].sheet);
                g_array_unref(render->kinds[kind].rows);
        }
        ald_metric_sheet_free(render->totals);
        g_hash_table_unref(render->replaced);
        g_hash_table_unref(render->accounts);
        g_string_free(render->labels, TRUE);
        g_string_free(render->row_labels, TRUE);
}

/* The known state of a node's presence; this machine is always up. */
typedef enum NodeUp { NODE_UP, NODE_DOWN, NODE_UNKNOWN } NodeUp;

static NodeUp node_up_state(AldModel *model, const AldEntity *node)
{
        const AldPresence *presence = ald_entity_as(node, PRESENCE, AldPresence);
        int state = ald_presence_state_from_string(presence ? presence->state : NULL);

        if (!node)
                return NODE_UNKNOWN;
        if (g_strcmp0(node->id, ald_model_node_id(model)) == 0)
                return NODE_UP;
        if (state == ALD_PRESENCE_STATE_ONLINE || state == ALD_PRESENCE_STATE_STALE)
                return NODE_UP;
        return state == ALD_PRESENCE_STATE_OFFLINE ? NODE_DOWN : NODE_UNKNOWN;
}

/* Returns true if an earlier row had the same labels. Only labels in which a character was replaced need this
 * check. */
static bool is_repeated_row(Render *render, const MetricRows *rows, const GString *labels)
{
        return !g_hash_table_add(
                render->replaced, g_strdup_printf("%p %s", (const void *) rows, labels->str));
}

static void set_account(Render *render, const char *node)
{
        render->account = g_hash_table_lookup(render->accounts, node);
        if (render->account)
                return;
        render->account = g_new0(Account, 1);
        g_hash_table_insert(render->accounts, g_strdup(node), render->account);
}

/* Limits the samples of a node, so that those of other nodes are not read late, or not at all. */
static void add_fields(Render *render, AldMetricSheet *sheet, const GString *labels, const void *fields)
{
        const unsigned n = ald_metric_sheet_count(sheet, fields);
        Account *account = render->account;

        if (n > render->samples_per_node - account->added) {
                account->left_out += n;
                return;
        }
        account->added += n;
        ald_metric_sheet_add(sheet, labels, fields);
}

static void add_rows(Render *render, const MetricRows *rows, const void *fields)
{
        const AldRows *list = ald_field_of(rows->field, fields);
        const AldField *id = &rows->field->rows->fields[0];
        GString *labels = render->row_labels;

        for (size_t i = 0; i < list->n; i++) {
                const void *row = ald_rows_at(list, i);

                g_string_truncate(labels, 0);
                g_string_append_len(labels, render->labels->str, (gssize) render->labels->len);
                if (ald_metric_label_append(
                            labels, rows->key, *(const char *const *) ald_field_of(id, row)) &&
                        is_repeated_row(render, rows, labels))
                        continue;
                add_fields(render, rows->sheet, labels, row);
        }
}

static void add_record(Render *render, const AldRecord *record)
{
        const MetricKind *kind = &render->kinds[record->kind];
        const void *fields = ald_record_fields(record);

        add_fields(render, kind->sheet, render->labels, fields);
        for (guint i = 0; i < kind->rows->len; i++)
                add_rows(render, &g_array_index(kind->rows, MetricRows, i), fields);
}

static void add_name(Render *render, const AldEntity *node)
{
        g_autofree char *digits = g_strndup(node->id, ALD_SHORT_ID_DIGITS);
        g_autoptr(GString) labels = g_string_new(render->labels->str);

        ald_metric_label_append(labels, "name", ald_entity_name(node) ?: digits);
        ald_metric_add(render->name, labels, 1);
}

static void add_node(Render *render, const AldEntity *node)
{
        NodeUp up = node_up_state(render->model, node);
        uint64_t updated = ald_entity_updated(node);

        g_string_truncate(render->labels, 0);
        ald_metric_label_append(render->labels, "node", node->id);
        add_name(render, node);
        set_account(render, node->id);
        if (up != NODE_UNKNOWN)
                ald_metric_add(render->up, render->labels, up == NODE_UP);
        if (up == NODE_UP && updated != ALD_ABSENT_UINT64)
                ald_metric_add_decimal(render->updated, render->labels, (int64_t) updated, 6);
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                if (node->records[kind] && (up == NODE_UP || (up == NODE_UNKNOWN && ald_kinds[kind].local)))
                        add_record(render, node->records[kind]);
}

/* Returns the part of a valid key of a link that is not its sink: the address, or both ports. */
static char *path_label(AldKind kind, const char *key)
{
        const char *first = strchr(key, ','), *last = strrchr(key, ',');

        return kind == ALD_KIND_LINK_RDMA ? g_strdup_printf("%.*s%s", (int) (first - key), key, last)
                                          : g_strdup(first + 1);
}

static void add_link(Render *render, const AldEntity *link, const AldRecord *record)
{
        const char *key = strchr(link->id, '/') + 1;
        g_autofree char *source = g_strndup(link->id, (gsize) (key - 1 - link->id)), *path = NULL;
        char sink[ALD_ID_STRING_SIZE];
        AldId id;

        if (ald_key_parse(record->kind, key, &id) < 0)
                return;
        ald_id_format(&id, sink);
        if (node_up_state(render->model, ald_model_get(render->model, source)) != NODE_UP ||
                node_up_state(render->model, ald_model_get(render->model, sink)) != NODE_UP)
                return;
        path = path_label(record->kind, key);
        g_string_truncate(render->labels, 0);
        ald_metric_label_append(render->labels, "source", source);
        ald_metric_label_append(render->labels, "sink", sink);
        ald_metric_label_append(render->labels, "path", path);
        set_account(render, source);
        add_record(render, record);
}

/* Adds the numbers of left-out samples; call it once everything that the nodes report has been counted. */
static void add_left_out(Render *render, const GPtrArray *nodes)
{
        for (guint i = 0; i < nodes->len; i++) {
                const AldEntity *node = nodes->pdata[i];
                const Account *account = g_hash_table_lookup(render->accounts, node->id);

                if (!account || node_up_state(render->model, node) != NODE_UP)
                        continue;
                g_string_truncate(render->labels, 0);
                ald_metric_label_append(render->labels, "node", node->id);
                ald_metric_add(render->left_out, render->labels, account->left_out);
        }
}

static int compare_ids(gconstpointer a, gconstpointer b)
{
        const AldEntity *const *x = a, *const *y = b;

        return strcmp((*x)->id, (*y)->id);
}

static GPtrArray *sort_by_id(const GPtrArray *entities)
{
        GPtrArray *sorted = g_ptr_array_new();

        g_ptr_array_extend(sorted, (GPtrArray *) entities, NULL, NULL);
        g_ptr_array_sort(sorted, compare_ids);
        return sorted;
}

static void add_to_count(GHashTable *counts, char *labels, uint64_t n)
{
        uint64_t *sum = g_hash_table_lookup(counts, labels);

        if (!sum) {
                sum = g_new0(uint64_t, 1);
                g_hash_table_insert(counts, g_strdup(labels), sum);
        }
        *sum += n;
        g_free(labels);
}

static void add_counts(AldMetricFamily *family, GHashTable *counts)
{
        g_autoptr(GList) sorted = g_list_sort(g_hash_table_get_keys(counts), (GCompareFunc) strcmp);

        for (GList *at = sorted; at; at = at->next) {
                g_autoptr(GString) labels = g_string_new(at->data);
                const uint64_t *n = g_hash_table_lookup(counts, at->data);

                ald_metric_add(family, labels, (int64_t) *n);
        }
}

static char *finding_labels(const char *severity, const char *id)
{
        GString *labels = g_string_new(NULL);

        ald_metric_label_append(labels, "severity", severity);
        if (id)
                ald_metric_label_append(labels, "id", id);
        return g_string_free(labels, FALSE);
}

/* Severities without findings are known to be 0; ids come from the service, which may be newer. */
static void add_findings(Render *render)
{
        g_autoptr(GHashTable) severities = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                              ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        const AldRows *rows = ald_model_findings(render->model);

        for (AldFindingRowSeverity severity = 0; severity < ALD_FINDING_ROW_SEVERITY_N; severity++)
                add_to_count(
                        severities, finding_labels(ald_finding_row_severity_to_string(severity), NULL), 0);
        for (size_t i = 0; i < rows->n; i++) {
                const AldFindingRow *row = ald_rows_at(rows, i);
                uint64_t n = row->left_out == ALD_ABSENT_UINT64 ? 1 : row->left_out;

                if (!row->severity || !row->id)
                        continue;
                add_to_count(severities, finding_labels(row->severity, NULL), n);
                add_to_count(ids, finding_labels(row->severity, row->id), n);
        }
        add_counts(render->findings, severities);
        add_counts(render->findings_by_id, ids);
}

AldMetricSet *ald_open_metrics_new(AldModel *model)
{
        g_autoptr(GPtrArray) nodes = sort_by_id(ald_model_nodes(model));
        const GPtrArray *links = ald_model_shown_links(model); /* by their ids */
        Render render = {};

        render_init(&render, model);
        for (guint i = 0; i < nodes->len; i++)
                add_node(&render, nodes->pdata[i]);
        for (guint i = 0; i < links->len; i++)
                for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                        const AldEntity *link = links->pdata[i];

                        if (link->records[kind])
                                add_link(&render, link, link->records[kind]);
                }
        add_left_out(&render, nodes);
        g_string_truncate(render.labels, 0);
        ald_metric_sheet_add(render.totals, render.labels, ald_model_totals(model));
        add_findings(&render);
        render_clear(&render);
        return render.set;
}
