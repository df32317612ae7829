/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/history/model-paths.h"

static int state_of(const AldEntity *node)
{
        const AldPresence *presence = ald_entity_as(node, PRESENCE, AldPresence);

        return presence && presence->state ? ald_presence_state_from_string(presence->state) : -1;
}

bool ald_node_is_heard(AldModel *model, const AldEntity *node)
{
        int state = state_of(node);

        return g_strcmp0(node->id, ald_model_node_id(model)) == 0 || state < 0 ||
               state == ALD_PRESENCE_STATE_ONLINE || state == ALD_PRESENCE_STATE_STALE;
}

static void add_node(
        AldAlertPaths *paths, AldModel *model, const AldEntity *entity, const AldNodeNames *names)
{
        g_autofree char *name = ald_node_names_get(names, entity->id);
        AldAlertNode node = { .name = name,
                .offline = state_of(entity) == ALD_PRESENCE_STATE_OFFLINE,
                .counts = ald_node_is_heard(model, entity),
                .network = ald_entity_as(entity, NETWORK, AldNetwork),
                .fabric = ald_entity_as(entity, FABRIC, AldFabric) };

        if (ald_id_parse(entity->id, &node.id) >= 0)
                ald_alert_paths_add_node(paths, &node);
}

AldAlertPaths *ald_model_paths_new(AldModel *model, const AldNodeNames *names)
{
        AldAlertPaths *paths = ald_alert_paths_new();
        const GPtrArray *nodes = ald_model_nodes(model), *links = ald_model_links(model);

        for (guint i = 0; i < nodes->len; i++)
                add_node(paths, model, nodes->pdata[i], names);
        for (guint i = 0; i < links->len; i++) {
                const AldEntity *entity = links->pdata[i];

                for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                        const AldRecord *record = ald_entity_record(entity, kind);
                        AldLink link;

                        if (!record)
                                continue;
                        link = ald_link_of_record(record);
                        ald_alert_paths_add_link(paths, &link);
                }
        }
        return paths;
}
