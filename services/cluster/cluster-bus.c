/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <systemd/sd-bus.h>

#include "common/bus-cleanup.h"
#include "common/excerpt.h"
#include "record/record-bus.h"
#include "services/cluster/cluster-bus.h"
#include "services/cluster/cluster-manager.h"
#include "services/common/errors.h"
#include "services/common/holders.h"
#include "services/common/polkit.h"
#include "services/common/record-export.h"

/* The rows, with the first error kept so that a walk needs no exit of its own. */
typedef struct Rows {
        sd_bus_message *message;
        int r;
} Rows;

static void append(Rows *rows, const AldStruct *type, const void *row)
{
        if (rows->r >= 0)
                rows->r = ald_record_bus_append_struct(rows->message, type, row);
}

static int close_rows(Rows *rows)
{
        return rows->r < 0 ? rows->r : sd_bus_message_close_container(rows->message);
}

/* The replies of GetBrokers() and GetNodes(), an aa{sv} each. */
static int rows_bus_append_brokers(sd_bus_message *message, const AldClusterManager *manager)
{
        AldMember *member = ald_cluster_manager_member(manager);
        AldBrokers *brokers = member ? ald_member_brokers(member) : NULL;
        Rows rows = { message, sd_bus_message_open_container(message, 'a', "a{sv}") };

        for (size_t i = 0; brokers && i < ald_brokers_count(brokers); i++) {
                AldBroker *broker = ald_brokers_get(brokers, i);
                g_autofree char *problem = ald_member_broker_problem(member, broker);
                const AldBrokerRow row = {
                        .address = ald_broker_address(broker),
                        .source = ald_broker_discovered(broker) ? "avahi" : "configured",
                        .state = ald_broker_state_name(ald_broker_state(broker)),
                        .publishing = broker == ald_brokers_first(brokers),
                        .problem = problem,
                        .certificate_expiry_usec = ald_broker_certificate_expiry(broker),
                };

                append(&rows, &ald_broker_row_struct, &row);
        }
        return close_rows(&rows);
}

static void append_own(Rows *rows, const AldClusterManager *manager)
{
        bool duplicate = ald_cluster_manager_state(manager) == ALD_CLUSTER_DUPLICATE;
        AldMember *member = ald_cluster_manager_member(manager);
        char id[ALD_ID_STRING_SIZE];
        const AldClusterNodeRow row = {
                .id = ald_id_format(ald_cluster_manager_own(manager), id),
                .state = duplicate ? "duplicate" : "online",
                .since_usec = ald_cluster_manager_since(manager),
                .lag_usec = ALD_ABSENT_UINT64,
                .clock_offset_usec = 0,
                .refused_messages = member ? ald_receiver_refused_own(ald_member_receiver(member)) : 0,
                .unknown_kinds = ALD_ABSENT_UINT64,
                .instance = ald_cluster_manager_instance(manager),
        };

        append(rows, &ald_cluster_node_row_struct, &row);
}

static gboolean append_node(AldClusterNode *node, void *userdata)
{
        const AldNodePresence *presence = &node->presence;
        char id[ALD_ID_STRING_SIZE], instance[ALD_ID_STRING_SIZE];
        const AldClusterNodeRow row = {
                .id = ald_id_format(&node->id, id),
                .state = ald_presence_state_to_string(presence->state),
                .since_usec = presence->since,
                .lag_usec = ald_presence_lag(presence),
                .clock_offset_usec = ald_presence_clock_offset(presence),
                .refused_messages = node->refused,
                .unknown_kinds = node->unknown_kinds > 0 ? node->unknown_kinds : ALD_ABSENT_UINT64,
                .instance = presence->has_instance ? ald_id_format(&presence->instance, instance) : NULL,
                .problem = node->problem,
        };

        if (!node->is_forgotten)
                append(userdata, &ald_cluster_node_row_struct, &row);
        return FALSE;
}

static int rows_bus_append_nodes(sd_bus_message *message, const AldClusterManager *manager)
{
        AldMember *member = ald_cluster_manager_member(manager);
        Rows rows = { message, sd_bus_message_open_container(message, 'a', "a{sv}") };

        append_own(&rows, manager);
        if (member)
                ald_nodes_foreach(ald_receiver_nodes(ald_member_receiver(member)), append_node, &rows);
        return close_rows(&rows);
}

#define INTERFACE "org.alidade.Cluster1"
#define ACTION_FORGET "org.alidade.cluster.forget"
#define ACTION_CONFIGURE "org.alidade.cluster.configure"

/* The values of changing properties that were last emitted. */
typedef struct Shown {
        char *cluster_name, *problem, *instance;
        const char *state, *mirror;
        int mirroring;
        uint64_t certificate_expiry_usec;
} Shown;

struct AldClusterBus {
        AldService *service;
        AldClusterManager *manager;
        AldHolders *mirrors;
        Shown shown;
        guint update;
        sd_bus_slot *slot;
        AldRecordExport *membership;
        bool has_membership; /* it was sent one */
};

static void shown_clear(Shown *shown)
{
        g_free(shown->cluster_name);
        g_free(shown->problem);
        g_free(shown->instance);
}

static Shown look(const AldClusterManager *manager)
{

        return (Shown){
                .cluster_name = g_strdup(ald_cluster_manager_name(manager)),
                .problem = ald_cluster_manager_problem(manager),
                .instance = g_strdup(ald_cluster_manager_instance(manager)),
                .state = ald_cluster_state_name(ald_cluster_manager_state(manager)),
                .mirror = ald_mirror_mode_name(ald_cluster_manager_mirror(manager)),
                .mirroring = ald_cluster_manager_is_mirroring(manager),
                .certificate_expiry_usec = ald_cluster_manager_certificate_expiry(manager),
        };
}

static void emit_changes(AldClusterBus *self, const Shown *before, const Shown *after)
{
        char *names[8] = { NULL };
        unsigned n = 0;
        int r;

        if (!g_str_equal(before->cluster_name, after->cluster_name))
                names[n++] = (char *) "ClusterName";
        if (!g_str_equal(before->state, after->state))
                names[n++] = (char *) "State";
        if (!g_str_equal(before->problem, after->problem))
                names[n++] = (char *) "Problem";
        if (!g_str_equal(before->instance, after->instance))
                names[n++] = (char *) "Instance";
        if (!g_str_equal(before->mirror, after->mirror))
                names[n++] = (char *) "Mirror";
        if (before->mirroring != after->mirroring)
                names[n++] = (char *) "Mirroring";
        if (before->certificate_expiry_usec != after->certificate_expiry_usec)
                names[n++] = (char *) "CertificateExpiryUSec";
        if (n == 0)
                return;
        r = sd_bus_emit_properties_changed_strv(
                ald_service_bus(self->service), ALD_CLUSTER_PATH, INTERFACE, names);
        if (r < 0)
                g_warning("Cannot emit PropertiesChanged: %s", g_strerror(-r));
}

/* A machine that has not been in a cluster since the start has no membership to report. */
static void update_membership(AldClusterBus *self)
{
        AldMembershipMade made;

        if (*ald_cluster_manager_name(self->manager))
                self->has_membership = true;
        if (!self->has_membership)
                return;
        ald_cluster_manager_membership(self->manager, &made);
        (void) ald_record_export_update(self->membership, &made.fields);
}

static gboolean on_update(gpointer userdata)
{
        AldClusterBus *self = userdata;
        Shown before = self->shown;

        self->update = 0;
        self->shown = look(self->manager);
        emit_changes(self, &before, &self->shown);
        shown_clear(&before);
        update_membership(self);
        return G_SOURCE_REMOVE;
}

/* Emits changes together, and not at all if a value changes back. */
static void on_changed(void *userdata)
{
        AldClusterBus *self = userdata;

        if (self->update == 0)
                self->update = g_idle_add_full(G_PRIORITY_DEFAULT, on_update, self, NULL);
}

static int get_refused_messages(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldClusterBus *self = userdata;

        return sd_bus_message_append(reply, "t", ald_cluster_manager_refused(self->manager));
}

static int get_refused_signals(sd_bus *bus, const char *path, const char *interface, const char *property,
        sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
        const AldClusterBus *self = userdata;

        return sd_bus_message_append(reply, "t", ald_service_refused_signals(self->service));
}

static int reply_rows(sd_bus_message *message, const AldClusterManager *manager,
        int (*append_rows)(sd_bus_message *message, const AldClusterManager *manager))
{
        g_autoptr(AldMessage) reply = NULL;
        int r;

        r = sd_bus_message_new_method_return(message, &reply);
        if (r >= 0)
                r = append_rows(reply, manager);
        return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

static int method_get_brokers(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldClusterBus *self = userdata;

        return reply_rows(message, self->manager, rows_bus_append_brokers);
}

static int method_get_nodes(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldClusterBus *self = userdata;

        return reply_rows(message, self->manager, rows_bus_append_nodes);
}

static int forget(AldClusterBus *self, const char *text, const AldId *id, sd_bus_error *error)
{
        AldMember *member = ald_cluster_manager_member(self->manager);
        int r = member ? ald_member_forget(member, id) : -ALD_E_NOT_JOINED;

        switch (r) {
        case -ALD_E_NO_SUCH_NODE:
                return sd_bus_error_setf(error, ALD_ERROR_NO_SUCH_NODE, "Unknown node %s", text);
        case -ALD_E_NODE_ONLINE:
                return sd_bus_error_setf(error, ALD_ERROR_NODE_ONLINE, "Node %s is not offline", text);
        case -ALD_E_NOT_JOINED:
                return sd_bus_error_set(error, ALD_ERROR_NOT_JOINED,
                        "Not connected to a broker, so other nodes cannot be notified");
        case -ALD_E_COMMON_LIMIT:
                return sd_bus_error_set(
                        error, SD_BUS_ERROR_LIMITS_EXCEEDED, "Limit of forgotten nodes reached");
        default:
                return r;
        }
}

static int method_forget(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldClusterBus *self = userdata;
        const char *text;
        AldId id;
        int r;

        r = sd_bus_message_read(message, "s", &text);
        if (r < 0)
                return r;
        if (ald_id_parse(text, &id) < 0) {
                g_autofree char *excerpt = ald_excerpt(text);
                return sd_bus_error_setf(error, SD_BUS_ERROR_INVALID_ARGS, "Invalid node id: %s", excerpt);
        }
        r = ald_polkit_authorize(self->service, message, ACTION_FORGET, method_forget, userdata, error);
        if (r <= 0)
                return r < 0 ? r : 1;
        r = forget(self, text, &id, error);
        return r < 0 ? r : sd_bus_reply_method_return(message, NULL);
}

static int method_reload(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldClusterBus *self = userdata;
        int r = ald_polkit_authorize(
                self->service, message, ACTION_CONFIGURE, method_reload, userdata, error);

        if (r <= 0)
                return r < 0 ? r : 1;
        ald_service_reload(self->service);
        on_changed(self);
        return sd_bus_reply_method_return(message, NULL);
}

static int method_mirror(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldClusterBus *self = userdata;
        int r = ald_holders_add(self->mirrors, message);

        return r < 0 ? ald_holders_refuse(r, "Mirror", error) : sd_bus_reply_method_return(message, NULL);
}

static int method_unmirror(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldClusterBus *self = userdata;
        int r = ald_holders_remove(self->mirrors, message);

        if (r == -ENOENT)
                return sd_bus_error_set(
                        error, ALD_ERROR_NOT_MIRRORED, "This connection has not called Mirror()");
        return r < 0 ? r : sd_bus_reply_method_return(message, NULL);
}

static void on_mirrors(const char *name, uid_t uid, bool held, void *userdata)
{
        AldClusterBus *self = userdata;

        ald_cluster_manager_set_wanted(self->manager, ald_holders_any(self->mirrors));
}

#define SHOWN(name, type, member)                                                \
        SD_BUS_PROPERTY(name, type, NULL, offsetof(AldClusterBus, shown.member), \
                SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE)

static const sd_bus_vtable cluster_vtable[] = { SD_BUS_VTABLE_START(0),
        SHOWN("ClusterName", "s", cluster_name), SHOWN("State", "s", state), SHOWN("Problem", "s", problem),
        SHOWN("Instance", "s", instance), SHOWN("Mirror", "s", mirror), SHOWN("Mirroring", "b", mirroring),
        SD_BUS_PROPERTY("RefusedMessages", "t", get_refused_messages, 0, 0),
        SD_BUS_PROPERTY("RefusedSignals", "t", get_refused_signals, 0, 0),
        SHOWN("CertificateExpiryUSec", "t", certificate_expiry_usec),
        SD_BUS_METHOD_WITH_ARGS("GetBrokers", SD_BUS_NO_ARGS, SD_BUS_RESULT("aa{sv}", Brokers),
                method_get_brokers, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("GetNodes", SD_BUS_NO_ARGS, SD_BUS_RESULT("aa{sv}", Nodes), method_get_nodes,
                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD_WITH_ARGS("Forget", SD_BUS_ARGS("s", Node), SD_BUS_NO_RESULT, method_forget,
                SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Reload", NULL, NULL, method_reload, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Mirror", NULL, NULL, method_mirror, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_METHOD("Unmirror", NULL, NULL, method_unmirror, SD_BUS_VTABLE_UNPRIVILEGED),
        SD_BUS_VTABLE_END };

/* sd-bus mixes no fallbacks, which records are, with others on one object. */
static int find_cluster(sd_bus *bus, const char *path, const char *interface, void *userdata,
        void **ret_found, sd_bus_error *error)
{
        if (!g_str_equal(path, ALD_CLUSTER_PATH))
                return 0;
        *ret_found = userdata;
        return 1;
}

int ald_cluster_bus_new(AldService *service, AldClusterManager *manager, AldClusterBus **ret)
{
        g_autoptr(AldClusterBus) self = g_new0(AldClusterBus, 1);
        int r;

        self->service = service;
        self->manager = manager;
        self->mirrors = ald_holders_new(service, on_mirrors, self);
        self->shown = look(manager);
        ald_cluster_manager_watch(manager, on_changed, self);
        r = sd_bus_add_fallback_vtable(ald_service_bus(service), &self->slot, ALD_CLUSTER_PATH, INTERFACE,
                cluster_vtable, find_cluster, self);
        if (r >= 0)
                r = ald_record_export_new(service, ALD_CLUSTER_PATH, ALD_KIND_MEMBERSHIP, &self->membership);
        if (r < 0)
                return r;
        update_membership(self);
        *ret = g_steal_pointer(&self);
        return 0;
}

void ald_cluster_bus_free(AldClusterBus *self)
{
        if (!self)
                return;
        ald_cluster_manager_watch(self->manager, NULL, NULL);
        g_clear_handle_id(&self->update, g_source_remove);
        sd_bus_slot_unref(self->slot);
        ald_record_export_free(self->membership);
        ald_holders_free(self->mirrors);
        shown_clear(&self->shown);
        g_free(self);
}
