/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/holders/holder-collector.h"

#include "services/common/timer.h"
#include "services/telemetry/holders/work-watch.h"

/* Maximum of Pids in the request. */
#define PIDS_MAX 1024u

/* The helper of NVML answers its first request within about this time. */
#define FIRST_LOOK_USEC (INT64_C(1000) * 1000)

struct AldHolderCollector {
        AldGpuCollector *gpu;
        AldSharing sharing;
        AldHoldersChangedTo changed;
        void *userdata;

        AldWitnessClient *witness;
        AldTimer *timer;
        AldHolderList *pending; /* a look that waits for the witness, or NULL */
        AldHolderList *list;    /* the last look; NULL before the first one, and without devices */
        AldWorkWatch *work;
        AldHolderRows *rows;
        AldHolderRows *rows_for_user; /* kept for the next call of the same user, who may call often */
        bool rows_for_user_valid;
        uid_t rows_uid;
        GPtrArray *reasons;
};

static const char *const *collect_reasons(AldHolderCollector *collector)
{
        const char *witness = collector->list->must_rest ? "alidade-witness would wake a GPU of the driver xe"
                                                         : ald_witness_client_reason(collector->witness);

        g_ptr_array_set_size(collector->reasons, 0);
        if (!collector->list->is_witnessed)
                g_ptr_array_add(collector->reasons,
                        g_strdup_printf(
                                "Holders: %s, so only processes that NVML or KFD lists are known, and "
                                "not who they belong to",
                                witness ?: "alidade-witness does not answer"));
        if (collector->rows->left_out > 0)
                g_ptr_array_add(collector->reasons,
                        g_strdup_printf("Holders: %" G_GUINT64_FORMAT " processes are too many to be listed",
                                collector->rows->left_out));
        g_ptr_array_add(collector->reasons, NULL);
        return (const char *const *) collector->reasons->pdata;
}

static void report(AldHolderCollector *collector)
{
        AldProcesses processes = ALD_PROCESSES_INIT;

        ald_holder_rows_for_cluster(collector->rows, collector->list, collector->sharing);
        processes.devices.items = collector->rows->devices->data;
        processes.devices.n = collector->rows->devices->len;
        processes.holders.items = collector->rows->holders->data;
        processes.holders.n = collector->rows->holders->len;
        processes.absent_reasons = collect_reasons(collector);
        collector->changed(&processes, collector->userdata);
}

/* Takes a look with the answer of the witness, which is NULL without one. */
static void finish_look(AldHolderCollector *collector, const AldProcessesAnswer *answer)
{
        ald_holder_list_free(collector->list);
        collector->list = g_steal_pointer(&collector->pending);
        collector->rows_for_user_valid = false;
        if (answer)
                ald_holder_list_add_witnessed(collector->list, answer);
        ald_work_watch_note(collector->work, collector->list);
        for (guint i = 0; i < collector->list->devices->len; i++) {
                const AldHolderDevice *device = ald_holder_list_device(collector->list, i);

                ald_gpu_collector_note_work(collector->gpu, device->id, device->n_work > 0);
        }
        report(collector);
}

static void on_witness(const AldRecord *answer, void *userdata)
{
        AldHolderCollector *collector = userdata;

        if (collector->pending)
                finish_look(collector,
                        answer ? ald_record_as(answer, PROCESSES_ANSWER, AldProcessesAnswer) : NULL);
}

/* Returns the processes that the other sources know, in decimal, each once. */
static GPtrArray *list_pids(const AldHolderList *list)
{
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        GPtrArray *pids = g_ptr_array_new_with_free_func(g_free);

        for (guint i = 0; i < list->holders->len && pids->len < PIDS_MAX; i++) {
                guint pid = ald_holder_list_at(list, i)->pid;

                if (g_hash_table_add(seen, GUINT_TO_POINTER(pid)))
                        g_ptr_array_add(pids, g_strdup_printf("%u", pid));
        }
        g_ptr_array_add(pids, NULL);
        return pids;
}

static AldHolderList *list_known(AldHolderCollector *collector)
{
        g_autoptr(GArray) targets = g_array_new(FALSE, FALSE, sizeof(AldGpuTarget));
        g_autoptr(GArray) processes = g_array_new(FALSE, FALSE, sizeof(AldGpuProcess));
        uint64_t unlisted = ald_gpu_collector_processes(collector->gpu, targets, processes);

        return targets->len > 0 ? ald_holder_list_new(targets, processes, unlisted) : NULL;
}

/* Reports that there is nothing, once the last device has gone. */
static void forget(AldHolderCollector *collector)
{
        static const AldProcesses none = ALD_PROCESSES_INIT;

        if (!collector->list)
                return;
        g_clear_pointer(&collector->list, ald_holder_list_free);
        collector->rows_for_user_valid = false;
        collector->changed(&none, collector->userdata);
}

static void look(AldHolderCollector *collector)
{
        AldProcessesRequest request = ALD_PROCESSES_REQUEST_INIT;
        g_autoptr(GPtrArray) pids = NULL;
        int r;

        ald_holder_list_free(collector->pending);
        collector->pending = list_known(collector);
        if (!collector->pending) {
                forget(collector);
                return;
        }
        if (collector->pending->is_paused && collector->list) {
                /* A pause is short, so the last look is kept instead of losing the names of all holders. */
                g_clear_pointer(&collector->pending, ald_holder_list_free);
                return;
        }
        if (collector->pending->must_rest) {
                finish_look(collector, NULL);
                return;
        }
        pids = list_pids(collector->pending);
        request.pids = (const char *const *) pids->pdata;
        r = ald_witness_client_ask(collector->witness, ALD_KIND_PROCESSES_REQUEST, &request);
        /* A failure that was reported has finished the look. While the witness does not answer, which fails
         * after a while, looks go on without it. */
        if (r < 0 && collector->pending)
                finish_look(collector, NULL);
}

static void on_due(void *userdata)
{
        AldHolderCollector *collector = userdata;

        ald_timer_set(collector->timer, g_get_monotonic_time() + ALD_HOLDERS_EVERY_USEC);
        look(collector);
}

void ald_holder_collector_share(AldHolderCollector *collector, AldSharing sharing)
{
        if (sharing == collector->sharing)
                return;
        collector->sharing = sharing;
        if (collector->list)
                report(collector);
}

void ald_holder_collector_count_work(const AldHolderCollector *collector, GArray *devices)
{
        for (guint i = 0; collector->list && i < devices->len; i++) {
                AldDevice *row = &g_array_index(devices, AldDevice, i);
                const AldHolderDevice *device = ald_holder_list_find(collector->list, row->id);
                bool is_asleep = g_strcmp0(row->power_state, ald_device_power_state_to_string(
                                                                     ALD_DEVICE_POWER_STATE_ASLEEP)) == 0;

                if (device && !is_asleep)
                        row->compute_processes = ald_work_count(device, row->compute_processes);
        }
}

const AldHolderRows *ald_holder_collector_rows(AldHolderCollector *collector, uid_t uid)
{
        if (!collector->rows_for_user_valid || collector->rows_uid != uid)
                ald_holder_rows_for_user(collector->rows_for_user, collector->list, uid);
        collector->rows_for_user_valid = true;
        collector->rows_uid = uid;
        return collector->rows_for_user;
}

AldHolderCollector *ald_holder_collector_new(AldGpuCollector *gpu, AldSharing sharing,
        const AldWitnessTiming *timing, AldHoldersChangedTo changed, void *userdata)
{
        AldHolderCollector *collector = g_new0(AldHolderCollector, 1);

        collector->gpu = gpu;
        collector->sharing = sharing;
        collector->changed = changed;
        collector->userdata = userdata;
        collector->witness = ald_witness_client_new(
                "processes", ALD_KIND_PROCESSES_ANSWER, timing, on_witness, collector);
        collector->work = ald_work_watch_new();
        collector->rows = ald_holder_rows_new();
        collector->rows_for_user = ald_holder_rows_new();
        collector->reasons = g_ptr_array_new_with_free_func(g_free);
        collector->timer = ald_timer_new("holders", on_due, collector);
        ald_timer_set(collector->timer, g_get_monotonic_time() + FIRST_LOOK_USEC);
        return collector;
}

void ald_holder_collector_free(AldHolderCollector *collector)
{
        if (!collector)
                return;
        ald_timer_free(collector->timer);
        ald_witness_client_free(collector->witness);
        ald_holder_list_free(collector->pending);
        ald_holder_list_free(collector->list);
        ald_work_watch_free(collector->work);
        ald_holder_rows_free(collector->rows);
        ald_holder_rows_free(collector->rows_for_user);
        g_ptr_array_unref(collector->reasons);
        g_free(collector);
}
