/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/rows-bus.h"
#include "record/record-bus.h"

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

int ald_rows_bus_append_brokers(sd_bus_message *message, const AldClusterManager *manager)
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

int ald_rows_bus_append_nodes(sd_bus_message *message, const AldClusterManager *manager)
{
        AldMember *member = ald_cluster_manager_member(manager);
        Rows rows = { message, sd_bus_message_open_container(message, 'a', "a{sv}") };

        append_own(&rows, manager);
        if (member)
                ald_nodes_foreach(ald_receiver_nodes(ald_member_receiver(member)), append_node, &rows);
        return close_rows(&rows);
}
