/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/history/node-names.h"
#include "record/character.h"
#include "record/id.h"

struct AldNodeNames {
        AldModel *model;
        GHashTable *counts; /* friendly name → number of nodes that have it */
};

AldNodeNames *ald_node_names_new(AldModel *model)
{
        AldNodeNames *names = g_new(AldNodeNames, 1);
        const GPtrArray *nodes = ald_model_nodes(model);

        names->model = model;
        names->counts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint i = 0; i < nodes->len; i++) {
                const char *name = ald_entity_name(nodes->pdata[i]);
                guint n = name ? GPOINTER_TO_UINT(g_hash_table_lookup(names->counts, name)) : 0;

                if (name)
                        g_hash_table_insert(names->counts, g_strdup(name), GUINT_TO_POINTER(n + 1));
        }
        return names;
}

void ald_node_names_free(AldNodeNames *names)
{
        g_hash_table_unref(names->counts);
        g_free(names);
}

char *ald_node_names_get(const AldNodeNames *names, const char *id)
{
        const char *name = ald_entity_name(ald_model_get(names->model, id));

        if (!name || !ald_characters_are_visible(name))
                return g_strndup(id, ALD_SHORT_ID_DIGITS);
        if (GPOINTER_TO_UINT(g_hash_table_lookup(names->counts, name)) <= 1 && !ald_id_reads_like(name))
                return g_strdup(name);
        return g_strdup_printf("%s (%.*s)", name, ALD_SHORT_ID_DIGITS, id);
}
