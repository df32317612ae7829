/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/common/node-name.h"
#include "clients/common/safe-text.h"

#define SHORT_ID_LENGTH 8

static char *shorten(const char *id)
{
        g_autofree char *safe = ald_text_safe(id);

        return g_utf8_substring(safe, 0, MIN(g_utf8_strlen(safe, -1), SHORT_ID_LENGTH));
}

char *ald_entity_label(const AldEntity *entity)
{
        const char *name = ald_entity_name(entity);
        g_autofree char *label = NULL;

        if (entity->is_link)
                return ald_text_safe(entity->id);
        label = name ? g_strstrip(ald_text_safe(name)) : NULL;
        return label && label[0] ? g_steal_pointer(&label) : shorten(entity->id);
}

char *ald_node_name(AldModel *model, const char *id)
{
        const AldEntity *node = ald_model_get(model, id);

        if (node)
                return ald_entity_label(node);
        return id ? shorten(id) : NULL;
}
