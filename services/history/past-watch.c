/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/history/past-watch.h"
#include "services/history/past.h"
#include "services/history/store/sample.h"
#include "services/history/store/tier-table.h"
#include "state/findings/findings-words.h"
#include "state/link.h"

/* The samples themselves are read of the last hours, so that two probes in a row are two results, and minutes
 * of the days before. */
#define RECENT_USEC (6 * ALD_HOUR_USEC)

static const char *const link_rates[] = { "UploadBitsPerSecond", "DownloadBitsPerSecond", NULL };
static const char *const device_rates[] = { "GemmTflops", "MemoryBandwidthBytesPerSecond",
        "CopyBandwidthBytesPerSecond", "HostToDeviceBytesPerSecond", "DeviceToHostBytesPerSecond", NULL };
/* Of these results nobody knows how fast the device or link alone is. */
static const char *const excuses[] = { "disturbed", "unsteady", "busy", "reduced", "suspect", "wall_clock",
        NULL };

/* A rate that is compared with its past. */
typedef struct AldPastRate {
        char *entity; /* id */
        AldKind kind;
        char *device; /* NULL for a link */
        const char *field;
        bool queued;
        int64_t measured; /* the last result; INT64_MIN: none */
        int64_t excused;  /* the last one that is not compared */
        AldPastVerdict verdict;
} AldPastRate;

struct AldPastWatch {
        AldModel *model;
        AldHistory *history;
        const AldRecordFeed *feed;
        AldPastChanged changed;
        void *userdata;
        GHashTable *rates; /* AldPastRate by itself */
        GQueue queue;      /* of these */
        guint idle;
};

static guint hash_rate(gconstpointer data)
{
        const AldPastRate *rate = data;

        return g_str_hash(rate->entity) ^ g_str_hash(rate->field) ^ (guint) rate->kind ^
               (rate->device ? g_str_hash(rate->device) : 0);
}

static gboolean is_same_rate(gconstpointer a, gconstpointer b)
{
        const AldPastRate *one = a, *other = b;

        return one->kind == other->kind && strcmp(one->entity, other->entity) == 0 &&
               strcmp(one->field, other->field) == 0 && g_strcmp0(one->device, other->device) == 0;
}

static void rate_free(gpointer data)
{
        AldPastRate *rate = data;

        g_free(rate->entity);
        g_free(rate->device);
        g_free(rate);
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
        watch->rates = g_hash_table_new_full(hash_rate, is_same_rate, rate_free, NULL);
        g_queue_init(&watch->queue);
        return watch;
}

void ald_past_watch_free(AldPastWatch *watch)
{
        if (!watch)
                return;
        g_clear_handle_id(&watch->idle, g_source_remove);
        g_queue_clear(&watch->queue);
        g_hash_table_unref(watch->rates);
        g_free(watch);
}

/* Comparing */

static char *series_field(const AldPastRate *rate)
{
        return rate->device ? g_strdup_printf("Devices[%s].%s", rate->device, rate->field)
                            : g_strdup(rate->field);
}

/* Appends the results of this time. A result that is not compared is in a bucket of its own, or takes others
 * of the same moments with it. */
static int load_results(
        AldPastWatch *watch, const AldPastRate *rate, int64_t from, int64_t to, GArray *results)
{
        g_autofree char *node = g_strndup(rate->entity, ALD_ID_STRING_SIZE - 1);
        g_autofree char *field = series_field(rate);
        const char *key = rate->device ? "" : rate->entity + ALD_ID_STRING_SIZE;
        const AldSeriesName name = { node, ald_kinds[rate->kind].name, key, field };
        const int64_t width = (to - from) / ALD_HISTORY_POINTS_MAX + 1;
        g_autoptr(GArray) buckets = NULL;
        int r;

        r = ald_history_query(watch->history, &name, from, to, ALD_HISTORY_POINTS_MAX, &buckets);
        if (r < 0)
                return r;
        for (guint i = 0; i < buckets->len; i++) {
                const AldBucket *bucket = &g_array_index(buckets, AldBucket, i);
                AldPastResult result = { bucket->start, bucket->mean };

                if (bucket->count > 0 &&
                        (rate->excused < bucket->start || rate->excused >= bucket->start + width))
                        g_array_append_val(results, result);
        }
        return 0;
}

/* If the history cannot be read, the verdict remains. */
static AldPastVerdict compare(AldPastWatch *watch, const AldPastRate *rate)
{
        g_autoptr(GArray) results = g_array_new(FALSE, FALSE, sizeof(AldPastResult));
        const int64_t to = rate->measured + ALD_SAMPLE_STEP_USEC, recent = to - RECENT_USEC;
        int r = -ENODATA;

        if (rate->measured >= ALD_PAST_USEC)
                r = load_results(watch, rate, to - ALD_PAST_USEC, recent, results);
        if (r >= 0)
                r = load_results(watch, rate, recent, to, results);
        if (r < 0 && r != -ENODATA)
                return rate->verdict;
        return ald_past_judge((const AldPastResult *) (const void *) results->data, results->len);
}

static bool is_same_verdict(const AldPastVerdict *a, const AldPastVerdict *b)
{
        return a->slower == b->slower &&
               (!a->slower || (a->rate == b->rate && a->median == b->median && a->since == b->since));
}

/* One at a time, so that the service answers meanwhile. */
static gboolean on_idle(gpointer userdata)
{
        AldPastWatch *watch = userdata;
        AldPastRate *rate = g_queue_pop_head(&watch->queue);
        AldPastVerdict before;

        if (!rate) {
                watch->idle = 0;
                return G_SOURCE_REMOVE;
        }
        before = rate->verdict;
        rate->queued = false;
        rate->verdict = compare(watch, rate);
        if (!is_same_verdict(&before, &rate->verdict))
                watch->changed(watch->userdata);
        return G_SOURCE_CONTINUE;
}

static void enqueue(AldPastWatch *watch, AldPastRate *rate)
{
        if (!rate->queued)
                g_queue_push_tail(&watch->queue, rate);
        rate->queued = true;
        if (watch->idle == 0)
                watch->idle = g_idle_add(on_idle, watch);
}

/* Following */

static AldPastRate *get_rate(
        AldPastWatch *watch, const AldEntity *entity, AldKind kind, const char *device, const char *field)
{
        const AldPastRate wanted = {
                .entity = entity->id, .kind = kind, .device = (char *) (uintptr_t) device, .field = field
        };
        AldPastRate *rate = g_hash_table_lookup(watch->rates, &wanted);

        if (!rate) {
                rate = g_new0(AldPastRate, 1);
                *rate = wanted;
                rate->entity = g_strdup(entity->id);
                rate->device = g_strdup(device);
                rate->measured = rate->excused = INT64_MIN;
                g_hash_table_add(watch->rates, rate);
        }
        return rate;
}

static void forget(AldPastWatch *watch, AldPastRate *rate, bool *found)
{
        *found |= rate->verdict.slower;
        g_queue_remove(&watch->queue, rate);
}

static bool is_excused(const char *const *flags)
{
        for (; flags && *flags; flags++)
                if (g_strv_contains(excuses, *flags))
                        return true;
        return false;
}

/* A record or a row, with its rates. */
static void take_rates(AldPastWatch *watch, const AldEntity *entity, AldKind kind, const char *device,
        const AldStruct *type, const void *fields, const char *const *names)
{
        const uint64_t *measured = ald_field_of(ald_struct_find(type, "MeasuredUSec"), fields);
        const char *const *const *flags = ald_field_of(ald_struct_find(type, "Flags"), fields);

        for (; *names; names++) {
                const AldField *field = ald_struct_find(type, *names);
                AldPastRate *rate;

                if (*measured > ALD_INTEGER_MAX || ald_field_is_absent(field, ald_field_of(field, fields)))
                        continue;
                rate = get_rate(watch, entity, kind, device, field->name);
                if (rate->measured == (int64_t) *measured)
                        continue;
                rate->measured = (int64_t) *measured;
                if (is_excused(*flags))
                        rate->excused = rate->measured;
                else
                        enqueue(watch, rate);
        }
}

static void take_record(AldPastWatch *watch, const AldEntity *entity, const AldRecord *record)
{
        const AldCompute *compute;

        if (ald_kinds[record->kind].is_link) {
                take_rates(watch, entity, record->kind, NULL, ald_record_type(record),
                        ald_record_fields(record), link_rates);
                return;
        }
        if (record->kind != ALD_KIND_COMPUTE)
                return;
        compute = ald_record_as(record, COMPUTE, AldCompute);
        for (size_t i = 0; i < compute->devices.n; i++) {
                const AldComputeDevice *device = ald_rows_at(&compute->devices, i);

                take_rates(
                        watch, entity, record->kind, device->id, compute->devices.type, device, device_rates);
        }
}

/* Drops what is not there any more, or not recorded. */
static void drop_unrecorded(AldPastWatch *watch, const char *only)
{
        GHashTableIter iter;
        AldPastRate *rate;
        bool found = false;

        g_hash_table_iter_init(&iter, watch->rates);
        while (g_hash_table_iter_next(&iter, (gpointer *) &rate, NULL)) {
                const AldEntity *entity;

                if (only && strcmp(only, rate->entity) != 0)
                        continue;
                entity = ald_model_get(watch->model, rate->entity);
                if (entity && entity->records[rate->kind] && ald_record_feed_records(watch->feed, entity))
                        continue;
                forget(watch, rate, &found);
                g_hash_table_iter_remove(&iter);
        }
        if (found)
                watch->changed(watch->userdata);
}

static void take_entity(AldPastWatch *watch, const AldEntity *entity)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++)
                if (entity->records[kind] && ald_record_feed_records(watch->feed, entity))
                        take_record(watch, entity, entity->records[kind]);
}

void ald_past_watch_restart(AldPastWatch *watch)
{
        const GPtrArray *nodes = ald_model_nodes(watch->model), *links = ald_model_links(watch->model);

        drop_unrecorded(watch, NULL);
        for (guint i = 0; i < nodes->len; i++)
                take_entity(watch, nodes->pdata[i]);
        for (guint i = 0; i < links->len; i++)
                take_entity(watch, links->pdata[i]);
}

void ald_past_watch_change(AldPastWatch *watch, const AldChange *change)
{
        int kind = change->entity ? ald_kind_from_name(change->kind) : -1;

        if (kind < 0)
                return;
        if (change->type == ALD_CHANGE_REMOVED)
                drop_unrecorded(watch, change->entity->id);
        else if (ald_record_feed_records(watch->feed, change->entity))
                take_record(watch, change->entity, change->entity->records[kind]);
}

/* Findings */

static void describe_link(const AldPastRate *rate, const AldRecord *record, AldFindingRow *row)
{
        const AldLink link = ald_link_of_record(record);

        *(link.rdma ? &row->port : &row->interface) = link.from;
        *(link.rdma ? &row->sink_port : &row->address) = link.to;
        *(strcmp(rate->field, link_rates[0]) == 0
                        ? &row->upload_bits_per_second
                        : &row->download_bits_per_second) = (uint64_t) rate->verdict.rate;
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

/* NULL if the record is gone. */
static AldFindingRow *describe(const AldPastWatch *watch, const AldPastRate *rate, const AldNodeNames *names)
{
        const AldEntity *entity = ald_model_get(watch->model, rate->entity);
        const AldRecord *record = ald_entity_record(entity, rate->kind);
        char ids[2][ALD_ID_STRING_SIZE];
        g_autofree char *first = NULL, *second = NULL, *text = NULL, *remedy = NULL;
        const char *nodes[3] = { 0 }, *node_names[3] = { 0 };
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        if (!record)
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

GPtrArray *ald_past_watch_findings(const AldPastWatch *watch, const AldNodeNames *names)
{
        GPtrArray *rows = g_ptr_array_new_with_free_func(g_free);
        GHashTableIter iter;
        const AldPastRate *rate;

        g_hash_table_iter_init(&iter, watch->rates);
        while (g_hash_table_iter_next(&iter, (gpointer *) &rate, NULL)) {
                AldFindingRow *row = rate->verdict.slower ? describe(watch, rate, names) : NULL;

                if (row)
                        g_ptr_array_add(rows, row);
        }
        g_ptr_array_sort(rows, compare_rows);
        return rows;
}
