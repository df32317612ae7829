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
#include "services/common/vtables.h"

/* A list of rows that is being appended to a message. It keeps the first error, so that callers check once,
 * at the end. */
typedef struct Rows {
        sd_bus_message *message;
        int r;
} Rows;

static void append_row(Rows *rows, const AldStruct *type, const void *row)
{
        if (rows->r >= 0)
                rows->r = ald_record_bus_append_struct(rows->message, type, row);
}

static int close_rows(Rows *rows)
{
        return rows->r < 0 ? rows->r : sd_bus_message_close_container(rows->message);
}

/* The replies of GetBrokers() and GetNodes() are of type aa{sv}. */
static int append_brokers(sd_bus_message *message, const AldClusterManager *manager)
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

                append_row(&rows, &ald_broker_row_struct, &row);
        }
        return close_rows(&rows);
}

static void append_own_row(Rows *rows, const AldClusterManager *manager)
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

        append_row(rows, &ald_cluster_node_row_struct, &row);
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
                append_row(userdata, &ald_cluster_node_row_struct, &row);
        return FALSE;
}

static int append_nodes(sd_bus_message *message, const AldClusterManager *manager)
{
        AldMember *member = ald_cluster_manager_member(manager);
        Rows rows = { message, sd_bus_message_open_container(message, 'a', "a{sv}") };

        append_own_row(&rows, manager);
        if (member)
                ald_nodes_foreach(ald_receiver_nodes(ald_member_receiver(member)), append_node, &rows);
        return close_rows(&rows);
}

#define INTERFACE "org.alidade.Cluster1"
#define ACTION_FORGET "org.alidade.cluster.forget"
#define ACTION_CONFIGURE "org.alidade.cluster.configure"

struct AldClusterBus {
        AldService *service;
        AldClusterManager *manager;
        AldHolders *mirrors;
        AldProperties properties;
        guint update;
        AldRecordExport *membership;
        bool has_membership; /* the state service was sent one */
};

static void read_properties(const void *of, void *ret, GPtrArray *owned)
{
        const AldClusterBus *self = of;
        const AldClusterManager *manager = self->manager;
        char *problem = ald_cluster_manager_problem(manager);

        g_ptr_array_add(owned, problem);
        *(AldClusterProperties *) ret = (AldClusterProperties){
                .cluster_name = ald_cluster_manager_name(manager),
                .state = ald_cluster_state_name(ald_cluster_manager_state(manager)),
                .problem = problem,
                .instance = ald_cluster_manager_instance(manager),
                .mirror = ald_mirror_mode_name(ald_cluster_manager_mirror(manager)),
                .mirroring = ald_cluster_manager_is_mirroring(manager),
                .refused_messages = ald_cluster_manager_refused(manager),
                .refused_signals = ald_service_refused_signals(self->service),
                .certificate_expiry_usec = ald_cluster_manager_certificate_expiry(manager),
        };
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

        self->update = 0;
        ald_properties_emit(&self->properties);
        update_membership(self);
        return G_SOURCE_REMOVE;
}

/* Schedules one emission for all changes of this turn of the main loop; a value that changes back is not
 * emitted. */
static void on_changed(void *userdata)
{
        AldClusterBus *self = userdata;

        if (self->update == 0)
                self->update = g_idle_add_full(G_PRIORITY_DEFAULT, on_update, self, NULL);
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

        return reply_rows(message, self->manager, append_brokers);
}

static int method_get_nodes(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        AldClusterBus *self = userdata;

        return reply_rows(message, self->manager, append_nodes);
}

static int forget_node(AldClusterBus *self, const char *text, const AldId *id, sd_bus_error *error)
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
        r = forget_node(self, text, &id, error);
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

        return r < 0 ? ald_holders_set_error(r, "Mirror", error) : sd_bus_reply_method_return(message, NULL);
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

static const sd_bus_vtable vtable[] = { ALD_CLUSTER1_VTABLE(AldClusterBus) };

int ald_cluster_bus_new(AldService *service, AldClusterManager *manager, AldClusterBus **ret)
{
        g_autoptr(AldClusterBus) self = g_new0(AldClusterBus, 1);
        int r;

        self->service = service;
        self->manager = manager;
        self->mirrors = ald_holders_new(service, on_mirrors, self);
        self->properties = (AldProperties){ .service = service,
                .interface = INTERFACE,
                .type = &ald_cluster_properties_struct,
                .read = read_properties,
                .of = self };
        ald_cluster_manager_watch(manager, on_changed, self);
        r = ald_properties_export(&self->properties, vtable);
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
        ald_properties_clear(&self->properties);
        ald_record_export_free(self->membership);
        ald_holders_free(self->mirrors);
        g_free(self);
}
