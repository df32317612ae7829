/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "clients/common/connection.h"
#include "clients/desktop/live/live-history.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/bus-source.h"
#include "record/record-bus.h"
#include "state/alerts/silence.h"

#define DRIVER "org.freedesktop.DBus"
#define DRIVER_PATH "/org/freedesktop/DBus"
#define ROWS_MAX ((size_t) 16 * 1024 * 1024) /* bytes of one list in memory */

/* The rows of a reply, with the memory that they point to. */
typedef struct HeldRows {
        AldRows rows;
        GPtrArray *owned;
        sd_bus_message *message;
} HeldRows;

/* A list of the service that is kept up to date. */
typedef struct FollowedRows {
        AldLiveHistory *history;
        const char *method, *signal;
        const AldStruct *type;
        sd_bus_slot *match;
        AldHistoryCall *call;
        bool outdated; /* it has changed while it was being read */
        HeldRows held;
} FollowedRows;

struct AldLiveHistory {
        sd_bus *bus;                            /* NULL: no connection */
        char *owner;                            /* unique name of the service, or NULL */
        sd_bus_slot *owner_match, *owner_query; /* for the name's owner */
        GList *calls;
        FollowedRows findings, silences;
        bool has_findings; /* the findings were read, and the service has not gone since */
        AldLiveHistoryChanged changed;
        void *userdata;
};

struct AldHistoryCall {
        AldLiveHistory *history;
        sd_bus_slot *slot;
        AldHistoryReplied replied;
        void *userdata;
};

/* Calls. */

void ald_history_call_free(AldHistoryCall *call)
{
        if (!call)
                return;
        call->history->calls = g_list_remove(call->history->calls, call);
        sd_bus_slot_unref(call->slot);
        g_free(call);
}

static void finish_call(AldHistoryCall *call, sd_bus_message *reply, const sd_bus_error *error)
{
        AldHistoryReplied replied = call->replied;
        void *userdata = call->userdata;

        ald_history_call_free(call);
        replied(reply, error, userdata);
}

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        const sd_bus_error *error = sd_bus_message_get_error(m);

        finish_call(userdata, error ? NULL : m, error);
        return 0;
}

AldHistoryCall *ald_history_call_new(AldLiveHistory *history, AldHistoryMake make, const void *data,
        AldHistoryReplied replied, void *userdata)
{
        g_autoptr(AldMessage) m = NULL;
        AldHistoryCall *call;
        int r;

        if (!history->bus)
                return NULL;
        r = make(history->bus, data, &m);
        if (r >= 0)
                r = sd_bus_message_set_auto_start(m, false);
        if (r < 0)
                return NULL;
        call = g_new0(AldHistoryCall, 1);
        *call = (AldHistoryCall){ .history = history, .replied = replied, .userdata = userdata };
        r = sd_bus_call_async(history->bus, &call->slot, m, on_reply, call, ALD_ANSWER_USEC);
        if (r < 0) {
                g_free(call);
                return NULL;
        }
        history->calls = g_list_append(history->calls, call);
        return call;
}

/* Followed lists. */

/* Leaves an empty list of the same type. */
static void clear_rows(FollowedRows *followed)
{
        HeldRows *held = &followed->held;

        held->rows = (AldRows){ .type = followed->type };
        g_clear_pointer(&held->owned, g_ptr_array_unref);
        g_clear_pointer(&held->message, sd_bus_message_unref);
}

static void set_rows(FollowedRows *followed, sd_bus_message *reply)
{
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        AldLiveHistory *history = followed->history;
        bool turned = followed == &history->findings && !history->has_findings;
        AldRows rows;

        if (ald_record_bus_read_rows(reply, followed->type, ROWS_MAX, owned, &rows) < 0)
                return;
        clear_rows(followed);
        followed->held = (HeldRows){ rows, g_steal_pointer(&owned), sd_bus_message_ref(reply) };
        if (turned)
                history->has_findings = true;
        history->changed(turned, history->userdata);
}

static void read_rows(FollowedRows *followed);

static void on_rows(sd_bus_message *reply, const sd_bus_error *error, void *userdata)
{
        FollowedRows *followed = userdata;

        followed->call = NULL;
        if (reply)
                set_rows(followed, reply);
        if (followed->outdated)
                read_rows(followed);
}

static int make_rows_call(sd_bus *bus, const void *method, sd_bus_message **ret)
{
        return sd_bus_message_new_method_call(
                bus, ret, ALD_HISTORY_NAME, ALD_HISTORY_PATH, ALD_HISTORY_INTERFACE, method);
}

static void read_rows(FollowedRows *followed)
{
        followed->outdated = followed->call != NULL;
        if (!followed->call)
                followed->call = ald_history_call_new(
                        followed->history, make_rows_call, followed->method, on_rows, followed);
}

/* Any client can send such a signal, so only those of the service's owner count. */
static int on_rows_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        FollowedRows *followed = userdata;
        const char *owner = followed->history->owner;

        if (owner && g_strcmp0(sd_bus_message_get_sender(m), owner) == 0)
                read_rows(followed);
        return 0;
}

/* Findings go with the service, also if it has gone while there was no connection. Silences are kept, since
 * the service has them again when it returns. */
static void set_owner(AldLiveHistory *history, const char *owner)
{
        if (owner && g_strcmp0(owner, history->owner) == 0)
                return;
        g_free(history->owner);
        history->owner = g_strdup(owner);
        if (owner) {
                read_rows(&history->findings);
                read_rows(&history->silences);
                return;
        }
        clear_rows(&history->findings);
        if (!history->has_findings)
                return;
        history->has_findings = false;
        history->changed(true, history->userdata);
}

static int on_owner_changed(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        const char *name, *old, *new;

        if (g_strcmp0(sd_bus_message_get_sender(m), DRIVER) == 0 &&
                sd_bus_message_read(m, "sss", &name, &old, &new) >= 0 && strcmp(name, ALD_HISTORY_NAME) == 0)
                set_owner(userdata, new[0] ? new : NULL);
        return 0;
}

static int on_owner_reply(sd_bus_message *m, void *userdata, sd_bus_error *ret_error)
{
        const char *owner = NULL;

        if (sd_bus_message_is_method_error(m, NULL) || sd_bus_message_read(m, "s", &owner) < 0)
                owner = NULL;
        set_owner(userdata, owner);
        return 0;
}

/* Errors are ignored: without these signals less is shown, but nothing is wrong. */
static void follow_service(AldLiveHistory *history)
{
        FollowedRows *all[] = { &history->findings, &history->silences };

        (void) sd_bus_add_match_async(history->bus, &history->owner_match,
                "type='signal',sender='" DRIVER "',path='" DRIVER_PATH "',interface='" DRIVER
                "',member='NameOwnerChanged',arg0='" ALD_HISTORY_NAME "'",
                on_owner_changed, NULL, history);
        for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
                (void) sd_bus_match_signal_async(history->bus, &all[i]->match, ALD_HISTORY_NAME,
                        ALD_HISTORY_PATH, ALD_HISTORY_INTERFACE, all[i]->signal, on_rows_changed, NULL,
                        all[i]);
        (void) sd_bus_call_method_async(history->bus, &history->owner_query, DRIVER, DRIVER_PATH, DRIVER,
                "GetNameOwner", on_owner_reply, history, "s", ALD_HISTORY_NAME);
}

/* The connection. */

void ald_live_history_disconnect(AldLiveHistory *history)
{
        g_auto(sd_bus_error) error = SD_BUS_ERROR_NULL;
        sd_bus *bus = g_steal_pointer(&history->bus);

        history->owner_match = sd_bus_slot_unref(history->owner_match);
        history->owner_query = sd_bus_slot_unref(history->owner_query);
        history->findings.match = sd_bus_slot_unref(history->findings.match);
        history->silences.match = sd_bus_slot_unref(history->silences.match);
        history->findings.outdated = history->silences.outdated = false;
        g_clear_pointer(&history->owner, g_free);
        ald_bus_closed_error(-ECONNRESET, &error);
        while (history->calls)
                finish_call(history->calls->data, NULL, &error);
        sd_bus_unref(bus);
}

void ald_live_history_connect(AldLiveHistory *history, sd_bus *bus)
{
        if (bus == history->bus)
                return;
        ald_live_history_disconnect(history);
        history->bus = sd_bus_ref(bus);
        follow_service(history);
}

AldLiveHistory *ald_live_history_new(AldLiveHistoryChanged changed, void *userdata)
{
        AldLiveHistory *history = g_new0(AldLiveHistory, 1);

        history->changed = changed;
        history->userdata = userdata;
        history->findings = (FollowedRows){ .history = history,
                .method = "GetFindings",
                .signal = "FindingsChanged",
                .type = &ald_finding_row_struct,
                .held.rows.type = &ald_finding_row_struct };
        history->silences = (FollowedRows){ .history = history,
                .method = "GetSilences",
                .signal = "SilencesChanged",
                .type = &ald_silence_row_struct,
                .held.rows.type = &ald_silence_row_struct };
        return history;
}

void ald_live_history_free(AldLiveHistory *history)
{
        if (!history)
                return;
        ald_live_history_disconnect(history);
        clear_rows(&history->findings);
        clear_rows(&history->silences);
        g_free(history);
}

const AldRows *ald_live_history_findings(AldLiveHistory *history)
{
        return &history->findings.held.rows;
}

/* Returns whether a silence still covers its nodes. The service reports its end, but may be gone itself. */
static bool is_silence_active(const AldSilenceRow *row)
{
        return row->node && row->until_usec > (uint64_t) g_get_real_time();
}

bool ald_live_history_is_silent(AldLiveHistory *history, const AldFindingRow *finding)
{
        const AldRows *rows = &history->silences.held.rows;

        for (size_t i = 0; i < rows->n; i++) {
                const AldSilenceRow *row = ald_rows_at(rows, i);

                if (is_silence_active(row) && ald_silence_covers(row, finding))
                        return true;
        }
        return false;
}

const AldSilenceRow *ald_live_history_find_silence(AldLiveHistory *history, const char *const *nodes)
{
        const AldRows *rows = &history->silences.held.rows;

        for (size_t i = 0; nodes && i < rows->n; i++) {
                const AldSilenceRow *row = ald_rows_at(rows, i);

                if (is_silence_active(row) && g_strv_contains(nodes, row->node) &&
                        (!row->peer || g_strv_contains(nodes, row->peer)))
                        return row;
        }
        return NULL;
}

bool ald_live_history_has_silence(AldLiveHistory *history, const char *a, const char *b)
{
        const AldRows *rows = &history->silences.held.rows;

        for (size_t i = 0; i < rows->n; i++) {
                const AldSilenceRow *row = ald_rows_at(rows, i);

                if (is_silence_active(row) &&
                        ((g_str_equal(row->node, a) && g_strcmp0(row->peer, b) == 0) ||
                                (b && g_str_equal(row->node, b) && g_strcmp0(row->peer, a) == 0)))
                        return true;
        }
        return false;
}
