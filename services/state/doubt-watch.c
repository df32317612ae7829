/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/doubt-watch.h"
#include "services/common/burst.h"
#include "services/common/service.h"
#include "services/common/timer.h"
#include "state/compute/doubts.h"

/* The records of a device arrive together, and so do those of all nodes after a start; a round waits for a
 * pause of this length. */
#define PAUSE_USEC (G_USEC_PER_SEC / 20)

/* The interval is this many times the duration of a round. */
#define PARTS 20

struct AldDoubtWatch {
        AldStateManager *manager;
        AldTimer *timer;
        gint64 next;      /* earliest time of the next round, CLOCK_MONOTONIC in µs */
        AldBurst changes; /* waiting for a round */
};

static void store_doubts(AldNode *node, AldRecord *record, void *userdata)
{
        AldDoubtWatch *watch = userdata;
        AldRecord *before = ald_node_record(node, ALD_KIND_DOUBTS);

        if (record && before ? record->hash == before->hash : record == before)
                return;
        ald_store_put_about(ald_state_manager_store(watch->manager), &node->id, ALD_KIND_DOUBTS, record,
                ald_realtime_usec(), (uint64_t) g_get_monotonic_time());
}

static void on_timer(void *userdata)
{
        AldDoubtWatch *watch = userdata;
        gint64 start = g_get_monotonic_time(), end;

        ald_burst_end(&watch->changes);
        ald_doubts_judge(ald_state_manager_store(watch->manager), store_doubts, watch);
        end = g_get_monotonic_time();
        watch->next = end + PARTS * (end - start);
}

static void judge_soon(AldDoubtWatch *watch)
{
        ald_timer_set(
                watch->timer, MAX(watch->next, ald_burst_note(&watch->changes, g_get_monotonic_time())));
}

/* Returns whether the presence state has changed, since other nodes are not compared with a node that no
 * longer counts. */
static bool has_come_or_gone(const AldEntry *entry, AldRecord *before)
{
        const AldPresence *was = ald_record_as(before, PRESENCE, AldPresence);
        const AldPresence *is = ald_record_as(entry->record, PRESENCE, AldPresence);

        return !was || !is || g_strcmp0(was->state, is->state) != 0;
}

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        switch (entry->kind) {
        case ALD_KIND_BACKENDS:
        case ALD_KIND_COMPUTE:
                if (!before || !entry->record || before->hash != entry->record->hash)
                        judge_soon(userdata);
                break;
        case ALD_KIND_PRESENCE:
                if (has_come_or_gone(entry, before))
                        judge_soon(userdata);
                break;
        default:
                break;
        }
}

static void on_removing(AldEntry *entry, void *userdata)
{
        if (entry->kind == ALD_KIND_BACKENDS || entry->kind == ALD_KIND_COMPUTE ||
                entry->kind == ALD_KIND_PRESENCE)
                judge_soon(userdata);
}

AldDoubtWatch *ald_doubt_watch_new(AldStateManager *manager)
{
        AldDoubtWatch *watch = g_new0(AldDoubtWatch, 1);

        watch->manager = manager;
        watch->changes.pause = PAUSE_USEC;
        watch->timer = ald_timer_new("doubts", on_timer, watch);
        ald_state_manager_watch(manager, on_changed, on_removing, watch);
        on_timer(watch);
        return watch;
}

void ald_doubt_watch_free(AldDoubtWatch *watch)
{
        if (!watch)
                return;
        ald_timer_free(watch->timer);
        g_free(watch);
}
