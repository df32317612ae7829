/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/cluster/state/state-link-bus.h"
#include "common/bus-cleanup.h"
#include "record/update-bus.h"
#include "services/common/back-off.h"
#include "services/common/errors.h"
#include "services/common/peer.h"

#define STATE_NAME "org.alidade.State1"
#define STATE_PATH "/org/alidade/State1"

/* The state service may be busy with requests of others. */
#define PUT_TIMEOUT_USEC (UINT64_C(30) * 1000 * 1000)
#define RETRY_USEC (5 * G_USEC_PER_SEC)

typedef struct Put {
        AldStateLink *link;
        sd_bus_slot *slot; /* NULL unless a call is pending */
} Put;

struct AldStateLink {
        AldService *service;
        AldPeer *peer;
        sd_bus_slot *reading;
        Put puts[ALD_STATE_LINK_PUTS_MAX];
        AldBackOff *retry;
        const AldOwnRecordsHandler *own;
        void *own_userdata;
        const AldStateLinkHandler *handler;
        void *userdata;
};

static int read_records(AldStateLink *link, sd_bus_message *message)
{
        g_auto(AldUpdateRow) row = {};
        int r;

        r = sd_bus_message_enter_container(message, 'a', ALD_UPDATE_SIGNATURE);
        if (r < 0)
                return r;
        while ((r = ald_update_bus_read(message, &row)) > 0)
                if (row.refusal == 0)
                        link->own->record(&row.update, link->own_userdata);
        return r < 0 ? r : sd_bus_message_exit_container(message);
}

static int on_records_changed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        int r = read_records(userdata, message);

        if (r < 0)
                g_warning("Cannot read RecordsChanged of %s: %s", STATE_NAME, g_strerror(-r));
        return 0;
}

static int read_page(AldStateLink *link, const char *cursor);

static void on_retry(void *userdata)
{
        ald_state_link_read(userdata);
}

static void handle_read_failure(AldStateLink *link, int error)
{
        g_warning("Cannot read the records of this node from %s: %s", STATE_NAME, ald_error_describe(error));
        if (ald_peer_owner(link->peer))
                ald_back_off_failed(link->retry);
}

static int on_page(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        AldStateLink *link = userdata;
        const char *next = "";
        int r;

        link->reading = sd_bus_slot_unref(link->reading);
        if (sd_bus_message_is_method_error(reply, NULL)) {
                handle_read_failure(link, -sd_bus_message_get_errno(reply));
                return 0;
        }
        r = read_records(link, reply);
        if (r >= 0)
                r = sd_bus_message_read(reply, "s", &next);
        if (r >= 0 && *next)
                r = read_page(link, next);
        if (r < 0)
                handle_read_failure(link, r);
        else if (!*next)
                link->own->complete(link->own_userdata);
        return 0;
}

static int read_page(AldStateLink *link, const char *cursor)
{
        return sd_bus_call_method_async(ald_service_bus(link->service), &link->reading, STATE_NAME,
                STATE_PATH, STATE_NAME, "GetLocalRecords", on_page, link, "st", cursor,
                (uint64_t) ALD_STATE_LINK_RECORDS_MAX);
}

void ald_state_link_read(AldStateLink *link)
{
        int r;

        if (!ald_peer_owner(link->peer))
                return;
        ald_back_off_cancel(link->retry);
        link->reading = sd_bus_slot_unref(link->reading);
        link->own->begin(link->own_userdata);
        r = read_page(link, "");
        if (r < 0)
                handle_read_failure(link, r);
}

/* Cancels all pending calls. */
static void cancel_calls(AldStateLink *link)
{
        link->reading = sd_bus_slot_unref(link->reading);
        for (size_t i = 0; i < G_N_ELEMENTS(link->puts); i++)
                link->puts[i].slot = sd_bus_slot_unref(link->puts[i].slot);
}

static void on_owner(AldPeer *peer, const char *owner, void *userdata)
{
        AldStateLink *link = userdata;

        cancel_calls(link);
        link->handler->owner(owner, link->userdata);
        ald_state_link_read(link);
}

int ald_state_link_new(AldService *service, const AldOwnRecordsHandler *own, void *own_userdata,
        const AldStateLinkHandler *handler, void *userdata, AldStateLink **ret)
{
        static const AldBackOffDelays delays = { RETRY_USEC, RETRY_USEC, RETRY_USEC };
        g_autoptr(AldStateLink) link = g_new0(AldStateLink, 1);
        int r;

        link->service = service;
        link->own = own;
        link->own_userdata = own_userdata;
        link->handler = handler;
        link->userdata = userdata;
        link->retry = ald_back_off_new("state-link", &delays, on_retry, link);
        for (size_t i = 0; i < G_N_ELEMENTS(link->puts); i++)
                link->puts[i].link = link;
        r = ald_peer_new(service, ald_service_bus(service), STATE_NAME, on_owner, link, &link->peer);
        if (r >= 0)
                r = ald_peer_match_signal(
                        link->peer, STATE_PATH, STATE_NAME, "RecordsChanged", NULL, on_records_changed);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&link);
        return 0;
}

void ald_state_link_free(AldStateLink *link)
{
        if (!link)
                return;
        ald_back_off_free(link->retry);
        cancel_calls(link);
        ald_peer_free(link->peer);
        g_free(link);
}

static Put *find_free_put(AldStateLink *link)
{
        for (size_t i = 0; i < G_N_ELEMENTS(link->puts); i++)
                if (!link->puts[i].slot)
                        return &link->puts[i];
        return NULL;
}

bool ald_state_link_is_ready(AldStateLink *link)
{
        return ald_peer_owner(link->peer) && find_free_put(link);
}

bool ald_state_link_is_busy(const AldStateLink *link)
{
        for (size_t i = 0; i < G_N_ELEMENTS(link->puts); i++)
                if (link->puts[i].slot)
                        return true;
        return false;
}

static int on_put(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        Put *put = userdata;
        AldStateLink *link = put->link;
        int r = sd_bus_message_is_method_error(reply, NULL) ? -sd_bus_message_get_errno(reply) : 0;

        put->slot = sd_bus_slot_unref(put->slot);
        link->handler->put(r, link->userdata);
        return 0;
}

static int append_outbox(sd_bus_message *message, AldOutbox *outbox)
{
        const AldUpdate *update;
        size_t bytes = 0;
        int r;

        r = sd_bus_message_open_container(message, 'a', ALD_UPDATE_SIGNATURE);
        for (unsigned n = 0; r >= 0 && n < ALD_STATE_LINK_RECORDS_MAX && bytes < ALD_STATE_LINK_BYTES_MAX &&
                             (update = ald_outbox_first(outbox));
                n++) {
                r = ald_update_bus_append(message, update);
                bytes += update->record ? update->record->wire_size : 0;
                ald_outbox_drop_first(outbox);
        }
        return r < 0 ? r : sd_bus_message_close_container(message);
}

static int new_call(AldStateLink *link, const char *member, sd_bus_message **ret)
{
        return sd_bus_message_new_method_call(
                ald_service_bus(link->service), ret, STATE_NAME, STATE_PATH, STATE_NAME, member);
}

static int send_call(AldStateLink *link, sd_bus_message *call)
{
        Put *put = find_free_put(link);

        return sd_bus_call_async(
                ald_service_bus(link->service), &put->slot, call, on_put, put, PUT_TIMEOUT_USEC);
}

/* Does not wait for the reply, because calls are answered in order: the records that are read next already
 * reflect this one. */
int ald_state_link_put_own(AldStateLink *link, const AldUpdate *update)
{
        g_autoptr(AldMessage) call = NULL;
        int r;

        r = new_call(link, "PutRecords", &call);
        if (r >= 0)
                r = sd_bus_message_set_expect_reply(call, 0);
        if (r >= 0)
                r = sd_bus_message_open_container(call, 'a', ALD_UPDATE_SIGNATURE);
        if (r >= 0)
                r = ald_update_bus_append(call, update);
        if (r >= 0)
                r = sd_bus_message_close_container(call);
        if (r >= 0)
                r = sd_bus_send(NULL, call, NULL);
        if (r >= 0)
                ald_state_link_read(link);
        return r;
}

int ald_state_link_put_records(AldStateLink *link, AldOutbox *outbox)
{
        g_autoptr(AldMessage) call = NULL;
        int r;

        r = new_call(link, "PutRecords", &call);
        if (r >= 0)
                r = append_outbox(call, outbox);
        return r < 0 ? r : send_call(link, call);
}

int ald_state_link_put_presences(AldStateLink *link, const AldPresenceRow *rows, size_t n)
{
        g_autoptr(AldMessage) call = NULL;
        char node[ALD_ID_STRING_SIZE];
        int r;

        r = new_call(link, "PutPresences", &call);
        if (r >= 0)
                r = sd_bus_message_open_container(call, 'a', "(sstxtt)");
        for (size_t i = 0; r >= 0 && i < n; i++)
                r = sd_bus_message_append(call, "(sstxtt)", ald_id_format(&rows[i].node, node), rows[i].state,
                        rows[i].since, rows[i].clock_offset, rows[i].announced, rows[i].epoch);
        if (r >= 0)
                r = sd_bus_message_close_container(call);
        return r < 0 ? r : send_call(link, call);
}
