/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/alidadectl/links/names.h"
#include "clients/alidadectl/fields.h"

GPtrArray *ald_links_of(AldModel *model, const AldEntity *node)
{
        const GPtrArray *links = ald_model_links(model);
        GPtrArray *own = g_ptr_array_new();

        for (guint i = 0; i < links->len; i++) {
                const AldEntity *link = links->pdata[i];
                bool ends_here = !node;
                const char *kind;
                json_t *fields;

                json_object_foreach(link->records, kind, fields) {
                        ends_here |= node && g_strcmp0(ald_field_text(fields, "Sink"), node->id) == 0;
                }
                if (ends_here || g_str_has_prefix(link->id, node->id))
                        g_ptr_array_add(own, (void *) link);
        }
        return own;
}

const char *ald_friendly_name(AldModel *model, const char *id)
{
        return ald_field_text(ald_entity_record(ald_model_get(model, id), "Node1.Identity"), "FriendlyName");
}

json_t *ald_names_to_json(AldModel *model)
{
        const GPtrArray *nodes = ald_model_nodes(model);
        json_t *names = json_object();

        for (guint i = 0; i < nodes->len; i++) {
                const AldEntity *node = nodes->pdata[i];
                const char *name = ald_friendly_name(model, node->id);

                if (name)
                        json_object_set_new(names, node->id, json_string(name));
        }
        return names;
}
