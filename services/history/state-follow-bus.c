/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/history/state-follow-bus.h"
#include "services/history/follow-pace.h"

struct AldStateFollow {
        AldModel *model;
        AldHistoryManager *manager;
        AldFollow *follow;
        AldFollowPace *pace;
        char *lost; /* why the state service cannot be read; NULL if it can */
};

static void on_synced(AldFollow *follow, void *userdata)
{
        AldStateFollow *self = userdata;

        if (self->lost)
                g_info("The state service can be read");
        g_clear_pointer(&self->lost, g_free);
        ald_history_manager_synced(self->manager);
}

/* Logs each reason once. */
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

        ald_history_manager_change(self->manager, change);
        ald_follow_pace_changed(self->pace);
}

int ald_state_follow_new(
        AldService *service, AldModel *model, AldHistoryManager *manager, AldStateFollow **ret)
{
        static const AldFollowHandler handler = {
                .synced = on_synced, .lost = on_lost, .findings = on_findings
        };
        AldStateFollow *self = g_new0(AldStateFollow, 1);
        int r;

        self->model = model;
        self->manager = manager;
        r = ald_follow_new(ald_service_bus(service), model, &handler, self, &self->follow);
        if (r < 0) {
                g_free(self);
                return r;
        }
        self->pace = ald_follow_pace_new(service, model, self->follow);
        ald_model_watch(model, on_changed, self);
        *ret = self;
        return 0;
}

void ald_state_follow_free(AldStateFollow *self)
{
        if (!self)
                return;
        ald_model_watch(self->model, NULL, NULL);
        ald_follow_pace_free(self->pace);
        ald_follow_free(self->follow);
        g_free(self->lost);
        g_free(self);
}
