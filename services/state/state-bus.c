/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stddef.h>

#include "common/bus-cleanup.h"
#include "common/excerpt.h"
#include "record/record-bus.h"
#include "services/common/errors.h"
#include "services/common/holders.h"
#include "services/common/vtables.h"
#include "services/state/history-peer-bus.h"
#include "services/state/object-paths.h"
#include "services/state/probes-bus.h"
#include "services/state/put-bus.h"
#include "services/state/records-bus.h"
#include "services/state/reports-bus.h"
#include "services/state/state-bus.h"
#include "services/state/topology-bus.h"
#include "services/state/totals-bus.h"
#include "services/state/totals-watch.h"
#include "state/store/digest.h"

struct AldStateBus {
        AldService *service;
        AldStateManager *manager;
        AldStore *store;
        AldClusterPeer *cluster;
        AldSignals *signals;
        AldHolders *subscribers;
        AldTotalsWatch *totals;
        sd_bus_slot *calls;
        AldTopologyWatch *topology;
        AldFindingsWatch *findings;
        AldHistoryPeer *history;
        AldProperties properties;
        char node_id[ALD_ID_STRING_SIZE];
};

/* Sends a reply of about this many bytes, or the error `r` that occurred while it was made. */
static int send_reply(AldStateBus *self, sd_bus_message *call, sd_bus_message *reply, int r, size_t bytes,
        sd_bus_error *error)
{
        if (r == -E2BIG)
                return sd_bus_error_set(error, SD_BUS_ERROR_LIMITS_EXCEEDED,
                        "The reply would exceed 16 MiB; use GetRecords() to page through the records");
        if (r < 0)
                return r;
        ald_service_note_reply(self->service, call, bytes);
        return sd_bus_send(NULL, reply, NULL);
}

/* Answers GetMemories() and similar methods, whose names contain the mapping of a kind. */
static int method_get_mapping(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;
        const char *mapping = sd_bus_message_get_member(message) + strlen("Get");
        g_autoptr(AldMessage) reply = NULL;
        size_t bytes = 0;
        unsigned kind = 0;
        int r;

        while (kind < ALD_N_NODE_KINDS && !g_str_equal(ald_kinds[kind].mapping, mapping))
                kind++;
        g_assert(kind < ALD_N_NODE_KINDS);
        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = ald_records_bus_append_nodes(reply, self->store, kind, &bytes);
        return send_reply(self, message, reply, r, bytes, error);
}

static int method_get_links(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;
        g_autoptr(AldMessage) reply = NULL;
        size_t bytes = 0;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = ald_records_bus_append_links(reply, self->store, &bytes);
        return send_reply(self, message, reply, r, bytes, error);
}

static int reply_graph(AldStateBus *self, sd_bus_message *message, bool of_pairs, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        uint64_t since, after;
        size_t bytes = 0;
        int r;

        r = sd_bus_message_read(message, "tt", &since, &after);
        if (r < 0)
                return ald_error_unreadable(r, error);
        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = ald_topology_bus_append(reply, self->topology, of_pairs, since, after, &bytes);
        return send_reply(self, message, reply, r, bytes, error);
}

static int method_get_topology(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return reply_graph(userdata, message, false, error);
}

static int method_get_pairs(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return reply_graph(userdata, message, true, error);
}

static int method_get_findings(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;
        g_autoptr(AldMessage) reply = NULL;
        size_t bytes = 0;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = ald_reports_bus_append_findings(reply, self->manager, &bytes);
        return send_reply(self, message, reply, r, bytes, error);
}

static int method_get_due_probes(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;
        g_autoptr(AldMessage) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = ald_probes_bus_answer(message, self->manager, reply, error);
        return send_reply(self, message, reply, r, ALD_PROBES_SIZE_MAX, error);
}

typedef struct NameSearch {
        const char *name;
        AldNode *found;
        unsigned n;
} NameSearch;

static gboolean match_name(AldNode *node, void *userdata)
{
        NameSearch *search = userdata;
        const AldIdentity *identity = ald_node_as(node, IDENTITY, AldIdentity);

        if (identity && g_strcmp0(identity->friendly_name, search->name) == 0) {
                search->found = node;
                search->n++;
        }
        return FALSE;
}

static int find_node(AldStateBus *self, const char *name, AldNode **ret, sd_bus_error *error)
{
        g_autofree char *excerpt = ald_excerpt(name);
        NameSearch search = { .name = name };
        AldId id;

        if (ald_id_parse(name, &id) >= 0)
                search.found = ald_store_find_node(self->store, &id);
        else
                ald_store_foreach_node(self->store, match_name, &search);
        if (!search.found)
                return sd_bus_error_setf(error, ALD_ERROR_NO_SUCH_NODE, "Unknown node %s", excerpt);
        if (search.n > 1)
                return sd_bus_error_setf(error, ALD_ERROR_AMBIGUOUS_NAME, "%u nodes are named %s; use an id",
                        search.n, excerpt);
        *ret = search.found;
        return 0;
}

static int method_get_fabric(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;
        g_autoptr(AldMessage) reply = NULL;
        size_t bytes = 0;
        AldNode *node = NULL;
        const char *name;
        int r;

        r = sd_bus_message_read(message, "s", &name);
        if (r < 0)
                return ald_error_unreadable(r, error);
        if (*name)
                r = find_node(self, name, &node, error);
        if (r < 0)
                return r;
        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = ald_reports_bus_append_fabric(reply, self->store,
                        ald_graph_segments(ald_topology_watch_graph(self->topology)), node, &bytes);
        return send_reply(self, message, reply, r, bytes, error);
}

static int method_get_profile(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;
        g_autoptr(AldMessage) reply = NULL;
        size_t bytes = 0;
        AldNode *node = NULL;
        const char *name;
        int r;

        r = sd_bus_message_read(message, "s", &name);
        if (r < 0)
                return ald_error_unreadable(r, error);
        r = find_node(self, name, &node, error);
        if (r < 0)
                return r;
        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = ald_records_bus_append_profile(reply, node, &bytes);
        return send_reply(self, message, reply, r, bytes, error);
}

static int reply_page(
        AldStateBus *self, sd_bus_message *message, const AldPageRequest *request, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;
        size_t bytes = 0;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = ald_records_bus_append_page(reply, self->store, request, &bytes);
        if (r == -EINVAL) {
                g_autofree char *excerpt = ald_excerpt(request->cursor);
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Invalid cursor: %s", excerpt);
        }
        return send_reply(self, message, reply, r, bytes, error);
}

/* Finds a kind by its name; an empty name means all kinds, -1. */
static int find_kind(const char *name, int *ret, sd_bus_error *error)
{
        int kind = *name ? ald_kind_from_name(name) : -1;

        if (*name && kind < 0) {
                g_autofree char *excerpt = ald_excerpt(name);
                return sd_bus_error_setf(error, ALD_ERROR_NO_SUCH_KIND, "Unknown kind %s", excerpt);
        }
        *ret = kind;
        return 0;
}

static int reply_records(AldStateBus *self, sd_bus_message *message, bool as_lines, sd_bus_error *error)
{
        AldPageRequest request = { .as_lines = as_lines };
        const char *kind_name;
        int r;

        r = sd_bus_message_read(message, "sst", &kind_name, &request.cursor, &request.max);
        if (r < 0)
                return ald_error_unreadable(r, error);
        r = find_kind(kind_name, &request.kind, error);
        return r < 0 ? r : reply_page(self, message, &request, error);
}

static int method_get_records(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return reply_records(userdata, message, false, error);
}

static int method_describe_records(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return reply_records(userdata, message, true, error);
}

static int method_get_local_records(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;
        AldPageRequest request = { .only = ald_store_local_node(self->store), .kind = -1 };
        int r;

        r = sd_bus_message_read(message, "st", &request.cursor, &request.max);
        return r < 0 ? ald_error_unreadable(r, error) : reply_page(self, message, &request, error);
}

typedef int (*PutReader)(
        sd_bus_message *message, AldStateManager *manager, uint64_t *ret_accepted, uint64_t *ret_refused);

static int put_updates(AldStateBus *self, sd_bus_message *message, PutReader read, sd_bus_error *error)
{
        uint64_t accepted, refused;
        int r;

        if (!ald_cluster_peer_is_sender(self->cluster, message))
                return sd_bus_error_set(error, SD_BUS_ERROR_ACCESS_DENIED,
                        "Only the owner of org.alidade.Cluster1 may put records and presences of other "
                        "nodes");
        r = read(message, self->manager, &accepted, &refused);
        if (r < 0)
                return ald_error_unreadable(r, error);
        return sd_bus_reply_method_return(message, "tt", accepted, refused);
}

static int method_put_records(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return put_updates(userdata, message, ald_put_bus_read, error);
}

static int method_put_presences(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        return put_updates(userdata, message, ald_put_bus_read_presences, error);
}

static int method_get_digest(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;
        const char *kind_name;
        AldDigest digest;
        char text[17];
        int r, kind;

        r = sd_bus_message_read(message, "s", &kind_name);
        if (r < 0)
                return ald_error_unreadable(r, error);
        r = find_kind(kind_name, &kind, error);
        if (r < 0)
                return r;
        digest = ald_digest_compute(self->store, kind);
        g_snprintf(text, sizeof text, "%016" G_GINT64_MODIFIER "x", digest.sum);
        return sd_bus_reply_method_return(message, "ts", digest.count, text);
}

static int method_subscribe(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;
        int r = ald_holders_add(self->subscribers, message);

        return r < 0 ? ald_holders_set_error(r, "Subscribe", error)
                     : sd_bus_reply_method_return(message, NULL);
}

static int method_unsubscribe(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;
        int r = ald_holders_remove(self->subscribers, message);

        if (r == -ENOENT)
                return sd_bus_error_set(
                        error, ALD_ERROR_NOT_SUBSCRIBED, "This connection has not subscribed");
        return r < 0 ? r : sd_bus_reply_method_return(message, NULL);
}

static void on_subscriber(const char *name, uid_t uid, bool held, void *userdata)
{
        AldStateBus *self = userdata;

        if (held)
                (void) ald_signals_subscribe(self->signals, name, uid);
        else
                ald_signals_unsubscribe(self->signals, name);
}

/* Each property has its own getter call, so the totals are computed before the first one. */
static int on_call(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldStateBus *self = userdata;

        if (sd_bus_message_is_method_call(message, "org.freedesktop.DBus.Properties", NULL))
                ald_totals_watch_refresh(self->totals);
        return 0;
}

static int get_tflops_fp16_left_out_reasons(sd_bus *bus, const char *path, const char *interface,
        const char *property, sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldStateBus *self = userdata;

        return ald_totals_bus_append_reasons(
                reply, ald_totals_watch_totals(self->totals)->tflops_fp16_reasons);
}

static int get_memory_bandwidth_left_out_reasons(sd_bus *bus, const char *path, const char *interface,
        const char *property, sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldStateBus *self = userdata;

        return ald_totals_bus_append_reasons(
                reply, ald_totals_watch_totals(self->totals)->memory_bandwidth_reasons);
}

/* The changes of these are signalled by totals-watch.h. */
static void read_properties(const void *of, void *ret, GPtrArray *owned)
{
        const AldStateBus *self = of;
        AldClusterTotals *properties = ret;

        *properties = ald_totals_watch_totals(self->totals)->figures;
        properties->refused_records = ald_state_manager_refused(self->manager);
        properties->refused_signals = ald_service_refused_signals(self->service);
}

static const sd_bus_vtable vtable[] = { ALD_STATE1_VTABLE(AldStateBus) };

int ald_state_bus_new(AldService *service, AldStateManager *manager, AldClusterPeer *cluster,
        AldSignals *signals, const AldId *local, AldStateBus **ret)
{
        g_autoptr(AldStateBus) self = g_new0(AldStateBus, 1);
        int r;

        self->service = service;
        self->manager = manager;
        self->store = ald_state_manager_store(manager);
        self->cluster = cluster;
        self->signals = signals;
        self->properties = (AldProperties){ .service = service,
                .interface = "org.alidade.State1",
                .type = &ald_cluster_totals_struct,
                .read = read_properties,
                .of = self };
        (void) ald_id_format(local, self->node_id);
        self->subscribers = ald_holders_new(service, on_subscriber, self);
        self->topology = ald_topology_watch_new(manager, signals);
        self->findings = ald_findings_watch_new(manager, signals);
        self->totals = ald_totals_watch_new(manager, signals, self->node_id);
        r = sd_bus_add_object(ald_service_bus(service), &self->calls, ALD_STATE_PATH, on_call, self);
        if (r >= 0)
                r = ald_properties_export(&self->properties, vtable);
        if (r >= 0)
                r = ald_history_peer_new(service, manager, self->findings, &self->history);
        if (r < 0)
                return r;
        *ret = g_steal_pointer(&self);
        return 0;
}

void ald_state_bus_free(AldStateBus *self)
{
        if (!self)
                return;
        ald_properties_clear(&self->properties);
        sd_bus_slot_unref(self->calls);
        ald_totals_watch_free(self->totals);
        ald_topology_watch_free(self->topology);
        ald_history_peer_free(self->history);
        ald_findings_watch_free(self->findings);
        ald_holders_free(self->subscribers);
        g_free(self);
}
