/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/state/handover.h"
#include "services/common/errors.h"
#include "services/common/timer.h"

/* A call costs as much as several records, so records that arrive within this time are sent together. */
#define GATHER_USEC (10 * 1000)
/* Requesting all records again is expensive for every node. */
#define LOSS_USEC (10 * G_USEC_PER_SEC)

typedef struct Change {
        AldId node;
        bool dropped; /* its records are removed first, even if it has come back since */
} Change;

struct AldHandover {
        AldStateLink *link;
        AldNodes *nodes;
        AldOutbox *outbox;
        GArray *presences; /* nodes with changes to send */
        AldPresenceRow own;
        bool own_pending;
        bool sent_presences_last; /* the last call sent presences, not records */
        bool has_state;
        bool lost;
        gint64 sent, loss_logged;
        AldTimer *timer;
        const AldHandoverHandler *handler;
        void *userdata;
};

static bool has_work(const AldHandover *handover)
{
        return handover->own_pending || handover->presences->len > 0 ||
               ald_outbox_count(handover->outbox) > 0 || handover->lost;
}

/* Schedules the next call. A full call is sent at once, so that the state service can go on with it as soon
 * as it has finished the one before; smaller ones wait meanwhile and gather records. */
static void schedule_call(AldHandover *handover)
{
        bool is_whole = ald_outbox_count(handover->outbox) >= ALD_STATE_LINK_RECORDS_MAX;

        if (!has_work(handover) || !ald_state_link_is_ready(handover->link))
                return;
        if (!is_whole && ald_state_link_is_busy(handover->link))
                return;
        ald_timer_set(handover->timer, is_whole ? 0 : handover->sent + GATHER_USEC);
}

static void append_presence_row(AldHandover *handover, GArray *rows, const Change *change)
{
        const AldId *id = &change->node;
        AldClusterNode *node = change->dropped || !handover->nodes ? NULL
                                                                   : ald_nodes_find(handover->nodes, id);
        AldPresenceRow row = { .node = *id };

        if (!node) {
                row = (AldPresenceRow){ .node = *id, .state = "forgotten", .clock_offset = INT64_MIN };
                g_array_append_val(rows, row);
                return;
        }
        if (!node->changed)
                return;
        row.state = ald_presence_state_to_string(node->presence.state);
        if (node->is_forgotten)
                row.state = node->forgotten_here ? "forgotten" : "hidden";
        row.since = node->presence.since;
        row.clock_offset = ald_presence_clock_offset(&node->presence);
        row.announced = node->announced;
        row.epoch = node->epoch;
        g_array_append_val(rows, row);
        ald_node_note_sent(node);
}

static int put_presences(AldHandover *handover)
{
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldPresenceRow));
        guint n = MIN(handover->presences->len, ALD_STATE_LINK_PRESENCES_MAX - 1);

        if (handover->own_pending)
                g_array_append_val(rows, handover->own);
        handover->own_pending = false;
        handover->sent_presences_last = true;
        for (guint i = 0; i < n; i++)
                append_presence_row(handover, rows, &g_array_index(handover->presences, Change, i));
        g_array_remove_range(handover->presences, 0, n);
        if (rows->len == 0)
                return 0;
        return ald_state_link_put_presences(handover->link, (const AldPresenceRow *) rows->data, rows->len);
}

static void report_loss(AldHandover *handover)
{
        gint64 now = g_get_monotonic_time();

        if (handover->loss_logged != 0 && now < handover->loss_logged + LOSS_USEC) {
                ald_timer_set(handover->timer, handover->loss_logged + LOSS_USEC);
                return;
        }
        handover->lost = false;
        handover->own_pending = handover->own.state;
        handover->loss_logged = now;
        g_message("Some records of other nodes were dropped; requesting all of them again");
        handover->handler->lost(handover->userdata);
}

/* Alternates presences and records, so that neither starves when 1000 nodes arrive at once. */
static bool are_presences_next(const AldHandover *handover)
{
        return (handover->own_pending || handover->presences->len > 0) &&
               (!handover->sent_presences_last || ald_outbox_count(handover->outbox) == 0);
}

static void on_timer(void *userdata)
{
        AldHandover *handover = userdata;
        int r = 0;

        if (!ald_state_link_is_ready(handover->link))
                return;
        handover->sent = g_get_monotonic_time();
        if (are_presences_next(handover)) {
                r = put_presences(handover);
        } else if (ald_outbox_count(handover->outbox) > 0) {
                handover->sent_presences_last = false;
                r = ald_state_link_put_records(handover->link, handover->outbox);
        } else if (handover->lost) {
                report_loss(handover);
        }
        if (r < 0) {
                g_warning("Cannot send records to the state service: %s", g_strerror(-r));
                handover->lost = true;
        }
        if (r < 0 || handover->own_pending || handover->presences->len > 0 ||
                ald_outbox_count(handover->outbox) > 0)
                schedule_call(handover);
}

static void on_put(int result, void *userdata)
{
        AldHandover *handover = userdata;

        if (result < 0) {
                g_warning("The state service refused the records: %s", ald_error_describe(result));
                handover->lost = true;
        }
        schedule_call(handover);
}

static void on_owner(bool there, void *userdata)
{
        AldHandover *handover = userdata;

        ald_handover_clear(handover);
        handover->has_state = there;
        handover->lost = false;
        handover->own_pending = there && handover->own.state;
        handover->handler->owner(there, handover->userdata);
        schedule_call(handover);
}

int ald_handover_new(
        AldService *service, const AldHandoverHandler *handler, void *userdata, AldHandover **ret)
{
        static const AldStateLinkHandler link_handler = { .owner = on_owner, .put = on_put };
        g_autoptr(AldHandover) handover = g_new0(AldHandover, 1);
        int r;

        handover->outbox = ald_outbox_new(ALD_OUTBOX_BYTES);
        handover->presences = g_array_new(FALSE, FALSE, sizeof(Change));
        handover->handler = handler;
        handover->userdata = userdata;
        handover->timer = ald_timer_new("handover", on_timer, handover);
        r = ald_state_link_new(service, &handler->own, userdata, &link_handler, handover, &handover->link);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&handover);
        return 0;
}

void ald_handover_free(AldHandover *handover)
{
        if (!handover)
                return;
        ald_state_link_free(handover->link);
        ald_timer_free(handover->timer);
        ald_outbox_free(handover->outbox);
        g_array_unref(handover->presences);
        g_free(handover);
}

void ald_handover_set_nodes(AldHandover *handover, AldNodes *nodes)
{
        handover->nodes = nodes;
}

void ald_handover_record(AldHandover *handover, const AldUpdate *update)
{
        if (!handover->has_state)
                return;
        if (!ald_outbox_add(handover->outbox, update))
                handover->lost = true;
        if (ald_outbox_count(handover->outbox) == 1 ||
                ald_outbox_count(handover->outbox) == ALD_STATE_LINK_RECORDS_MAX)
                schedule_call(handover);
}

static void add_change(AldHandover *handover, const Change *change)
{
        if (!handover->has_state)
                return;
        /* Sends this presence before any record: the clock offset of a node must be known before its
         * records. */
        if (handover->presences->len == 0 && ald_outbox_count(handover->outbox) == 0)
                handover->sent_presences_last = false;
        g_array_append_vals(handover->presences, change, 1);
        if (handover->presences->len == 1)
                schedule_call(handover);
}

void ald_handover_presence(AldHandover *handover, const AldId *node)
{
        add_change(handover, &(Change){ .node = *node });
}

void ald_handover_drop(AldHandover *handover, const AldId *node)
{
        add_change(handover, &(Change){ .node = *node, .dropped = true });
}

void ald_handover_own_presence(AldHandover *handover, const AldId *own, AldPresenceState state)
{
        handover->own = (AldPresenceRow){
                .node = *own,
                .state = ald_presence_state_to_string(state),
                .since = ald_realtime_usec(),
                .clock_offset = 0,
        };
        handover->own_pending = handover->has_state;
        schedule_call(handover);
}

void ald_handover_forget(AldHandover *handover, const AldId *node)
{
        ald_outbox_forget(handover->outbox, node);
}

void ald_handover_clear(AldHandover *handover)
{
        ald_outbox_clear(handover->outbox);
        g_array_set_size(handover->presences, 0);
}

void ald_handover_note_loss(AldHandover *handover)
{
        handover->lost = handover->has_state;
        schedule_call(handover);
}

void ald_handover_read_own(AldHandover *handover)
{
        ald_state_link_read(handover->link);
}

void ald_handover_put_own(AldHandover *handover, const AldUpdate *update)
{
        int r = ald_state_link_put_own(handover->link, update);

        if (r < 0)
                g_warning(
                        "Cannot send the newest epoch of this node to the state service: %s", g_strerror(-r));
}

bool ald_handover_has_state(const AldHandover *handover)
{
        return handover->has_state;
}
