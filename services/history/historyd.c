/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/common/state-directory.h"
#include "services/history/history-bus.h"
#include "services/history/state-follow-bus.h"

#define STATE_DIRECTORY "/var/lib/alidade/history"

typedef struct HistoryService {
        AldService *service;
        AldModel *model;
        AldHistoryManager *manager;
        AldHistoryBus *bus;
        AldStateFollow *follow;
} HistoryService;

static void history_stop(void *userdata)
{
        HistoryService *history = userdata;

        ald_state_follow_free(history->follow);
        ald_history_manager_free(history->manager);
        ald_history_bus_free(history->bus);
        ald_model_free(history->model);
        g_free(history);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HistoryService, history_stop)

static void history_name_owned(void *userdata)
{
        HistoryService *history = userdata;
        int r;

        ald_history_manager_begin(history->manager);
        r = ald_state_follow_new(history->service, history->model, history->manager, &history->follow);
        if (r < 0)
                ald_service_quit(history->service, r, "Cannot follow the state service");
}

static void history_reload(void *userdata)
{
        HistoryService *history = userdata;

        ald_history_manager_configure(history->manager, ald_service_config(history->service));
}

static int history_start(AldService *service, void **ret_manager)
{
        g_autoptr(HistoryService) history = g_new0(HistoryService, 1);
        int r;

        history->service = service;
        history->model = ald_model_new();
        history->manager = ald_history_manager_new(
                history->model, ald_state_directory(STATE_DIRECTORY), ald_service_config(service));
        r = ald_history_bus_new(service, history->manager, &history->bus);
        if (r < 0)
                return r;
        *ret_manager = g_steal_pointer(&history);
        return 0;
}

static const AldServiceInfo info = {
        .name = "alidade-historyd",
        .description = "Records the figures of the cluster, and when findings begin and end.",
        .bus_name = "org.alidade.History1",
        .config_keys = ald_history_config_keys,
        .start = history_start,
        .name_owned = history_name_owned,
        .reload = history_reload,
        .stop = history_stop,
};

int main(int argc, char *argv[])
{
        return ald_service_main(&info, argc, argv);
}
