/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include <systemd/sd-bus.h>

#include "services/state/object-paths.h"

static const char *prefix_of(AldKind kind)
{
        return kind == ALD_KIND_LINK_SOCKET ? ALD_STATE_LINK_PATH "/socket" : ALD_STATE_LINK_PATH "/rdma";
}

char *ald_path_of_node(const AldNode *node)
{
        char id[ALD_ID_STRING_SIZE];

        return g_strconcat(ALD_STATE_NODE_PATH "/", ald_id_format(&node->id, id), NULL);
}

char *ald_path_of_entry(const AldEntry *entry)
{
        g_autofree char *source = NULL;
        char id[ALD_ID_STRING_SIZE];
        char *path;

        if (!entry->key)
                return ald_path_of_node(entry->node);
        source = g_strconcat(prefix_of(entry->kind), "/", ald_id_format(&entry->node->id, id), NULL);
        /* This fails only if there is no memory, in which case GLib ends the process as well. */
        if (sd_bus_path_encode(source, entry->key, &path) < 0)
                g_error("Out of memory");
        return path;
}

AldNode *ald_path_find_node(AldStore *store, const char *path)
{
        AldId id;

        if (!g_str_has_prefix(path, ALD_STATE_NODE_PATH "/"))
                return NULL;
        if (ald_id_parse(path + strlen(ALD_STATE_NODE_PATH "/"), &id) < 0)
                return NULL;
        return ald_store_find_node(store, &id);
}

AldEntry *ald_path_find_link(AldStore *store, AldKind kind, const char *path)
{
        const char *prefix = prefix_of(kind);
        char id_string[ALD_ID_STRING_SIZE], source[128];
        g_autofree char *key = NULL;
        AldId id;
        int r;

        if (!g_str_has_prefix(path, prefix) || strlen(path) < strlen(prefix) + 1 + sizeof id_string)
                return NULL;
        g_strlcpy(id_string, path + strlen(prefix) + 1, sizeof id_string);
        if (ald_id_parse(id_string, &id) < 0)
                return NULL;
        g_snprintf(source, sizeof source, "%s/%s", prefix, id_string);
        r = sd_bus_path_decode(path, source, &key);
        return r > 0 ? ald_store_find(store, &id, kind, key) : NULL;
}
