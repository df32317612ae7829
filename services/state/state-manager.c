/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "services/state/state-manager.h"
#include "common/excerpt.h"
#include "services/common/service.h"
#include "services/common/state-config.h"
#include "services/state/state-file.h"
#include "state/planner/probed-kinds.h"
#include "state/store/clock.h"

/* A D-Bus reply may have 16 MiB; the rest is for what sd-bus adds. */
#define MAX_SHOWN_BYTES (14u * 1024 * 1024)

/* These are larger than any real cluster needs, so that only a hostile peer reaches them. */
#define MAX_NODES 20000u
#define MAX_LINKS_PER_NODE 4096u
#define MAX_BYTES (384u * 1024 * 1024) /* the graph of that many links takes about as much again */

#define EXPIRE_SECONDS 60u
#define SAVE_SECONDS 5u
#define USEC_PER_HOUR (UINT64_C(3600) * G_USEC_PER_SEC)
#define REFUSAL_LOG_USEC (60 * G_USEC_PER_SEC)

/* This node advances beyond an epoch received under its id once in this time, and may be one advance
 * ahead. */
#define TAKE_EPOCH_USEC (600 * G_USEC_PER_SEC)

const AldConfigKey ald_state_config_keys[] = { ALD_STATE_CONFIG_KEYS, { 0 } };

typedef struct Watcher {
        AldStoreChanged changed;
        AldStoreRemoving removing;
        void *userdata;
} Watcher;

struct AldStateManager {
        AldStore *store;
        AldStateFile *file;
        GArray *watchers;
        uint64_t started;
        uint64_t expiry_usec;
        char *history_problem; /* NULL if none is known */
        uint64_t refused;
        gint64 refusal_logged;
        gint64 advances_until; /* until when past advances of the epoch are accounted for; 0: none in this
                                  cluster */
        guint expire_timer;
        guint save_timer;
};

static uint64_t now_usec(void)
{
        return (uint64_t) g_get_monotonic_time();
}

static gboolean on_save(gpointer userdata)
{
        AldStateManager *manager = userdata;

        manager->save_timer = 0;
        ald_state_file_save(manager->file, manager->store);
        return G_SOURCE_REMOVE;
}

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        AldStateManager *manager = userdata;

        /* Results that arrive together are written together. */
        if (entry->node->local && ald_kinds[entry->kind].persistent && manager->save_timer == 0)
                manager->save_timer = g_timeout_add_seconds(SAVE_SECONDS, on_save, manager);
        for (guint i = 0; i < manager->watchers->len; i++) {
                const Watcher *watcher = &g_array_index(manager->watchers, Watcher, i);
                watcher->changed(entry, before, watcher->userdata);
        }
}

static void on_removing(AldEntry *entry, void *userdata)
{
        AldStateManager *manager = userdata;

        for (guint i = 0; i < manager->watchers->len; i++) {
                const Watcher *watcher = &g_array_index(manager->watchers, Watcher, i);
                watcher->removing(entry, watcher->userdata);
        }
}

/* Restarts the epoch if the clock was ahead when this service started, and was set since: other nodes refuse
 * such an epoch. */
static void restart_epoch_after_clock_change(AldStateManager *manager)
{
        uint64_t real = ald_realtime_usec();

        if (!ald_clock_is_set(real) || !ald_state_manager_is_ahead(manager, ald_store_epoch(manager->store)))
                return;
        g_message("The clock was set back; resending all records of this node");
        ald_store_set_epoch(manager->store, real, now_usec());
        ald_state_file_save(manager->file, manager->store);
}

static gboolean on_expire(gpointer userdata)
{
        AldStateManager *manager = userdata;
        AldPlannerInput input;

        restart_epoch_after_clock_change(manager);
        ald_store_expire(manager->store, now_usec(), manager->expiry_usec, manager->expiry_usec);
        input = (AldPlannerInput){ .now = now_usec(), .now_realtime = ald_realtime_usec() };
        for (const AldProbedKind *const *probed = ald_probed_kinds; *probed; probed++)
                (*probed)->prune(manager->store, &input, manager->expiry_usec);
        return G_SOURCE_CONTINUE;
}

AldStateManager *ald_state_manager_new(const AldId *local, const AldConfig *config)
{
        AldStateManager *manager = g_new0(AldStateManager, 1);
        const AldStoreLimits limits = {
                .max_shown_nodes = ald_config_uint(config, "max-nodes"),
                .max_shown_bytes = MAX_SHOWN_BYTES,
                .max_nodes = MAX_NODES,
                .max_links_per_node = MAX_LINKS_PER_NODE,
                .max_bytes = MAX_BYTES,
        };

        manager->watchers = g_array_new(false, false, sizeof(Watcher));
        manager->file = ald_state_file_new();
        manager->store = ald_state_file_load(manager->file, local, &limits, now_usec());
        manager->started = now_usec();
        ald_store_watch(manager->store, on_changed, on_removing, manager);
        ald_state_manager_configure(manager, config);
        manager->expire_timer = g_timeout_add_seconds(EXPIRE_SECONDS, on_expire, manager);
        return manager;
}

void ald_state_manager_begin_saving(AldStateManager *manager)
{
        ald_state_file_begin_saving(manager->file, manager->store);
}

void ald_state_manager_free(AldStateManager *manager)
{
        if (!manager)
                return;
        if (manager->save_timer != 0)
                ald_state_file_save(manager->file, manager->store);
        g_clear_handle_id(&manager->save_timer, g_source_remove);
        g_clear_handle_id(&manager->expire_timer, g_source_remove);
        ald_store_free(manager->store);
        ald_state_file_free(manager->file);
        g_array_unref(manager->watchers);
        g_free(manager->history_problem);
        g_free(manager);
}

void ald_state_manager_configure(AldStateManager *manager, const AldConfig *config)
{
        manager->expiry_usec = ald_config_uint(config, "expiry-h") * USEC_PER_HOUR;
}

AldStore *ald_state_manager_store(AldStateManager *manager)
{
        return manager->store;
}

uint64_t ald_state_manager_started(const AldStateManager *manager)
{
        return manager->started;
}

static AldFindingContext present_context(const AldStateManager *manager)
{
        const uint64_t real = ald_realtime_usec();

        return (AldFindingContext){ .real = real,
                .clock_is_set = ald_clock_is_set(real),
                .now = now_usec(),
                .started = manager->started,
                .history_problem = manager->history_problem };
}

GPtrArray *ald_state_manager_findings(const AldStateManager *manager)
{
        const AldFindingContext context = present_context(manager);

        return ald_findings_compute(manager->store, &context);
}

AldFindingsRound *ald_state_manager_begin_findings(const AldStateManager *manager)
{
        const AldFindingContext context = present_context(manager);

        return ald_findings_round_new(manager->store, &context);
}

void ald_state_manager_set_history_problem(AldStateManager *manager, const char *problem)
{
        g_free(manager->history_problem);
        manager->history_problem = g_strdup(problem);
}

uint64_t ald_state_manager_expiry(const AldStateManager *manager)
{
        return manager->expiry_usec;
}

void ald_state_manager_watch(
        AldStateManager *manager, AldStoreChanged changed, AldStoreRemoving removing, void *userdata)
{
        const Watcher watcher = { changed, removing, userdata };

        g_array_append_val(manager->watchers, watcher);
}

void ald_state_manager_put_local(AldStateManager *manager, AldKind kind, const char *key, AldRecord *record)
{
        int r = ald_store_put_local(manager->store, kind, key, record, record->updated_usec, now_usec());

        if (r < 0)
                g_warning(
                        "Refused a record %s of this node: %s", ald_kinds[kind].name, ald_record_describe(r));
}

void ald_state_manager_delete_local(AldStateManager *manager, AldKind kind, const char *key)
{
        (void) ald_store_put_local(manager->store, kind, key, NULL, ald_realtime_usec(), now_usec());
}

void ald_state_manager_refuse(
        AldStateManager *manager, const char *node, const char *kind, const char *field, const char *reason)
{
        g_autofree char *node_excerpt = NULL, *kind_excerpt = NULL;
        gint64 now = g_get_monotonic_time();

        manager->refused++;
        if (manager->refusal_logged != 0 && now < manager->refusal_logged + REFUSAL_LOG_USEC)
                return;
        manager->refusal_logged = now;
        node_excerpt = ald_excerpt(node);
        kind_excerpt = ald_excerpt(kind);
        g_log_structured(G_LOG_DOMAIN, G_LOG_LEVEL_WARNING, "ALIDADE_NODE", node_excerpt, "ALIDADE_KIND",
                kind_excerpt, "MESSAGE",
                "Refused a record %s of node %s: %s%s%s (%" G_GUINT64_FORMAT " refused so far)", kind_excerpt,
                node_excerpt, field ? field : "", field ? ": " : "", reason, manager->refused);
}

uint64_t ald_state_manager_refused(const AldStateManager *manager)
{
        return manager->refused;
}

/* Advances the epoch of this node beyond one that was received under its id.
 *
 * A reinstalled machine with its old id receives its own earlier records, and advances beyond them.
 * Brokers hold records of two past epochs if a service was missing at the last start, and may deliver
 * the older epoch first, so two advances can follow each other. If it happens again, another machine
 * has the same id, or someone publishes under it: advancing at each record would escalate without
 * end, since for some minutes the two cases look the same. The second advance is taken from a later
 * interval, so an escalation is no faster. */
static bool advance_epoch(AldStateManager *manager, uint64_t epoch)
{
        gint64 now = g_get_monotonic_time();
        gint64 due = MAX(manager->advances_until, now);

        if (due - now > TAKE_EPOCH_USEC)
                return false;
        manager->advances_until = due + TAKE_EPOCH_USEC;
        g_message("Received newer records with the id of this node; resending all records");
        ald_store_advance_epoch(manager->store, epoch, now_usec());
        ald_state_file_save(manager->file, manager->store);
        return true;
}

static gboolean add_offset(AldNode *node, void *userdata)
{
        GArray *offsets = userdata;
        const AldPresence *presence = ald_node_as(node, PRESENCE, AldPresence);

        if (!node->local && ald_node_is_online(node) && presence->clock_offset_usec != ALD_ABSENT_INT64)
                g_array_append_val(offsets, presence->clock_offset_usec);
        return FALSE;
}

/* Returns how far the clocks of most nodes are ahead of ours. */
static uint64_t clock_majority(AldStore *store)
{
        g_autoptr(GArray) offsets = g_array_new(FALSE, FALSE, sizeof(int64_t));

        ald_store_foreach_node(store, add_offset, offsets);
        return ald_clock_majority((int64_t *) (void *) offsets->data, offsets->len);
}

bool ald_state_manager_is_ahead(AldStateManager *manager, uint64_t usec)
{
        uint64_t real = ald_realtime_usec();

        return ald_clock_is_ahead(usec, real, 0) &&
               ald_clock_is_ahead(usec, real, clock_majority(manager->store));
}

/* Merges an update. Returns why it is refused, or NULL. */
static const char *merge_update(AldStateManager *manager, const AldUpdate *update)
{
        bool own = ald_id_equal(&update->node, &ald_store_local_node(manager->store)->id);
        int r;

        /* An epoch of this node is checked below. */
        if (ald_state_manager_is_ahead(
                    manager, own ? update->updated_usec : MAX(update->updated_usec, update->stamp.epoch)))
                return ald_state_manager_is_ahead(manager, update->updated_usec)
                               ? "updated more than a day in the future"
                               : "an epoch more than a day in the future";
        r = ald_store_put(manager->store, update, now_usec());
        if (r < 0)
                return ald_record_describe(r);
        if (r != ALD_PUT_OWN)
                return NULL;
        if (ald_state_manager_is_ahead(manager, update->stamp.epoch))
                return "an epoch of this node more than a day in the future; is the clock right?";
        return advance_epoch(manager, update->stamp.epoch) ? NULL
                                                           : "another machine uses the id of this node";
}

bool ald_state_manager_put(AldStateManager *manager, const AldUpdate *update)
{
        const char *reason = merge_update(manager, update);
        char id[ALD_ID_STRING_SIZE];

        if (reason)
                ald_state_manager_refuse(manager, ald_id_format(&update->node, id),
                        ald_kinds[update->kind].name, NULL, reason);
        return !reason;
}

void ald_state_manager_new_cluster(AldStateManager *manager)
{
        manager->advances_until = 0;
}
