/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/names.h"

json_t *ald_names_to_json(AldModel *model)
{
        const GPtrArray *nodes = ald_model_nodes(model);
        json_t *names = json_object();

        for (guint i = 0; i < nodes->len; i++) {
                const AldEntity *node = nodes->pdata[i];

                if (ald_entity_name(node))
                        json_object_set_new(names, node->id, json_string(ald_entity_name(node)));
        }
        return names;
}
