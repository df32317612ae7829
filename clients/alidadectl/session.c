/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/print.h"
#include "clients/alidadectl/session.h"

#define SETTLE_USEC (2 * UINT64_C(1000000))
#define YOUNG_USEC 3e6 /* services that have just started need a moment for their first records */

int ald_session_complain(const sd_bus_error *error)
{
        if (!error) {
                ald_complain("The state service went away");
                return ALD_EXIT_UNREACHABLE;
        }
        return ald_bus_complain(error, "Cannot read from " ALD_STATE_NAME, ALD_STATE_UNIT);
}

static int start(AldSession *session)
{
        int r;

        r = sd_bus_attach_event(session->bus, session->event, SD_EVENT_PRIORITY_NORMAL);
        if (r >= 0)
                r = ald_sync_new(
                        session->bus, session->model, session->handler, session->userdata, &session->sync);
        if (r >= 0 && session->subscribe)
                ald_sync_subscribe(session->sync);
        return r;
}

int ald_session_resume(AldSession *session)
{
        int r;

        r = ald_bus_open(session->ctl, &session->bus);
        if (r != ALD_EXIT_OK)
                return r;
        r = start(session);
        if (r < 0) {
                ald_complain("Cannot start: %s", strerror(-r));
                return ALD_EXIT_ERROR;
        }
        return ALD_EXIT_OK;
}

void ald_session_pause(AldSession *session)
{
        g_clear_pointer(&session->sync, ald_sync_free);
        if (session->bus)
                sd_bus_detach_event(session->bus);
        session->bus = sd_bus_flush_close_unref(session->bus);
}

int ald_session_open(
        AldSession *session, const AldCtl *ctl, bool subscribe, const AldSyncHandler *handler, void *userdata)
{
        int r;

        session->ctl = ctl;
        session->handler = handler;
        session->userdata = userdata;
        session->subscribe = subscribe;
        session->model = ald_model_new();
        r = sd_event_new(&session->event);
        if (r < 0) {
                ald_complain("Cannot make an event loop: %s", strerror(-r));
                return ALD_EXIT_ERROR;
        }
        return ald_session_resume(session);
}

void ald_session_close(AldSession *session)
{
        ald_session_pause(session);
        session->event = sd_event_unref(session->event);
        g_clear_pointer(&session->model, ald_model_free);
}

static int on_waiting(sd_event_source *source, uint64_t usec, void *userdata)
{
        AldSession *session = userdata;

        if (session->sync && !ald_sync_in_step(session->sync))
                ald_complain("Waiting for %s", ALD_STATE_NAME);
        return 0;
}

int ald_session_announce_waiting(AldSession *session)
{
        return sd_event_add_time_relative(
                session->event, NULL, CLOCK_MONOTONIC, ALD_NOTICE_USEC, 0, on_waiting, session);
}

/* Whether this machine has told what every machine can. */
static bool is_complete(AldModel *model, const AldEntity *own)
{
        return ald_entity_record(own, "Node1.Memory") && ald_entity_record(own, "Node1.Network") &&
               json_object_get(ald_entity_record(own, "Node1.System"), "CpuUsage") &&
               json_object_get(ald_model_totals(model), "MemoryTotalBytes");
}

/* Whether nothing more is to be expected soon: it is all there, or what is missing has had its time. */
static bool is_settled(AldModel *model)
{
        const AldEntity *own = ald_model_get(model, ald_model_node_id(model));
        json_t *identity = ald_entity_record(own, "Node1.Identity");

        if (!identity)
                return false;
        return is_complete(model, own) || ald_now() - ald_field_number(identity, "UpdatedUSec") > YOUNG_USEC;
}

typedef struct Load {
        AldSession *session;
        bool settle;
} Load;

static void exit_when_settled(Load *load)
{
        if (ald_sync_in_step(load->session->sync) && (!load->settle || is_settled(load->session->model)))
                (void) sd_event_exit(load->session->event, ALD_EXIT_OK);
}

static int on_settle_timeout(sd_event_source *source, uint64_t usec, void *userdata)
{
        Load *load = userdata;

        return sd_event_exit(load->session->event, ALD_EXIT_OK);
}

static void on_synced(AldSync *sync, void *userdata)
{
        Load *load = userdata;

        exit_when_settled(load);
        if (load->settle)
                (void) sd_event_add_time_relative(
                        load->session->event, NULL, CLOCK_MONOTONIC, SETTLE_USEC, 0, on_settle_timeout, load);
}

static void on_lost(AldSync *sync, const sd_bus_error *error, void *userdata)
{
        Load *load = userdata;

        (void) sd_event_exit(load->session->event, ald_session_complain(error));
}

static void on_changed(AldModel *model, const AldChange *change, void *userdata)
{
        exit_when_settled(userdata);
}

int ald_session_load(AldSession *session, const AldCtl *ctl, bool settle)
{
        static const AldSyncHandler handler = { .synced = on_synced, .lost = on_lost };
        Load load = { .session = session, .settle = settle };
        int r;

        r = ald_session_open(session, ctl, false, &handler, &load);
        if (r != ALD_EXIT_OK)
                return r;
        ald_model_watch(session->model, on_changed, &load);
        r = ald_session_announce_waiting(session);
        if (r >= 0)
                r = sd_event_loop(session->event);
        ald_model_watch(session->model, NULL, NULL);
        if (r < 0) {
                ald_complain("Cannot wait for %s: %s", ALD_STATE_NAME, strerror(-r));
                return ALD_EXIT_ERROR;
        }
        return r;
}

double ald_now(void)
{
        return (double) g_get_real_time();
}
