/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <net/if.h>

#include "services/link-probe/link/link-record.h"
#include "services/link-probe/link/results.h"
#include "state/link/link-quality.h"

/* What this service remembers about a path over sockets. */
typedef struct PathHistory {
        unsigned failures;                 /* since the last success */
        char interface[IFNAMSIZ];          /* the last one that reached the peer; may be empty */
        uint64_t rate;                     /* the greater rate of the last full measurement; 0: none yet */
        char measured_interface[IFNAMSIZ]; /* of that measurement */
} PathHistory;

typedef struct Result {
        char *key;
        AldRecord *record; /* of the last attempt, as reported */
        uint64_t changed;  /* CLOCK_MONOTONIC in µs */
        GList link;
        PathHistory history;
} Result;

struct AldResults {
        char *own_id;
        GHashTable *by_key;
        GQueue by_age;             /* the same results, oldest first */
        GHashTable *served;        /* interface → uint64_t: the greatest rate that others measured */
        AldResultsChanged changed; /* NULL if there is none */
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
        results->served = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        return results;
}

void ald_results_watch(AldResults *results, AldResultsChanged changed, void *userdata)
{
        results->changed = changed;
        results->userdata = userdata;
}

void ald_results_free(AldResults *results)
{
        if (!results)
                return;
        g_hash_table_unref(results->by_key);
        g_hash_table_unref(results->served);
        g_free(results->own_id);
        g_free(results);
}

static void drop_oldest(AldResults *results)
{
        Result *result = g_queue_pop_head_link(&results->by_age)->data;

        if (results->changed)
                results->changed(result->record->kind, result->key, NULL, results->userdata);
        g_hash_table_remove(results->by_key, result->key);
}

void ald_results_expire(AldResults *results, uint64_t now)
{
        const Result *oldest;

        while ((oldest = g_queue_peek_head(&results->by_age)) &&
                oldest->changed + ALD_RESULT_KEPT_USEC <= now)
                drop_oldest(results);
}

static Result *renew_result(AldResults *results, const char *key)
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

/* Keeps the rate of a full measurement. Disturbed figures do not replace others. */
static void note_rate(const AldLinkSocket *fields, PathHistory *history)
{
        uint64_t upload = fields->upload.bits_per_second, download = fields->download.bits_per_second;

        if (fields->measured_usec == ALD_ABSENT_UINT64 ||
                (history->rate > 0 && ald_link_has_flag(fields->flags, ALD_LINK_DISTURBED)))
                return;
        history->rate = MAX(
                upload == ALD_ABSENT_UINT64 ? 0 : upload, download == ALD_ABSENT_UINT64 ? 0 : download);
        g_strlcpy(history->measured_interface, fields->source_interface ?: "",
                sizeof history->measured_interface);
}

static void update_history(const AldRecord *record, PathHistory *history)
{
        const AldLinkSocket *fields;

        if (record->kind != ALD_KIND_LINK_SOCKET)
                return;
        fields = ald_record_as(record, LINK_SOCKET, AldLinkSocket);
        if (fields->failed_usec != ALD_ABSENT_UINT64) {
                history->failures++;
                return;
        }
        history->failures = 0;
        g_strlcpy(history->interface, fields->source_interface ?: "", sizeof history->interface);
        note_rate(fields, history);
}

/* Stores the record, taking ownership of it, and reports it. */
static void put_record(AldResults *results, const char *key, AldRecord *record, uint64_t now)
{
        Result *result = renew_result(results, key);

        g_clear_pointer(&result->record, ald_record_unref);
        result->record = record;
        update_history(record, &result->history);
        result->changed = now;
        if (results->changed)
                results->changed(record->kind, result->key, record, results->userdata);
}

void ald_results_fail(AldResults *results, const AldProbeTarget *target, const char *reason,
        uint64_t realtime, uint64_t now)
{
        g_autofree char *key = ald_result_key(target);

        put_record(results, key, ald_result_failure(results->own_id, target, reason, realtime), now);
}

static AldRecord *record_failure(
        const AldResults *results, const AldProbe *probe, const AldProbeAnswer *answer, uint64_t realtime)
{
        const AldProbeTarget *target = ald_probe_target(probe);

        return answer->result && !ald_probe_kind_is_rdma(target->kind)
                       ? ald_result_without_rates(
                                 results->own_id, probe, answer->reason, answer->result, realtime)
                       : ald_result_failure(results->own_id, target, answer->reason, realtime);
}

void ald_results_take(AldResults *results, const AldProbe *probe, const AldProbeAnswer *answer,
        uint64_t realtime, uint64_t now)
{
        g_autofree char *key = ald_result_key(ald_probe_target(probe));

        switch (answer->verdict) {
        case ALD_PROBE_DONE:
                put_record(results, key, ald_result_success(results->own_id, probe, answer, realtime), now);
                break;
        case ALD_PROBE_FAILED:
                put_record(results, key, record_failure(results, probe, answer, realtime), now);
                break;
        case ALD_PROBE_LATER:
                break;
        }
}

static const PathHistory *find_history(const AldResults *results, const char *peer, const char *address)
{
        g_autofree char *key = g_strdup_printf("%s,%s", peer, address);
        const Result *result = g_hash_table_lookup(results->by_key, key);

        return result ? &result->history : NULL;
}

bool ald_results_reached(const AldResults *results, const char *peer, const char *address)
{
        const PathHistory *history = find_history(results, peer, address);

        return history && history->failures == 0;
}

bool ald_results_have_rate(const AldResults *results, const char *key)
{
        const Result *result = g_hash_table_lookup(results->by_key, key);

        return result && result->history.rate > 0;
}

const AldInterface *ald_results_choose(
        const AldResults *results, const char *peer, const AldCandidate *candidate)
{
        const PathHistory *history = find_history(results, peer, candidate->address);
        AldLinkSocket row = ALD_LINK_SOCKET_INIT;

        if (!history)
                return ald_candidate_choose(candidate, NULL);
        row.source_interface = history->interface;
        row.failures = history->failures;
        return ald_candidate_choose(candidate, &row);
}

void ald_results_note_rate(AldResults *results, const char *interface, uint64_t rate)
{
        const uint64_t *known = g_hash_table_lookup(results->served, interface);

        if (known ? *known < rate : g_hash_table_size(results->served) < ALD_RESULTS_MAX)
                g_hash_table_replace(results->served, g_strdup(interface), g_memdup2(&rate, sizeof rate));
}

uint64_t ald_results_rate(const AldResults *results, const char *interface)
{
        const uint64_t *served = g_hash_table_lookup(results->served, interface);
        uint64_t greatest = served ? *served : ALD_ABSENT_UINT64;

        for (const GList *l = results->by_age.head; l; l = l->next) {
                const PathHistory *history = &((const Result *) l->data)->history;

                if (history->rate > 0 && g_str_equal(history->measured_interface, interface) &&
                        (greatest == ALD_ABSENT_UINT64 || history->rate > greatest))
                        greatest = history->rate;
        }
        return greatest;
}
