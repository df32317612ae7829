/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "services/placement/pinned-devices.h"

/* Limits the slashes that are tried, since each takes a search among all nodes. */
#define SLASHES_MAX 8u
#define CANDIDATES_SHOWN 4u

static char *join_ids(const GPtrArray *nodes)
{
        GString *joined = g_string_new(NULL);

        for (guint i = 0; i < MIN(nodes->len, CANDIDATES_SHOWN); i++)
                g_string_append_printf(
                        joined, "%s%s", i > 0 ? ", " : "", ((const AldEntity *) nodes->pdata[i])->id);
        if (nodes->len > CANDIDATES_SHOWN)
                g_string_append_printf(joined, " and %u more", nodes->len - CANDIDATES_SHOWN);
        return g_string_free(joined, FALSE);
}

static AldPinResult find_node(AldModel *model, const char *text, const AldEntity **ret, char **ret_candidates)
{
        g_autoptr(GPtrArray) candidates = g_ptr_array_new();
        int r = ald_model_find(model, text, ret, candidates);

        if (r >= 0)
                return ALD_PIN_FOUND;
        if (r != -ENOTUNIQ)
                return ALD_PIN_NO_NODE;
        *ret_candidates = join_ids(candidates);
        return ALD_PIN_AMBIGUOUS;
}

/* Names of nodes and ids of devices may contain slashes: the first slash with the name of a node before it
 * counts. */
AldPinResult ald_pin_resolve(
        AldModel *model, const char *text, bool with_device, char **ret, char **ret_candidates)
{
        const AldEntity *node;
        unsigned tried = 0;
        AldPinResult result = find_node(model, text, &node, ret_candidates);

        if (result == ALD_PIN_FOUND)
                *ret = g_strdup(node->id);
        if (result != ALD_PIN_NO_NODE)
                return result;
        for (const char *slash = with_device ? strchr(text, '/') : NULL; slash && tried < SLASHES_MAX;
                slash = strchr(slash + 1, '/'), tried++) {
                g_autofree char *name = g_strndup(text, (gsize) (slash - text));
                const AldBackends *backends;

                result = find_node(model, name, &node, ret_candidates);
                if (result == ALD_PIN_NO_NODE)
                        continue;
                if (result != ALD_PIN_FOUND)
                        return result;
                backends = ald_entity_as(node, BACKENDS, AldBackends);
                if (!backends || !ald_rows_find(&backends->devices, slash + 1))
                        return ALD_PIN_NO_DEVICE;
                *ret = g_strconcat(node->id, slash, NULL);
                return ALD_PIN_FOUND;
        }
        return result;
}
