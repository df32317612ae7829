/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <time.h>

#include "record/record-bus.h"
#include "services/common/burst.h"
#include "services/common/time-share.h"
#include "services/common/timer.h"
#include "services/state/records-bus.h"
#include "services/state/topology-bus.h"
#include "state/topology/graph.h"

/* An update waits for such a pause in the changes: of less than ALD_GRAPH_ALL_BELOW nodes, which a moment
 * later may be more, it would list all paths. */
#define SETTLE_USEC (G_USEC_PER_SEC / 10)

/* The least interval between two signals. */
#define SIGNAL_USEC G_USEC_PER_SEC

/* What the reply takes beside its rows, and what one that has gone takes in it, at most. */
#define WIRE_OF_REPLY 1024u
#define WIRE_PER_GONE 96u

struct AldTopologyBus {
        AldGraph *graph;
        AldSignals *signals;
        AldTimer *timer;
        uint64_t revision;  /* of the last update */
        uint64_t signalled; /* revision */
        gint64 signalled_at;
        AldTimeShare updates;
        AldBurst changes; /* that wait for an update */
};

/* Revisions of an earlier run must not be taken for those of this one. */
static uint64_t first_revision(void)
{
        struct timespec now = {};

        (void) clock_gettime(CLOCK_BOOTTIME, &now);
        return (uint64_t) now.tv_sec * G_USEC_PER_SEC + (uint64_t) now.tv_nsec / 1000;
}

/* Whoever asks, and whatever a peer sends, updates have a share of the time; between them, answers are those
 * of the last one. Returns its revision. */
static uint64_t update(AldTopologyBus *self)
{
        gint64 before = g_get_monotonic_time();

        if (ald_graph_is_outdated(self->graph) && ald_time_share_has_any(&self->updates, before)) {
                self->revision = ald_graph_update(self->graph);
                ald_time_share_take(&self->updates, g_get_monotonic_time() - before);
        }
        return self->revision;
}

static void wait_if_outdated(AldTopologyBus *self)
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
        AldTopologyBus *self = userdata;
        uint64_t revision = update(self);

        ald_burst_end(&self->changes);
        if (revision != self->signalled) {
                self->signalled = revision;
                self->signalled_at = g_get_monotonic_time();
                ald_signals_change_view(self->signals, ALD_DERIVED_TOPOLOGY, revision);
        }
        wait_if_outdated(self); /* if there was no time for an update */
}

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldTopologyBus *self = userdata;

        /* Each node sends all its records again every half a minute. */
        if (before && entry->record && before->hash == entry->record->hash)
                return;
        if (ald_graph_note_change(self->graph, entry))
                wait_if_outdated(self);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        AldTopologyBus *self = userdata;

        if (ald_graph_note_removal(self->graph, entry))
                wait_if_outdated(self);
}

AldTopologyBus *ald_topology_bus_new(AldStateManager *manager, AldSignals *signals)
{
        AldTopologyBus *self = g_new0(AldTopologyBus, 1);

        self->graph = ald_graph_new(ald_state_manager_store(manager), first_revision());
        self->signals = signals;
        self->timer = ald_timer_new("topology", on_timer, self);
        self->signalled = self->revision = ald_graph_update(self->graph);
        self->updates = ald_time_share_new(g_get_monotonic_time());
        self->changes.pause = SETTLE_USEC;
        ald_state_manager_watch(manager, on_changed, on_removing, self);
        return self;
}

void ald_topology_bus_free(AldTopologyBus *self)
{
        if (!self)
                return;
        ald_timer_free(self->timer);
        ald_graph_free(self->graph);
        g_free(self);
}

/* A page: what it consists of is known before the first array is written. */
typedef struct Page {
        AldGraph *graph;
        bool of_pairs; /* else of nodes and edges */
        bool whole;
        GPtrArray *of[ALD_GRAPH_CHANGE_N]; /* of AldGraphItem, by AldGraphChange */
        size_t bytes;
        uint64_t next;
} Page;

/* Clients need not know of what is hidden, or no longer. */
static AldGraphChange shown_change(const AldGraphItem *item)
{
        static const AldGraphChange gone[] = {
                [ALD_GRAPH_NODE] = ALD_GRAPH_GONE_NODE,
                [ALD_GRAPH_EDGE] = ALD_GRAPH_GONE_EDGE,
                [ALD_GRAPH_PAIR] = ALD_GRAPH_GONE_PAIR,
        };

        return item->hidden && item->change < ALD_GRAPH_GONE_NODE ? gone[item->change] : item->change;
}

static bool add_item(const AldGraphItem *item, void *userdata)
{
        Page *page = userdata;
        AldGraphChange change = shown_change(item);
        bool of_pair = change == ALD_GRAPH_PAIR || change == ALD_GRAPH_GONE_PAIR;
        size_t bytes;

        if (of_pair != page->of_pairs || (page->whole && change >= ALD_GRAPH_GONE_NODE) ||
                ald_graph_has_returned(page->graph, item)) {
                page->next = item->revision;
                return true;
        }
        bytes = change >= ALD_GRAPH_GONE_NODE ? WIRE_PER_GONE : ald_graph_measure(page->graph, item);
        if (page->bytes + bytes > ALD_REPLY_MAX)
                return false;
        page->bytes += bytes;
        page->next = item->revision;
        g_ptr_array_add(page->of[change], (gpointer) item);
        return true;
}

static int append_nodes(sd_bus_message *message, const Page *page)
{
        g_auto(AldGraphSpace) space = {};
        AldGraphNodeRow row;
        int r = ald_record_bus_open_rows(message, &ald_graph_node_row_struct);

        for (guint i = 0; r >= 0 && i < page->of[ALD_GRAPH_NODE]->len; i++) {
                ald_graph_describe_node(page->graph, page->of[ALD_GRAPH_NODE]->pdata[i], &space, &row);
                r = ald_record_bus_append_row(message, &ald_graph_node_row_struct, &row);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_edges(sd_bus_message *message, const Page *page)
{
        g_auto(AldGraphSpace) space = {};
        AldEdgeRow row;
        int r = ald_record_bus_open_rows(message, &ald_edge_row_struct);

        for (guint i = 0; r >= 0 && i < page->of[ALD_GRAPH_EDGE]->len; i++) {
                ald_graph_describe_edge(page->graph, page->of[ALD_GRAPH_EDGE]->pdata[i], &space, &row);
                r = ald_record_bus_append_row(message, &ald_edge_row_struct, &row);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_pairs(sd_bus_message *message, const Page *page)
{
        AldGraphSpace space = {};
        AldNodePairRow row;
        int r = ald_record_bus_open_rows(message, &ald_node_pair_row_struct);

        for (guint i = 0; r >= 0 && i < page->of[ALD_GRAPH_PAIR]->len; i++) {
                ald_graph_describe_pair(page->of[ALD_GRAPH_PAIR]->pdata[i], &space, &row);
                r = ald_record_bus_append_row(message, &ald_node_pair_row_struct, &row);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_gone(sd_bus_message *message, const Page *page)
{
        const GPtrArray *nodes = page->of[ALD_GRAPH_GONE_NODE], *edges = page->of[ALD_GRAPH_GONE_EDGE];
        char id[ALD_ID_STRING_SIZE];
        int r;

        r = sd_bus_message_open_container(message, 'a', "s");
        for (guint i = 0; r >= 0 && i < nodes->len; i++)
                r = sd_bus_message_append_basic(
                        message, 's', ald_id_format(&((const AldGraphItem *) nodes->pdata[i])->node, id));
        if (r >= 0)
                r = sd_bus_message_close_container(message);
        if (r >= 0)
                r = sd_bus_message_open_container(message, 'a', "t");
        for (guint i = 0; r >= 0 && i < edges->len; i++)
                r = sd_bus_message_append_basic(
                        message, 't', &((const AldGraphItem *) edges->pdata[i])->edge);
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_gone_pairs(sd_bus_message *message, const Page *page)
{
        const GPtrArray *pairs = page->of[ALD_GRAPH_GONE_PAIR];
        char id[ALD_ID_STRING_SIZE], peer[ALD_ID_STRING_SIZE];
        int r = sd_bus_message_open_container(message, 'a', "(ss)");

        for (guint i = 0; r >= 0 && i < pairs->len; i++) {
                const AldGraphItem *item = pairs->pdata[i];

                r = sd_bus_message_append(
                        message, "(ss)", ald_id_format(&item->node, id), ald_id_format(&item->peer, peer));
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int append_rows(sd_bus_message *message, const Page *page)
{
        int r;

        if (page->of_pairs) {
                r = append_pairs(message, page);
                return r < 0 ? r : append_gone_pairs(message, page);
        }
        r = append_nodes(message, page);
        if (r >= 0)
                r = append_edges(message, page);
        return r < 0 ? r : append_gone(message, page);
}

int ald_topology_bus_append(AldTopologyBus *self, sd_bus_message *message, bool of_pairs, uint64_t since,
        uint64_t after, size_t *ret_bytes)
{
        uint64_t revision = update(self);
        Page page = { .graph = self->graph,
                .of_pairs = of_pairs,
                .whole = !ald_graph_remembers(self->graph, since),
                .bytes = WIRE_OF_REPLY };
        int r;

        for (size_t i = 0; i < G_N_ELEMENTS(page.of); i++)
                page.of[i] = g_ptr_array_new();
        ald_graph_foreach_after(self->graph, after != 0 ? after : page.whole ? 0 : since, add_item, &page);
        r = sd_bus_message_append(message, "ttb", revision, page.next < revision ? page.next : 0, page.whole);
        if (r >= 0)
                r = append_rows(message, &page);
        for (size_t i = 0; i < G_N_ELEMENTS(page.of); i++)
                g_ptr_array_unref(page.of[i]);
        *ret_bytes = page.bytes;
        return r;
}

const GPtrArray *ald_topology_bus_segments(AldTopologyBus *self)
{
        (void) update(self);
        return ald_graph_segments(self->graph);
}
