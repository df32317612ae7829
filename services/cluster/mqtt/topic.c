/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <systemd/sd-bus.h>

#include "services/cluster/mqtt/topic.h"

#define PREFIX "alidade/1/"
#define FORGET "forget/"
#define KIND_NAME_MAX 64u

/* Topics without a key. They cannot clash with kinds, whose names have a dot and a capital. */
static const struct {
        const char *name;
        AldTopicType type;
} simple_topics[] = {
        { "status", ALD_TOPIC_STATUS },
        { "alive", ALD_TOPIC_ALIVE },
        { "crl", ALD_TOPIC_CRL },
};

const char *ald_cluster_name_refuse(const char *name)
{
        size_t n = strlen(name);

        if (n > ALD_CLUSTER_NAME_MAX)
                return "longer than 32 characters";
        for (size_t i = 0; i < n; i++)
                if (!g_ascii_islower(name[i]) && !g_ascii_isdigit(name[i]) && (name[i] != '-' || i == 0))
                        return "only lower-case letters, digits and hyphens are allowed, and no hyphen at "
                               "the start";
        return NULL;
}

/* Decodes the key after "KIND/", and refuses it if it is not encoded as we would do it. */
static int parse_key(const char *encoded, char ret[static ALD_KEY_MAX + 1])
{
        g_autofree char *path = g_strconcat("/", encoded, NULL);
        char *key = NULL, *again = NULL;
        int r = -EINVAL;

        if (sd_bus_path_decode(path, "/", &key) > 0 && strlen(key) <= ALD_KEY_MAX &&
                sd_bus_path_encode("/", key, &again) >= 0 && strcmp(path, again) == 0) {
                g_strlcpy(ret, key, ALD_KEY_MAX + 1);
                r = 0;
        }
        free(key);
        free(again);
        return r;
}

/* Returns whether a name looks like a kind, such as "Node1.Memory", that a newer version may know. */
static bool may_be_kind(const char *name)
{
        const char *dot = strchr(name, '.');

        return dot && g_ascii_isupper(name[0]) && g_ascii_isupper(dot[1]) && strlen(name) <= KIND_NAME_MAX &&
               strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS ".") == strlen(name);
}

static int parse_record(const char *rest, AldTopic *topic)
{
        const char *slash = strchr(rest, '/');
        g_autofree char *name = slash ? g_strndup(rest, (gsize) (slash - rest)) : NULL;
        int r;

        r = ald_kind_from_name(name ? name : rest);
        if (r < 0)
                return may_be_kind(name ? name : rest) ? -ENOENT : -EINVAL;
        topic->type = ALD_TOPIC_RECORD;
        topic->kind = (AldKind) r;
        topic->key[0] = '\0';
        if (ald_kinds[topic->kind].local)
                return -EPERM;
        if (slash) {
                r = parse_key(slash + 1, topic->key);
                if (r < 0)
                        return r;
                /* "KIND/_" encodes an empty key, which must be omitted. */
                if (!*topic->key)
                        return -EINVAL;
        }
        return ald_key_parse(topic->kind, topic->key, NULL);
}

static int parse_rest(const char *rest, AldTopic *topic)
{
        for (unsigned i = 0; i < G_N_ELEMENTS(simple_topics); i++)
                if (strcmp(rest, simple_topics[i].name) == 0) {
                        topic->type = simple_topics[i].type;
                        return 0;
                }
        if (g_str_has_prefix(rest, FORGET)) {
                topic->type = ALD_TOPIC_FORGET;
                return ald_id_parse(rest + strlen(FORGET), &topic->target);
        }
        return parse_record(rest, topic);
}

/* Returns what follows the node, or NULL for a topic without a node of this cluster. */
static const char *parse_node(const char *text, const char *cluster, AldId *ret)
{
        size_t n = strlen(cluster);
        char id[ALD_ID_STRING_SIZE];
        const char *at = text;

        if (!g_str_has_prefix(at, PREFIX))
                return NULL;
        at += strlen(PREFIX);
        if (strncmp(at, cluster, n) != 0 || at[n] != '/')
                return NULL;
        at += n + 1;
        if (strnlen(at, sizeof id) < sizeof id || at[sizeof id - 1] != '/')
                return NULL;
        g_strlcpy(id, at, sizeof id);
        return ald_id_parse(id, ret) < 0 ? NULL : at + sizeof id;
}

int ald_topic_parse(const char *text, const char *cluster, AldTopic *ret)
{
        const char *rest;

        *ret = (AldTopic){ 0 };
        rest = parse_node(text, cluster, &ret->node);
        return rest ? parse_rest(rest, ret) : -ENOMSG;
}

static char *format_record(const char *node, const char *cluster, AldKind kind, const char *key)
{
        g_autofree char *topic = g_strconcat(PREFIX, cluster, "/", node, "/", ald_kinds[kind].name, NULL);
        char *encoded, *whole;

        if (!key || !*key)
                return g_steal_pointer(&topic);
        /* Encoding fails only if memory runs out, and GLib aborts then. */
        if (sd_bus_path_encode("/", key, &encoded) < 0)
                g_error("Out of memory");
        whole = g_strconcat(topic, encoded, NULL);
        free(encoded);
        return whole;
}

char *ald_topic_of_record(const char *cluster, const AldId *node, AldKind kind, const char *key)
{
        char id[ALD_ID_STRING_SIZE];

        return format_record(ald_id_format(node, id), cluster, kind, key);
}

char *ald_topic_format(const AldTopic *topic, const char *cluster)
{
        char node[ALD_ID_STRING_SIZE], target[ALD_ID_STRING_SIZE];

        ald_id_format(&topic->node, node);
        if (topic->type == ALD_TOPIC_RECORD)
                return format_record(node, cluster, topic->kind, topic->key);
        if (topic->type == ALD_TOPIC_FORGET)
                return g_strconcat(
                        PREFIX, cluster, "/", node, "/", FORGET, ald_id_format(&topic->target, target), NULL);
        for (unsigned i = 0; i < G_N_ELEMENTS(simple_topics); i++)
                if (simple_topics[i].type == topic->type)
                        return g_strconcat(PREFIX, cluster, "/", node, "/", simple_topics[i].name, NULL);
        g_assert_not_reached();
}
