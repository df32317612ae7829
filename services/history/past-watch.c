/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "services/history/fair-queue.h"
#include "services/history/past-watch.h"
#include "services/history/past.h"
#include "services/history/store/sample.h"
#include "services/history/store/tier-table.h"
#include "state/findings/findings-words.h"
#include "state/link/link.h"

/* The samples themselves are read for the last hours, so that two consecutive probes are two results; for the
 * days before, minutes are read. */
#define RECENT_USEC (6 * ALD_HOUR_USEC)

static const char *const link_rates[] = { "UploadBitsPerSecond", "DownloadBitsPerSecond", NULL };
static const char *const device_rates[] = { "GemmTflops", "MemoryBandwidthBytesPerSecond",
        "CopyBandwidthBytesPerSecond", "HostToDeviceBytesPerSecond", "DeviceToHostBytesPerSecond", NULL };

static const char *const storage_rates[] = { "ReadBytesPerSecond", NULL };

/* The rates in the rows of a record of a node. */
typedef struct WatchedRows {
        AldKind kind;
        const char *const *rates;
} WatchedRows;

static const WatchedRows watched_rows[] = { { ALD_KIND_COMPUTE, device_rates },
        { ALD_KIND_STORAGE, storage_rates } };

/* Results with these flags do not show how fast the device or link is by itself. A device at its power limit
 * is always unstable, which its spread accounts for. */
static const char *const excuses[] = { "disturbed", "unsteady", "busy", "reduced", "suspect", "wall_clock",
        NULL };

/* A rate that is compared with its past. */
typedef struct AldPastRate {
        AldFairPlace place;
        char *entity; /* id */
        AldKind kind;
        char *device; /* NULL for a link */
        const char *field;
        int64_t measured; /* time of the last result; INT64_MIN if there is none */
        AldPastVerdict verdict;
} AldPastRate;

struct AldPastWatch {
        AldModel *model;
        AldHistory *history;
        const AldRecordFeed *feed;
        AldPastChanged changed;
        void *userdata;
        GHashTable *rates;   /* id of an entity → array of AldPastRate */
        AldFairQueue *queue; /* of rates, by the node that measured them */
};

static void rate_free(gpointer data)
{
        AldPastRate *rate = data;

        g_free(rate->entity);
        g_free(rate->device);
        g_free(rate);
}

/* Returns NULL if records of this kind have no such rates. */
static const WatchedRows *find_watched(AldKind kind)
{
        for (size_t i = 0; i < G_N_ELEMENTS(watched_rows); i++)
                if (watched_rows[i].kind == kind)
                        return &watched_rows[i];
        return NULL;
}

static const AldRows *rows_of(const AldRecord *record)
{
        return ald_record_field(record, ald_struct_find_rows(ald_record_type(record)));
}

static char *series_field(const AldPastRate *rate)
{
        if (!rate->device)
                return g_strdup(rate->field);
        return g_strdup_printf("%s[%s].%s", ald_struct_find_rows(ald_kinds[rate->kind].type)->name,
                rate->device, rate->field);
}

/* Returns the name of a series that the history keeps beside each rate, with the results that are not
 * compared. No field has such a name. */
static char *excused_field(const AldPastRate *rate)
{
        g_autofree char *field = series_field(rate);

        return g_strconcat(field, " excused", NULL);
}

static AldSeriesName series_name(const AldPastRate *rate, const char *node, const char *field)
{
        return (AldSeriesName){ node, ald_kinds[rate->kind].name,
                rate->device ? "" : rate->entity + ALD_ID_STRING_SIZE, field };
}

static void store_excuse(AldPastWatch *watch, const AldPastRate *rate)
{
        g_autofree char *node = g_strndup(rate->entity, ALD_ID_STRING_SIZE - 1);
        g_autofree char *field = excused_field(rate);
        const AldSeriesName name = series_name(rate, node, field);

        (void) ald_history_put(watch->history, &name, rate->measured, 1, 0, rate->measured);
}

/* Returns whether the buckets, in the order of time, contain one with this start, from *at on. */
static bool has_bucket(const GArray *buckets, guint *at, int64_t start)
{
        while (*at < buckets->len && g_array_index(buckets, AldBucket, *at).start < start)
                ++*at;
        return *at < buckets->len && g_array_index(buckets, AldBucket, *at).start == start;
}

/* Appends the results of this time range, except for buckets that contain a result that is not compared. */
static int load_results(
        AldPastWatch *watch, const AldPastRate *rate, int64_t from, int64_t to, GArray *results)
{
        g_autofree char *node = g_strndup(rate->entity, ALD_ID_STRING_SIZE - 1);
        g_autofree char *field = series_field(rate), *without = excused_field(rate);
        const AldSeriesName name = series_name(rate, node, field);
        const AldSeriesName name_without = series_name(rate, node, without);
        g_autoptr(GArray) buckets = NULL, excused = NULL;
        guint at = 0;
        int r;

        r = ald_history_query(watch->history, &name, from, to, ALD_HISTORY_POINTS_MAX, &buckets);
        if (r < 0)
                return r;
        r = ald_history_query(watch->history, &name_without, from, to, ALD_HISTORY_POINTS_MAX, &excused);
        if (r < 0 && r != -ENODATA)
                return r;
        for (guint i = 0; i < buckets->len; i++) {
                const AldBucket *bucket = &g_array_index(buckets, AldBucket, i);
                AldPastResult result = { bucket->start, bucket->mean };

                if (bucket->count > 0 && (!excused || !has_bucket(excused, &at, bucket->start)))
                        g_array_append_val(results, result);
        }
        return 0;
}

/* Compares the last result with its past. Keeps the verdict if the history cannot be read. */
static AldPastVerdict compute_verdict(AldPastWatch *watch, const AldPastRate *rate)
{
        g_autoptr(GArray) results = g_array_new(FALSE, FALSE, sizeof(AldPastResult));
        const int64_t to = rate->measured + ALD_SAMPLE_STEP_USEC, recent = to - RECENT_USEC;
        AldPastVerdict verdict = { 0 };
        int r = -ENODATA;

        if (rate->measured >= ALD_PAST_USEC)
                r = load_results(watch, rate, to - ALD_PAST_USEC, recent, results);
        if (r >= 0)
                r = load_results(watch, rate, recent, to, results);
        if (r < 0)
                return r == -ENODATA ? verdict : rate->verdict;
        return ald_past_compare((const AldPastResult *) (const void *) results->data, results->len);
}

static bool is_same_verdict(const AldPastVerdict *a, const AldPastVerdict *b)
{
        return a->slower == b->slower &&
               (!a->slower || (a->rate == b->rate && a->median == b->median && a->since == b->since));
}

static void compare_rate(AldFairPlace *place, void *userdata)
{
        AldPastWatch *watch = userdata;
        AldPastRate *rate = (AldPastRate *) (void *) ((char *) place - offsetof(AldPastRate, place));
        AldPastVerdict before = rate->verdict;

        rate->verdict = compute_verdict(watch, rate);
        if (!is_same_verdict(&before, &rate->verdict))
                watch->changed(watch->userdata);
}

AldPastWatch *ald_past_watch_new(AldModel *model, AldHistory *history, const AldRecordFeed *feed,
        AldPastChanged changed, void *userdata)
{
        AldPastWatch *watch = g_new0(AldPastWatch, 1);

        watch->model = model;
        watch->history = history;
        watch->feed = feed;
        watch->changed = changed;
        watch->userdata = userdata;
        watch->rates = g_hash_table_new_full(
                g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);
        watch->queue = ald_fair_queue_new(compare_rate, watch);
        return watch;
}

void ald_past_watch_free(AldPastWatch *watch)
{
        if (!watch)
                return;
        ald_fair_queue_free(watch->queue);
        g_hash_table_unref(watch->rates);
        g_free(watch);
}

bool ald_past_watch_is_busy(AldPastWatch *watch)
{
        return ald_fair_queue_is_busy(watch->queue);
}

/* Finds or creates a rate. Rates mostly arrive in the same order as before, so the search starts at *next. */
static AldPastRate *get_rate(AldPastWatch *watch, const AldEntity *entity, AldKind kind, const char *device,
        const char *field, guint *next)
{
        GPtrArray *rates = g_hash_table_lookup(watch->rates, entity->id);
        AldPastRate *rate;

        if (!rates) {
                rates = g_ptr_array_new_with_free_func(rate_free);
                g_hash_table_insert(watch->rates, g_strdup(entity->id), rates);
        }
        for (guint i = 0; i < rates->len; i++) {
                const guint at = (*next + i) % rates->len;

                rate = rates->pdata[at];
                if (rate->kind == kind && strcmp(rate->field, field) == 0 &&
                        g_strcmp0(rate->device, device) == 0) {
                        *next = at + 1;
                        return rate;
                }
        }
        rate = g_new(AldPastRate, 1);
        *rate = (AldPastRate){ .entity = g_strdup(entity->id),
                .kind = kind,
                .device = g_strdup(device),
                .field = field,
                .measured = INT64_MIN };
        g_ptr_array_add(rates, rate);
        return rate;
}

static bool is_excused(const char *const *flags)
{
        for (; flags && *flags; flags++)
                if (g_strv_contains(excuses, *flags))
                        return true;
        return false;
}

/* Updates the rates of a record or of a row. */
static void update_rates(AldPastWatch *watch, const AldEntity *entity, AldKind kind, const char *device,
        const AldStruct *type, const void *fields, const char *const *names, guint *next)
{
        const uint64_t *measured = ald_field_of(ald_struct_find(type, "MeasuredUSec"), fields);
        const char *const *const *flags = ald_field_of(ald_struct_find(type, "Flags"), fields);

        for (; *names; names++) {
                const AldField *field = ald_struct_find(type, *names);
                AldPastRate *rate;

                if (*measured > ALD_INTEGER_MAX || ald_field_is_absent(field, ald_field_of(field, fields)))
                        continue;
                rate = get_rate(watch, entity, kind, device, field->name, next);
                if (rate->measured == (int64_t) *measured)
                        continue;
                rate->measured = (int64_t) *measured;
                if (is_excused(*flags)) {
                        store_excuse(watch, rate);
                } else {
                        g_autofree char *node = g_strndup(rate->entity, ALD_ID_STRING_SIZE - 1);

                        ald_fair_queue_push(watch->queue, node, &rate->place);
                }
        }
}

static bool has_rates(AldKind kind)
{
        return ald_kinds[kind].is_link || find_watched(kind);
}

/* Drops all rates of an entity, or those of the kind `only` if it is not negative; if `left` is not NULL,
 * those of devices that it does not contain. */
static void drop_rates(AldPastWatch *watch, const char *id, int only, const AldRows *left)
{
        GPtrArray *rates = g_hash_table_lookup(watch->rates, id);
        bool found = false;

        for (guint i = rates ? rates->len : 0; i > 0; i--) {
                AldPastRate *rate = rates->pdata[i - 1];

                if ((only >= 0 && (int) rate->kind != only) || (left && ald_rows_find(left, rate->device)))
                        continue;
                found |= rate->verdict.slower;
                ald_fair_queue_remove(watch->queue, &rate->place);
                g_ptr_array_remove_index(rates, i - 1);
        }
        if (rates && rates->len == 0)
                g_hash_table_remove(watch->rates, id);
        if (found)
                watch->changed(watch->userdata);
}

static void update_record(AldPastWatch *watch, const AldEntity *entity, const AldRecord *record)
{
        const AldRows *rows;
        guint next = 0;

        if (ald_kinds[record->kind].is_link) {
                update_rates(watch, entity, record->kind, NULL, ald_record_type(record),
                        ald_record_fields(record), link_rates, &next);
                return;
        }
        rows = rows_of(record);
        drop_rates(watch, entity->id, (int) record->kind, rows);
        for (size_t i = 0; i < rows->n; i++) {
                const void *row = ald_rows_at(rows, i);
                const char *const *id = ald_field_of(ald_struct_find(rows->type, "Id"), row);

                update_rates(watch, entity, record->kind, *id, rows->type, row,
                        find_watched(record->kind)->rates, &next);
        }
}

static void update_entity(AldPastWatch *watch, const AldEntity *entity)
{
        if (!ald_record_feed_records(watch->feed, entity)) {
                drop_rates(watch, entity->id, -1, NULL);
                return;
        }
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                if (entity->records[kind] && has_rates(kind))
                        update_record(watch, entity, entity->records[kind]);
}

void ald_past_watch_restart(AldPastWatch *watch)
{
        const GPtrArray *nodes = ald_model_nodes(watch->model), *links = ald_model_links(watch->model);

        for (guint i = 0; i < nodes->len; i++)
                update_entity(watch, nodes->pdata[i]);
        for (guint i = 0; i < links->len; i++)
                update_entity(watch, links->pdata[i]);
}

void ald_past_watch_node(AldPastWatch *watch, const char *node)
{
        const AldEntity *entity = ald_model_get(watch->model, node);
        const GPtrArray *links = ald_model_links(watch->model);

        if (entity)
                update_entity(watch, entity);
        for (guint i = ald_links_of(links, node); i < links->len && ald_is_link_of(links->pdata[i], node);
                i++)
                update_entity(watch, links->pdata[i]);
}

void ald_past_watch_change(AldPastWatch *watch, const AldChange *change)
{
        int kind = change->entity ? ald_kind_from_name(change->kind) : -1;

        if (kind < 0 || !has_rates((AldKind) kind))
                return;
        if (change->type == ALD_CHANGE_REMOVED)
                drop_rates(watch, change->entity->id, kind, NULL);
        else if (ald_record_feed_records(watch->feed, change->entity))
                update_record(watch, change->entity, change->entity->records[kind]);
}

static void describe_link(const AldPastRate *rate, const AldRecord *record, AldFindingRow *row)
{
        const AldLink link = ald_link_of_record(record);
        AldFindingDirection *direction = &row->directions[strcmp(rate->field, link_rates[0]) != 0];

        *(link.rdma ? &row->port : &row->interface) = link.from;
        *(link.rdma ? &row->sink_port : &row->address) = link.to;
        direction->bits_per_second = (uint64_t) rate->verdict.rate;
        row->past_bits_per_second = (uint64_t) rate->verdict.median;
}

static void describe_device(const AldPastRate *rate, const AldEntity *entity, AldFindingRow *row)
{
        const AldBackends *backends = ald_entity_as(entity, BACKENDS, AldBackends);
        const AldBackend *backend = backends ? ald_rows_find(&backends->devices, rate->device) : NULL;

        row->device = rate->device;
        row->device_name = backend ? backend->name : NULL;
        row->field = rate->field;
        if (strcmp(rate->field, device_rates[0]) == 0) {
                row->tflops = rate->verdict.rate;
                row->past_tflops = rate->verdict.median;
                return;
        }
        row->bytes_per_second = (uint64_t) rate->verdict.rate;
        row->past_bytes_per_second = (uint64_t) rate->verdict.median;
}

/* Returns NULL if the record is gone. */
static AldFindingRow *make_finding(
        const AldPastWatch *watch, const AldPastRate *rate, const AldNodeNames *names)
{
        const AldEntity *entity = ald_model_get(watch->model, rate->entity);
        const AldRecord *record = ald_entity_record(entity, rate->kind);
        char ids[2][ALD_ID_STRING_SIZE];
        g_autofree char *first = NULL, *second = NULL, *text = NULL, *remedy = NULL;
        const char *nodes[3] = { 0 }, *node_names[3] = { 0 };
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        /* A device that was measured before may have been removed. */
        if (!record || (rate->device && !ald_rows_find(rows_of(record), rate->device)))
                return NULL;
        g_strlcpy(ids[0], rate->entity, sizeof ids[0]);
        nodes[0] = ids[0];
        node_names[0] = first = ald_node_names_get(names, ids[0]);
        if (rate->device)
                describe_device(rate, entity, &row);
        else {
                const AldLink link = ald_link_of_record(record);

                nodes[1] = ald_id_format(&link.sink, ids[1]);
                node_names[1] = second = ald_node_names_get(names, ids[1]);
                describe_link(rate, record, &row);
        }
        row.id = ald_finding_row_id_to_string(ALD_FINDING_ROW_ID_SLOWER_THAN_PAST);
        row.severity = ald_finding_row_severity_to_string(ALD_FINDING_ROW_SEVERITY_WARNING);
        row.reporter = ids[0];
        row.nodes = nodes;
        row.names = node_names;
        row.since_usec = (uint64_t) rate->verdict.since;
        row.text = text = ald_finding_text(&row);
        row.remedy = remedy = ald_finding_remedy(&row);
        return ald_struct_dup(&ald_finding_row_struct, &row);
}

static int compare_rows(gconstpointer a, gconstpointer b)
{
        const AldFindingRow *one = *(const AldFindingRow *const *) a;
        const AldFindingRow *other = *(const AldFindingRow *const *) b;

        return g_strcmp0(one->text, other->text);
}

static void add_findings(
        const AldPastWatch *watch, const GPtrArray *rates, const AldNodeNames *names, GPtrArray *rows)
{
        for (guint i = 0; i < rates->len; i++) {
                const AldPastRate *rate = rates->pdata[i];
                AldFindingRow *row = rate->verdict.slower ? make_finding(watch, rate, names) : NULL;

                if (row)
                        g_ptr_array_add(rows, row);
        }
}

GPtrArray *ald_past_watch_findings(const AldPastWatch *watch, const AldNodeNames *names)
{
        GPtrArray *rows = g_ptr_array_new_with_free_func(g_free);
        GHashTableIter iter;
        const GPtrArray *rates;

        g_hash_table_iter_init(&iter, watch->rates);
        while (g_hash_table_iter_next(&iter, NULL, (gpointer *) &rates))
                add_findings(watch, rates, names, rows);
        g_ptr_array_sort(rows, compare_rows);
        return rows;
}
