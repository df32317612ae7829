/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib/gi18n.h>
#include <string.h>

#include "clients/common/connection.h"
#include "clients/common/safe-text.h"
#include "clients/desktop/live/bus-error-words.h"
#include "clients/desktop/live/cluster-devices.h"
#include "clients/desktop/live/finding-item.h"
#include "clients/desktop/live/host-connection.h"
#include "clients/desktop/live/item-list.h"
#include "clients/desktop/live/link-item.h"
#include "clients/desktop/live/live-cluster.h"
#include "clients/desktop/live/node-item.h"
#include "common/bus-cleanup.h"
#include "common/bus-names.h"
#include "common/fd.h"
#include "state-client/state-client.h"

#define FIGURES_MSEC 500u /* between two updates of figures */
#define READ_MSEC 100u    /* between two readings of changes, which come one by one */
#define SET_MSEC 50u      /* after something has appeared or gone, since more of it follows */
#define TICK_SECONDS 1u
#define REFRESH_TICKS \
        10u             /* between two readings of the findings, as figures in them change without a signal */
#define LINKS_TICKS 60u /* between two checks for links that have become overdue */
#define LINKS_SHARE 20  /* one part in this many of the time may go into describing the links again */
#define RETRY_LEAST_MSEC 3000u
#define RETRY_MOST_MSEC 60000u
#define REMOTE_RETRIES 5u /* ssh may ask for a password each time */

struct _AldLiveCluster {
        GObject parent;
        char *host, *problem;
        AldModel *model;
        AldStateClient *client;
        AldTopologySummary *topology;
        AldItemList *nodes, *links, *findings;
        AldClusterDevices *devices;
        AldLiveHistory *history;
        sd_bus *bus; /* on which the client follows the state service, or NULL */

        GHashTable *changed_nodes;              /* ids, of which records have changed */
        guint dirty;                            /* AldLivePart */
        uint64_t topology_seen, topology_taken; /* n_taken of the one passed on, and of `topology` */
        json_t *findings_seen; /* a reference, so that no other findings can have its address */
        gint64 flushed_at, links_at, links_took; /* CLOCK_MONOTONIC in µs */
        int complaints;                          /* standard error of ssh for the last connection, or -1 */
        bool reached;                            /* everything was read over the last connection */
        guint flush_id, tick_id, retry_id, ticks, retries;
        bool flush_is_urgent, wanted, background, runs, has_data, devices_wanted;
};

enum { UPDATED, TICK, N_SIGNALS };
static guint signals[N_SIGNALS];

enum { PROP_PROBLEM = 1, N_PROPERTIES };
static GParamSpec *properties[N_PROPERTIES];

G_DEFINE_FINAL_TYPE(AldLiveCluster, ald_live_cluster, G_TYPE_OBJECT)

double ald_live_real_time_usec(void)
{
        return (double) g_get_real_time();
}

static void set_problem(AldLiveCluster *cluster, char *problem)
{
        bool same = g_strcmp0(problem, cluster->problem) == 0;

        g_free(cluster->problem);
        cluster->problem = problem;
        if (!same)
                g_object_notify_by_pspec(G_OBJECT(cluster), properties[PROP_PROBLEM]);
}

/* Lists and items. */

static gpointer make_node(const void *id, void *userdata)
{
        return ald_node_item_new(ALD_LIVE_CLUSTER(userdata)->model, id);
}

static char *key_of_node(const void *id)
{
        return g_strdup(id);
}

static void update_node(gpointer item, const void *id, void *userdata)
{
        if (g_hash_table_contains(ALD_LIVE_CLUSTER(userdata)->changed_nodes, id))
                ald_node_item_refresh(item);
}

static gpointer make_link(const void *summary, void *userdata)
{
        return ald_link_item_new((AldLinkSummary *) summary);
}

static char *key_of_link(const void *summary)
{
        return ald_link_summary_key(summary);
}

static void update_link(gpointer item, const void *summary, void *userdata)
{
        ald_link_item_update(item, (AldLinkSummary *) summary);
}

static bool is_silent(AldLiveCluster *cluster, const AldFindingRow *row)
{
        return ald_live_history_is_silent(cluster->history, row);
}

static gpointer make_finding(const void *row, void *userdata)
{
        AldFindingItem *item = ald_finding_item_new(row, ALD_LIVE_CLUSTER(userdata)->model);

        ald_finding_item_set_silent(item, is_silent(userdata, row));
        return item;
}

static char *key_of_finding(const void *row)
{
        return ald_finding_row_key(row);
}

static void update_finding(gpointer item, const void *row, void *userdata)
{
        ald_finding_item_update(item, row, ALD_LIVE_CLUSTER(userdata)->model);
        ald_finding_item_set_silent(item, is_silent(userdata, row));
}

static const AldItemListType node_list = { make_node, key_of_node, update_node },
                             link_list = { make_link, key_of_link, update_link },
                             finding_list = { make_finding, key_of_finding, update_finding };

static void refresh_nodes(AldLiveCluster *cluster)
{
        const GPtrArray *nodes = ald_model_nodes(cluster->model);
        g_autoptr(GPtrArray) ids = g_ptr_array_new();

        for (guint i = 0; i < nodes->len; i++)
                g_ptr_array_add(ids, ((const AldEntity *) nodes->pdata[i])->id);
        ald_item_list_update(cluster->nodes, ids, cluster);
}

/* Refreshes the nodes that have changed. This suffices if no node has appeared or gone. */
static void refresh_changed_nodes(AldLiveCluster *cluster)
{
        const char *id;
        GHashTableIter iter;

        g_hash_table_iter_init(&iter, cluster->changed_nodes);
        while (g_hash_table_iter_next(&iter, (void **) &id, NULL)) {
                AldNodeItem *item = ald_item_list_get(cluster->nodes, id);

                if (item)
                        ald_node_item_refresh(item);
        }
}

/* Returns false if another device has appeared or gone. */
static bool refresh_changed_devices(AldLiveCluster *cluster)
{
        const char *id;
        GHashTableIter iter;

        g_hash_table_iter_init(&iter, cluster->changed_nodes);
        while (g_hash_table_iter_next(&iter, (void **) &id, NULL)) {
                AldNodeItem *item = ald_item_list_get(cluster->nodes, id);

                if (item && !ald_cluster_devices_update(cluster->devices, item))
                        return false;
        }
        return true;
}

/* Refreshes the devices after the nodes. Returns which parts have changed. */
static guint refresh_devices(AldLiveCluster *cluster, guint parts)
{
        if (!cluster->devices_wanted || !(parts & (ALD_LIVE_NODE_SET | ALD_LIVE_FIGURES)))
                return 0;
        if (!(parts & ALD_LIVE_NODE_SET) && refresh_changed_devices(cluster))
                return ALD_LIVE_DEVICES;
        ald_cluster_devices_fill(cluster->devices, ald_item_list_model(cluster->nodes));
        return ALD_LIVE_DEVICES | ALD_LIVE_DEVICE_SET;
}

static void refresh_links(AldLiveCluster *cluster)
{
        gint64 start = g_get_monotonic_time();
        g_autoptr(GPtrArray)
                summaries = ald_link_summaries_with_untried(cluster->model, ald_live_real_time_usec());

        /* The items take ownership of the summaries. */
        g_ptr_array_set_free_func(summaries, NULL);
        ald_item_list_update(cluster->links, summaries, cluster);
        cluster->links_at = g_get_monotonic_time();
        cluster->links_took = cluster->links_at - start;
}

static void remember_findings(AldLiveCluster *cluster)
{
        json_decref(cluster->findings_seen);
        cluster->findings_seen = json_incref(ald_model_findings_json(cluster->model));
}

/* Inserts a finding after the others of its severity. */
static void add_finding(GPtrArray *rows, const AldFindingRow *row)
{
        guint at = 0;

        while (at < rows->len && ald_finding_severity_of(rows->pdata[at]) <= ald_finding_severity_of(row))
                at++;
        g_ptr_array_insert(rows, (gint) at, (gpointer) row);
}

/* Adds the slower-than-past findings of the history service to those of the state service. */
static void refresh_findings(AldLiveCluster *cluster)
{
        g_autoptr(GPtrArray) rows = ald_findings_sorted(cluster->model, NULL);
        const AldRows *past = ald_live_history_findings(cluster->history);

        for (size_t i = 0; i < past->n; i++)
                add_finding(rows, ald_rows_at(past, i));
        remember_findings(cluster);
        ald_item_list_update(cluster->findings, rows, cluster);
}

static void describe_topology(AldLiveCluster *cluster)
{
        AldTopology *topology = ald_model_topology(cluster->model);

        cluster->topology_taken = topology->n_taken;
        ald_topology_summary_free(cluster->topology);
        cluster->topology = ald_topology_summarize(topology);
}

static void refresh_topology(AldLiveCluster *cluster)
{
        cluster->topology_seen = ald_model_topology(cluster->model)->n_taken;
        describe_topology(cluster);
}

/* Collecting changes. */

static bool links_must_wait(const AldLiveCluster *cluster)
{
        return cluster->links_at != 0 &&
               g_get_monotonic_time() - cluster->links_at < cluster->links_took * LINKS_SHARE;
}

/* Notes which parts have changed without a change of a record, which are the topology and the findings. */
static void mark_unreported_changes(AldLiveCluster *cluster)
{
        if (ald_model_topology(cluster->model)->n_taken != cluster->topology_seen)
                cluster->dirty |= ALD_LIVE_TOPOLOGY | ALD_LIVE_LINKS;
        if (ald_model_findings_json(cluster->model) == cluster->findings_seen)
                return;
        if (!json_equal(ald_model_findings_json(cluster->model), cluster->findings_seen))
                cluster->dirty |= ALD_LIVE_FINDINGS;
        else
                remember_findings(cluster);
}

static void refresh_lists(AldLiveCluster *cluster, guint parts)
{
        if (parts & ALD_LIVE_NODE_SET)
                refresh_nodes(cluster);
        else if (parts & ALD_LIVE_FIGURES)
                refresh_changed_nodes(cluster);
        if (parts & (ALD_LIVE_NODE_SET | ALD_LIVE_TOPOLOGY))
                refresh_topology(cluster);
        if (parts & ALD_LIVE_LINKS)
                refresh_links(cluster);
        if (parts & (ALD_LIVE_NODE_SET | ALD_LIVE_FINDINGS))
                refresh_findings(cluster);
}

static void flush(AldLiveCluster *cluster)
{
        guint parts;

        mark_unreported_changes(cluster);
        parts = cluster->dirty;
        if (parts & ALD_LIVE_LINKS && links_must_wait(cluster))
                parts &= ~(guint) ALD_LIVE_LINKS;
        cluster->dirty &= ~parts;
        cluster->flushed_at = g_get_monotonic_time();
        refresh_lists(cluster, parts);
        parts |= refresh_devices(cluster, parts);
        g_hash_table_remove_all(cluster->changed_nodes);
        if (parts)
                g_signal_emit(cluster, signals[UPDATED], 0, parts);
}

static gboolean on_flush(void *userdata)
{
        AldLiveCluster *cluster = userdata;

        cluster->flush_id = 0;
        flush(cluster);
        return G_SOURCE_REMOVE;
}

static void flush_soon(AldLiveCluster *cluster, bool urgent)
{
        gint64 since = (g_get_monotonic_time() - cluster->flushed_at) / 1000;
        guint wait = urgent ? SET_MSEC : since >= FIGURES_MSEC ? 0 : FIGURES_MSEC - (guint) since;

        if (cluster->flush_id && (cluster->flush_is_urgent || !urgent))
                return;
        g_clear_handle_id(&cluster->flush_id, g_source_remove);
        cluster->flush_is_urgent = urgent;
        cluster->flush_id = g_timeout_add(wait, on_flush, cluster);
}

static guint parts_of_change(const AldChange *change)
{
        guint parts = ALD_LIVE_FIGURES;

        if (!change->entity)
                return ALD_LIVE_TOTALS;
        if (change->entity->is_link)
                return ALD_LIVE_LINKS;
        /* This is the first or last record of the node, or its name may have changed. There is a change for
         * each record, and most are neither. */
        if (change->type != ALD_CHANGE_CHANGED || strcmp(change->kind, "Node1.Identity") == 0)
                parts |= ALD_LIVE_NODE_SET | ALD_LIVE_LINKS;
        if (strcmp(change->kind, "Node1.Presence") == 0)
                parts |= ALD_LIVE_LINKS | ALD_LIVE_TOPOLOGY;
        return parts;
}

static void on_changed(AldModel *model, const AldChange *change, void *userdata)
{
        AldLiveCluster *cluster = userdata;
        guint parts = parts_of_change(change);

        cluster->dirty |= parts;
        if (change->entity && !change->entity->is_link &&
                !g_hash_table_contains(cluster->changed_nodes, change->entity->id))
                g_hash_table_add(cluster->changed_nodes, g_strdup(change->entity->id));
        flush_soon(cluster, parts & (ALD_LIVE_NODE_SET | ALD_LIVE_TOPOLOGY));
        ald_state_client_delay(cluster->client, READ_MSEC);
}

static void on_history_changed(bool turned, void *userdata)
{
        AldLiveCluster *cluster = userdata;

        cluster->dirty |= ALD_LIVE_FINDINGS | (turned ? ALD_LIVE_PAST : 0);
        flush_soon(cluster, false);
}

static gboolean on_tick(void *userdata)
{
        AldLiveCluster *cluster = userdata;
        AldFollow *follow = ald_state_client_follow(cluster->client);

        cluster->ticks++;
        if (cluster->ticks % REFRESH_TICKS == 0 && follow)
                ald_follow_refresh(follow);
        if (cluster->ticks % LINKS_TICKS == 0)
                cluster->dirty |= ALD_LIVE_LINKS;
        mark_unreported_changes(cluster);
        if (cluster->dirty)
                flush_soon(cluster, false);
        g_signal_emit(cluster, signals[TICK], 0);
        return G_SOURCE_CONTINUE;
}

/* The connection. */

/* Drops our references to the bus before the client closes it, since ssh ends with the last one. */
static void leave_bus(AldLiveCluster *cluster)
{
        ald_live_history_disconnect(cluster->history);
        cluster->bus = sd_bus_unref(cluster->bus);
}

static int open_bus(sd_bus **ret, void *userdata)
{
        AldLiveCluster *cluster = userdata;
        int r;

        leave_bus(cluster);
        cluster->reached = false;
        ald_fd_close(&cluster->complaints);
        r = ald_host_connection_open(cluster->host, &cluster->complaints, ret);
        if (r >= 0)
                cluster->bus = sd_bus_ref(*ret);
        return r;
}

static char *why_not_connected(AldLiveCluster *cluster)
{
        const char *place = ald_connection_place(cluster->host);
        /* If the connection has worked, the last line of ssh may be a mere warning. */
        g_autofree char *complaint = cluster->reached
                                             ? NULL
                                             : ald_host_connection_last_error_line(cluster->complaints);

        if (complaint)
                return g_strdup_printf(_("ssh cannot connect to %s: %s"), place, complaint);
        if (cluster->host && !cluster->has_data)
                return g_strdup_printf(
                        _("ssh cannot connect to %s, or systemd-stdio-bridge is missing there; "
                          "“ssh %s” in a terminal shows why"),
                        place, place);
        return g_strdup_printf(_("The connection to %s has ended"), place);
}

/* -EPIPE means that ssh ended before anything could be written to it. */
static char *why_not_started(AldLiveCluster *cluster, int r)
{
        if (cluster->host && r == -ENOENT)
                return g_strdup(_("ssh is not installed, so no other machine can be reached"));
        if (cluster->host && r == -EPIPE)
                return why_not_connected(cluster);
        return g_strdup_printf(
                _("Cannot connect to %s: %s"), ald_connection_place(cluster->host), g_strerror(-r));
}

static void retry_later(AldLiveCluster *cluster);

static void connect_now(AldLiveCluster *cluster)
{
        int r;

        g_clear_handle_id(&cluster->retry_id, g_source_remove);
        r = ald_state_client_resume(cluster->client);
        if (r >= 0)
                return;
        set_problem(cluster, why_not_started(cluster, r));
        retry_later(cluster);
}

static gboolean on_retry(void *userdata)
{
        AldLiveCluster *cluster = userdata;

        cluster->retry_id = 0;
        connect_now(cluster);
        return G_SOURCE_REMOVE;
}

static void retry_later(AldLiveCluster *cluster)
{
        guint wait = MIN(RETRY_LEAST_MSEC << MIN(cluster->retries, 10), RETRY_MOST_MSEC);

        if (!cluster->runs || cluster->retry_id)
                return;
        /* Reconnect only to a host that worked before; until then the user presses Try Again. */
        if (cluster->host && (!cluster->has_data || cluster->retries >= REMOTE_RETRIES))
                return;
        cluster->retries++;
        cluster->retry_id = g_timeout_add(wait, on_retry, cluster);
}

/* The lists are refreshed before the problem is cleared; otherwise old lists would appear to be current. */
static void on_synced(AldFollow *follow, void *userdata)
{
        AldLiveCluster *cluster = userdata;

        cluster->retries = 0;
        cluster->has_data = cluster->reached = true;
        ald_live_history_connect(cluster->history, cluster->bus);
        cluster->dirty |= ALD_LIVE_NODE_SET | ALD_LIVE_FIGURES | ALD_LIVE_TOPOLOGY | ALD_LIVE_LINKS |
                          ALD_LIVE_FINDINGS | ALD_LIVE_TOTALS;
        g_clear_handle_id(&cluster->flush_id, g_source_remove);
        flush(cluster);
        set_problem(cluster, NULL);
}

/* The service is neither running nor can the bus start it. */
static bool is_unknown_service(const sd_bus_error *error)
{
        return sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
               sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
}

static void on_lost(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        AldLiveCluster *cluster = userdata;
        g_autofree char *why = NULL;

        if (error && (sd_bus_error_has_name(error, SD_BUS_ERROR_DISCONNECTED) ||
                             sd_bus_error_get_errno(error) == ENOTCONN)) {
                leave_bus(cluster);
                set_problem(cluster, why_not_connected(cluster));
                retry_later(cluster);
                return;
        }
        if (error && sd_bus_error_has_name(error, ALD_FOLLOW_TOO_LARGE)) {
                leave_bus(cluster);
                set_problem(cluster, g_strdup_printf(_("%s sends more than a cluster of 10,000 nodes has, so "
                                                       "the connection was closed"),
                                             ald_connection_place(cluster->host)));
                return;
        }
        why = error && !is_unknown_service(error) ? ald_bus_error_words(error, ALD_STATE_UNIT) : NULL;
        set_problem(cluster, why ? g_strdup_printf(_("The state service cannot be read: %s"), why)
                                 : g_strdup(_("The state service is not running")));
}

static void on_refused(AldFollow *follow, const sd_bus_error *error, void *userdata)
{
        g_autofree char *why = error ? ald_text_safe_or_null(error->message) : NULL;

        if (ald_follow_in_step(follow))
                set_problem(userdata,
                        error ? g_strdup_printf(_("Some changes are not shown: %s"), why ?: "") : NULL);
}

static void create_client(AldLiveCluster *cluster)
{
        static const AldFollowHandler handler = {
                .synced = on_synced, .lost = on_lost, .refused = on_refused
        };
        const AldStateClientSetup setup = { .open = open_bus,
                .open_userdata = cluster,
                .handler = &handler,
                .userdata = cluster,
                .subscribe = true,
                .over_ssh = cluster->host != NULL };

        cluster->client = ald_state_client_new_paused(cluster->model, &setup);
}

static void start_or_stop(AldLiveCluster *cluster)
{
        bool runs = cluster->wanted || cluster->background;

        if (runs == cluster->runs)
                return;
        cluster->runs = runs;
        if (!runs) {
                g_clear_handle_id(&cluster->flush_id, g_source_remove);
                g_clear_handle_id(&cluster->tick_id, g_source_remove);
                g_clear_handle_id(&cluster->retry_id, g_source_remove);
                leave_bus(cluster);
                ald_state_client_pause(cluster->client);
                return;
        }
        if (cluster->has_data)
                set_problem(cluster, g_strdup(_("Reading what has changed meanwhile")));
        cluster->retries = 0;
        cluster->tick_id = g_timeout_add_seconds(TICK_SECONDS, on_tick, cluster);
        connect_now(cluster);
}

void ald_live_cluster_set_wanted(AldLiveCluster *cluster, bool wanted)
{
        cluster->wanted = wanted;
        start_or_stop(cluster);
}

bool ald_live_cluster_is_wanted(AldLiveCluster *cluster)
{
        return cluster->wanted;
}

void ald_live_cluster_set_background(AldLiveCluster *cluster, bool background)
{
        cluster->background = background;
        start_or_stop(cluster);
}

void ald_live_cluster_retry(AldLiveCluster *cluster)
{
        cluster->retries = 0;
        if (!cluster->runs || !cluster->problem)
                return;
        /* A service that could not be started is requested again only over a new connection. */
        leave_bus(cluster);
        ald_state_client_pause(cluster->client);
        set_problem(cluster, g_strdup(_("Connecting")));
        connect_now(cluster);
}

/* The object. */

static void ald_live_cluster_finalize(GObject *object)
{
        AldLiveCluster *cluster = ALD_LIVE_CLUSTER(object);

        g_clear_handle_id(&cluster->flush_id, g_source_remove);
        g_clear_handle_id(&cluster->tick_id, g_source_remove);
        g_clear_handle_id(&cluster->retry_id, g_source_remove);
        leave_bus(cluster);
        ald_state_client_free(cluster->client);
        ald_live_history_free(cluster->history);
        ald_cluster_devices_free(cluster->devices);
        ald_item_list_free(cluster->nodes);
        ald_item_list_free(cluster->links);
        ald_item_list_free(cluster->findings);
        ald_topology_summary_free(cluster->topology);
        ald_model_free(cluster->model);
        json_decref(cluster->findings_seen);
        ald_fd_close(&cluster->complaints);
        g_hash_table_unref(cluster->changed_nodes);
        g_free(cluster->host);
        g_free(cluster->problem);
        G_OBJECT_CLASS(ald_live_cluster_parent_class)->finalize(object);
}

static void ald_live_cluster_get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
        if (id == PROP_PROBLEM)
                g_value_set_string(value, ALD_LIVE_CLUSTER(object)->problem);
        else
                G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void ald_live_cluster_class_init(AldLiveClusterClass *class)
{
        GObjectClass *object_class = G_OBJECT_CLASS(class);

        object_class->finalize = ald_live_cluster_finalize;
        object_class->get_property = ald_live_cluster_get_property;
        properties[PROP_PROBLEM] = g_param_spec_string("problem", NULL, NULL, NULL,
                G_PARAM_READABLE | G_PARAM_STATIC_STRINGS | G_PARAM_EXPLICIT_NOTIFY);
        g_object_class_install_properties(object_class, N_PROPERTIES, properties);
        signals[UPDATED] = g_signal_new("updated", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                NULL, G_TYPE_NONE, 1, G_TYPE_UINT);
        signals[TICK] = g_signal_new(
                "tick", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void ald_live_cluster_init(AldLiveCluster *cluster)
{
        cluster->complaints = -1;
        cluster->model = ald_model_new();
        ald_model_add_topology(cluster->model, true);
        ald_model_watch(cluster->model, on_changed, cluster);
        cluster->changed_nodes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        cluster->nodes = ald_item_list_new(ALD_TYPE_NODE_ITEM, &node_list);
        cluster->links = ald_item_list_new(ALD_TYPE_LINK_ITEM, &link_list);
        cluster->devices = ald_cluster_devices_new(cluster->model);
        cluster->findings = ald_item_list_new(ALD_TYPE_FINDING_ITEM, &finding_list);
        cluster->history = ald_live_history_new(on_history_changed, cluster);
        refresh_topology(cluster);
}

AldLiveCluster *ald_live_cluster_new(const char *host)
{
        AldLiveCluster *cluster = g_object_new(ALD_TYPE_LIVE_CLUSTER, NULL);

        cluster->host = g_strdup(host);
        if (host)
                ald_model_limit(cluster->model, ALD_MODEL_REMOTE_MAX);
        create_client(cluster);
        cluster->problem = g_strdup(_("Connecting"));
        return cluster;
}

const char *ald_live_cluster_host(AldLiveCluster *cluster)
{
        return cluster->host;
}

const char *ald_live_cluster_problem(AldLiveCluster *cluster)
{
        return cluster->problem;
}

bool ald_live_cluster_has_data(AldLiveCluster *cluster)
{
        return cluster->has_data;
}

AldModel *ald_live_cluster_model(AldLiveCluster *cluster)
{
        return cluster->model;
}

const AldTopologySummary *ald_live_cluster_topology(AldLiveCluster *cluster)
{
        if (ald_model_topology(cluster->model)->n_taken != cluster->topology_taken)
                describe_topology(cluster);
        return cluster->topology;
}

AldLiveHistory *ald_live_cluster_history(AldLiveCluster *cluster)
{
        return cluster->history;
}

GListModel *ald_live_cluster_nodes(AldLiveCluster *cluster)
{
        return ald_item_list_model(cluster->nodes);
}

GListModel *ald_live_cluster_links(AldLiveCluster *cluster)
{
        return ald_item_list_model(cluster->links);
}

GListModel *ald_live_cluster_findings(AldLiveCluster *cluster)
{
        return ald_item_list_model(cluster->findings);
}

GListModel *ald_live_cluster_devices(AldLiveCluster *cluster)
{
        return ald_cluster_devices_model(cluster->devices);
}

void ald_live_cluster_want_devices(AldLiveCluster *cluster, bool wanted)
{
        cluster->devices_wanted = wanted;
        if (wanted)
                g_signal_emit(cluster, signals[UPDATED], 0, refresh_devices(cluster, ALD_LIVE_NODE_SET));
}
