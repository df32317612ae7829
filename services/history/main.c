/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/common/state-directory.h"
#include "services/history/finding-journal.h"
#include "services/history/history-bus.h"
#include "services/history/history-config.h"
#include "services/history/state-follow-bus.h"

#define STATE_DIRECTORY "/var/lib/alidade/history"

typedef struct HistoryService {
        AldService *service;
        AldModel *model;
        AldHistoryManager *manager;
        AldFindingJournal *journal;
        AldHistoryBus *bus;
        AldStateFollow *follow;
} HistoryService;

static void history_stop(void *userdata)
{
        HistoryService *history = userdata;

        ald_state_follow_free(history->follow);
        ald_history_manager_free(history->manager);
        ald_history_bus_free(history->bus);
        ald_finding_journal_free(history->journal);
        ald_model_free(history->model);
        g_free(history);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HistoryService, history_stop)

static void on_notice(const AldFindingNotice *notice, void *userdata)
{
        const HistoryService *history = userdata;

        ald_finding_journal_write(history->journal, notice);
        ald_history_bus_handler.notice(notice, history->bus);
}

static void on_silences_changed(void *userdata)
{
        ald_history_bus_handler.silences_changed(((HistoryService *) userdata)->bus);
}

static void on_findings_changed(void *userdata)
{
        ald_history_bus_handler.findings_changed(((HistoryService *) userdata)->bus);
}

static void on_properties_changed(void *userdata)
{
        ald_history_bus_handler.properties_changed(((HistoryService *) userdata)->bus);
}

static const AldHistoryHandler handler = {
        .notice = on_notice,
        .silences_changed = on_silences_changed,
        .findings_changed = on_findings_changed,
        .properties_changed = on_properties_changed,
};

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
        history->journal = ald_finding_journal_new();
        history->bus = ald_history_bus_new(service, history->journal);
        history->manager = ald_history_manager_new(history->model, ald_state_directory(STATE_DIRECTORY),
                ald_service_config(service), &handler, history);
        r = ald_history_bus_export(history->bus, history->manager);
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
