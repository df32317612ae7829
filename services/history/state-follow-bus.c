/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/history/state-follow-bus.h"
#include "services/common/timer.h"
#include "state-client/follow.h"

#define REFRESH_USEC (60 * G_USEC_PER_SEC) /* it also shows whether the state service hangs */
/* All records are sent every 30 s, unless a client that does not read has stopped the broadcasts. */
#define SILENCE_USEC (60 * G_USEC_PER_SEC)

/* In a large cluster there is always a change, and to wake for each takes most of the time. Answers wait for
 * so long, too. */
#define READ_MSEC 50u
#define NODES_MANY 16u

struct AldStateFollow {
        AldService *service;
        AldModel *model;
        AldHistoryManager *manager;
        AldFollow *follow;
        AldTimer *refresh;
        gint64 changed; /* the last change, CLOCK_MONOTONIC in µs */
        bool subscribed;
        char *lost; /* why the state service cannot be read; NULL: it can */
};

static void on_synced(AldFollow *follow, void *userdata)
{
        AldStateFollow *self = userdata;

        if (self->lost)
                g_info("The state service can be read");
        g_clear_pointer(&self->lost, g_free);
        ald_history_manager_synced(self->manager);
}

/* Logged once for each reason. */
static void on_lost(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        AldStateFollow *self = userdata;
        const char *reason = error ? error->message ?: error->name ?: "unknown error" : "it has left the bus";

        if (g_strcmp0(reason, self->lost) != 0)
                g_warning("The state service cannot be read: %s", reason);
        g_free(self->lost);
        self->lost = g_strdup(reason);
        ald_history_manager_lost(self->manager);
}

static void on_findings(AldFollow *follow, void *userdata)
{
        AldStateFollow *self = userdata;

        ald_history_manager_findings(self->manager);
}

static void on_changed(AldModel *model, const AldChange *change, void *userdata)
{
        AldStateFollow *self = userdata;

        self->changed = g_get_monotonic_time();
        ald_history_manager_change(self->manager, change);
        if (ald_follow_in_step(self->follow) && ald_model_nodes(self->model)->len > NODES_MANY)
                ald_service_delay_bus(self->service, READ_MSEC);
}

static void on_refresh(void *userdata)
{
        AldStateFollow *self = userdata;

        if (!self->subscribed && ald_follow_in_step(self->follow) &&
                g_get_monotonic_time() - self->changed > SILENCE_USEC) {
                g_info("The state service broadcasts nothing; requesting its signals");
                self->subscribed = true;
                ald_follow_subscribe(self->follow, false);
        }
        ald_follow_refresh(self->follow);
        ald_timer_set(self->refresh, g_get_monotonic_time() + REFRESH_USEC);
}

int ald_state_follow_new(
        AldService *service, AldModel *model, AldHistoryManager *manager, AldStateFollow **ret)
{
        static const AldFollowHandler handler = {
                .synced = on_synced, .lost = on_lost, .findings = on_findings
        };
        AldStateFollow *self = g_new0(AldStateFollow, 1);
        int r;

        self->service = service;
        self->model = model;
        self->manager = manager;
        ald_model_watch(model, on_changed, self);
        r = ald_follow_new(ald_service_bus(service), model, &handler, self, &self->follow);
        if (r < 0) {
                ald_model_watch(model, NULL, NULL);
                g_free(self);
                return r;
        }
        self->refresh = ald_timer_new("refresh", on_refresh, self);
        ald_timer_set(self->refresh, g_get_monotonic_time() + REFRESH_USEC);
        *ret = self;
        return 0;
}

void ald_state_follow_free(AldStateFollow *self)
{
        if (!self)
                return;
        ald_model_watch(self->model, NULL, NULL);
        ald_timer_free(self->refresh);
        ald_follow_free(self->follow);
        g_free(self->lost);
        g_free(self);
}
