/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/link-probe/results.h"

typedef struct Result {
        char *key;
        AldRecord *record;
        uint64_t changed; /* CLOCK_MONOTONIC in µs */
        GList link;
} Result;

struct AldResults {
        char *own_id;
        GHashTable *by_key;
        GQueue by_age;                    /* the same, the oldest first */
        const AldResultsHandler *handler; /* NULL: nobody is told */
        void *userdata;
};

static void result_free(gpointer data)
{
        Result *result = data;

        g_clear_pointer(&result->record, ald_record_unref);
        g_free(result->key);
        g_free(result);
}

AldResults *ald_results_new(const char *own_id)
{
        AldResults *results = g_new0(AldResults, 1);

        results->own_id = g_strdup(own_id);
        results->by_key = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, result_free);
        return results;
}

void ald_results_watch(AldResults *results, const AldResultsHandler *handler, void *userdata)
{
        results->handler = handler;
        results->userdata = userdata;
}

void ald_results_free(AldResults *results)
{
        if (!results)
                return;
        g_hash_table_unref(results->by_key);
        g_free(results->own_id);
        g_free(results);
}

static void drop_oldest(AldResults *results)
{
        Result *result = g_queue_pop_head_link(&results->by_age)->data;

        if (results->handler)
                results->handler->drop(result->key, results->userdata);
        g_hash_table_remove(results->by_key, result->key);
}

void ald_results_expire(AldResults *results, uint64_t now)
{
        const Result *oldest;

        while ((oldest = g_queue_peek_head(&results->by_age)) &&
                oldest->changed + ALD_RESULT_KEPT_USEC <= now)
                drop_oldest(results);
}

static Result *result_of(AldResults *results, const char *key)
{
        Result *result = g_hash_table_lookup(results->by_key, key);

        if (result) {
                g_queue_unlink(&results->by_age, &result->link);
        } else {
                if (g_hash_table_size(results->by_key) >= ALD_RESULTS_MAX)
                        drop_oldest(results);
                result = g_new0(Result, 1);
                result->key = g_strdup(key);
                result->link.data = result;
                g_hash_table_insert(results->by_key, result->key, result);
        }
        g_queue_push_tail_link(&results->by_age, &result->link);
        return result;
}

static char *key_of(const AldProbeTarget *target)
{
        return g_strdup_printf("%s,%s", target->peer, target->address);
}

/* Takes a struct whose source and sink are yet to be filled in. */
static void put(AldResults *results, const AldProbeTarget *target, AldLinkSocket *fields, uint64_t now)
{
        g_autofree char *key = key_of(target);
        Result *result = result_of(results, key);
        AldRecord *record;
        int r;

        fields->source = results->own_id;
        fields->sink = target->peer;
        fields->sink_address = target->address;
        r = ald_record_new(ALD_KIND_LINK_SOCKET, fields, &record);
        g_assert(r >= 0); /* A few strings of bounded length always fit. */
        g_clear_pointer(&result->record, ald_record_unref);
        result->record = record;
        result->changed = now;
        if (results->handler)
                results->handler->put(result->key, ald_record_fields(record), results->userdata);
}

void ald_results_fail(AldResults *results, const AldProbeTarget *target, const char *reason,
        uint64_t realtime, uint64_t now)
{
        g_autofree char *key = key_of(target);
        const Result *before = g_hash_table_lookup(results->by_key, key);
        /* Held, since what is borrowed from it goes into its successor. */
        g_autoptr(AldRecord) held = before ? ald_record_ref(before->record) : NULL;
        AldLinkSocket fields = ALD_LINK_SOCKET_INIT;

        if (held)
                fields = *ald_record_as(held, LINK_SOCKET, AldLinkSocket);
        fields.failure = reason;
        fields.failed_usec = realtime;
        fields.failures = fields.failures == ALD_ABSENT_UINT64 ? 1 : fields.failures + 1;
        put(results, target, &fields, now);
}

static void succeed(AldResults *results, const AldProbe *probe, const AldProbeAnswer *answer,
        uint64_t realtime, uint64_t now)
{
        const AldMedium *medium = ald_probe_medium(probe);
        AldLinkSocket fields;

        if (ald_probe_answer_figures(answer, &fields) < 0) {
                ald_results_fail(results, ald_probe_target(probe), "the probe gave no rates", realtime, now);
                return;
        }
        fields.source_interface = ald_probe_interface(probe);
        fields.source_interface_type = medium->type;
        fields.source_interface_generation = medium->generation;
        fields.negotiated_bits_per_second = medium->bits_per_second;
        fields.measured_usec = realtime;
        put(results, ald_probe_target(probe), &fields, now);
}

void ald_results_take(AldResults *results, const AldProbe *probe, const AldProbeAnswer *answer,
        uint64_t realtime, uint64_t now)
{
        switch (answer->verdict) {
        case ALD_PROBE_DONE:
                /* Round trips alone are for who asked for them. */
                if (!ald_probe_target(probe)->rtt_only)
                        succeed(results, probe, answer, realtime, now);
                break;
        case ALD_PROBE_FAILED:
                ald_results_fail(results, ald_probe_target(probe), answer->reason, realtime, now);
                break;
        case ALD_PROBE_LATER:
                break;
        }
}

uint64_t ald_results_rate(const AldResults *results, const char *interface)
{
        uint64_t greatest = ALD_ABSENT_UINT64;

        for (const GList *l = results->by_age.head; l; l = l->next) {
                const Result *result = l->data;
                const AldLinkSocket *row = ald_record_as(result->record, LINK_SOCKET, AldLinkSocket);
                const uint64_t rates[] = { row->upload_bits_per_second, row->download_bits_per_second };

                for (size_t i = 0; i < G_N_ELEMENTS(rates); i++)
                        if (g_strcmp0(row->source_interface, interface) == 0 &&
                                rates[i] != ALD_ABSENT_UINT64 &&
                                (greatest == ALD_ABSENT_UINT64 || rates[i] > greatest))
                                greatest = rates[i];
        }
        return greatest;
}
