/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <time.h>

#include "services/common/burst.h"
#include "services/common/time-share.h"
#include "services/common/timer.h"
#include "services/state/topology-watch.h"

/* An update waits for a pause of this length in the changes. With fewer than ALD_GRAPH_ALL_BELOW nodes it
 * would list all paths, although a moment later there may be more nodes. */
#define SETTLE_USEC (G_USEC_PER_SEC / 10)

/* The minimum interval between two signals. */
#define SIGNAL_USEC G_USEC_PER_SEC

struct AldTopologyWatch {
        AldGraph *graph;
        AldSignals *signals;
        AldTimer *timer;
        uint64_t revision;  /* of the last update */
        uint64_t signalled; /* revision that was last signalled */
        gint64 signalled_at;
        AldTimeShare updates;
        AldBurst changes; /* waiting for an update */
};

/* Returns a revision from the time since boot, since revisions of an earlier run must not be mistaken for
 * revisions of this one. */
static uint64_t first_revision(void)
{
        struct timespec now = {};

        (void) clock_gettime(CLOCK_BOOTTIME, &now);
        return (uint64_t) now.tv_sec * G_USEC_PER_SEC + (uint64_t) now.tv_nsec / 1000;
}

/* Updates the graph if it is outdated. However many requests and changes arrive, updates only take a share of
 * the time; between them, replies contain the last graph. */
static void update_graph(AldTopologyWatch *self)
{
        gint64 before = g_get_monotonic_time();

        if (ald_graph_is_outdated(self->graph) && ald_time_share_has_any(&self->updates, before)) {
                self->revision = ald_graph_update(self->graph);
                ald_time_share_note_work(&self->updates, g_get_monotonic_time() - before);
        }
}

static void schedule_if_outdated(AldTopologyWatch *self)
{
        gint64 due;

        if (!ald_graph_is_outdated(self->graph))
                return;
        due = ald_burst_note(&self->changes, g_get_monotonic_time());
        ald_timer_set(self->timer,
                MAX(MAX(due, ald_time_share_next(&self->updates)), self->signalled_at + SIGNAL_USEC));
}

static void on_timer(void *userdata)
{
        AldTopologyWatch *self = userdata;

        update_graph(self);
        ald_burst_end(&self->changes);
        if (self->revision != self->signalled) {
                self->signalled = self->revision;
                self->signalled_at = g_get_monotonic_time();
                ald_signals_change_view(self->signals, ALD_DERIVED_TOPOLOGY, self->revision);
        }
        schedule_if_outdated(self); /* in case there was no time for an update */
}

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldTopologyWatch *self = userdata;

        /* Each node sends all its records again every half a minute, mostly unchanged. */
        if (before && entry->record && before->hash == entry->record->hash)
                return;
        if (ald_graph_note_change(self->graph, entry))
                schedule_if_outdated(self);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        AldTopologyWatch *self = userdata;

        if (ald_graph_note_removal(self->graph, entry))
                schedule_if_outdated(self);
}

AldTopologyWatch *ald_topology_watch_new(AldStateManager *manager, AldSignals *signals)
{
        AldTopologyWatch *self = g_new0(AldTopologyWatch, 1);

        self->graph = ald_graph_new(ald_state_manager_store(manager), first_revision());
        self->signals = signals;
        self->timer = ald_timer_new("topology", on_timer, self);
        self->signalled = self->revision = ald_graph_update(self->graph);
        self->updates = ald_time_share_new(g_get_monotonic_time());
        self->changes.pause = SETTLE_USEC;
        ald_state_manager_watch(manager, on_changed, on_removing, self);
        return self;
}

AldGraph *ald_topology_watch_graph(AldTopologyWatch *self)
{
        update_graph(self);
        return self->graph;
}

uint64_t ald_topology_watch_revision(const AldTopologyWatch *self)
{
        return self->revision;
}

void ald_topology_watch_free(AldTopologyWatch *self)
{
        if (!self)
                return;
        ald_timer_free(self->timer);
        ald_graph_free(self->graph);
        g_free(self);
}
