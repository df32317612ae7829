/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/id.h"
#include "record/kind.h"
#include "record/record-key.h"

/*
 * The topics of a cluster: alidade/1/CLUSTER/NODE/… followed by KIND or KIND/KEY (a record), "status",
 * "alive", "crl", or "forget/NODE". Keys are encoded as in object paths. Each topic has one spelling; any
 * other is refused.
 */
typedef enum AldTopicType {
        ALD_TOPIC_RECORD,
        ALD_TOPIC_STATUS,
        ALD_TOPIC_ALIVE,
        ALD_TOPIC_FORGET,
        ALD_TOPIC_CRL,
} AldTopicType;

typedef struct AldTopic {
        AldTopicType type;
        AldId node;
        AldKind kind;              /* of a record */
        char key[ALD_KEY_MAX + 1]; /* of a record */
        AldId target;              /* of "forget" */
} AldTopic;

#define ALD_CLUSTER_NAME_MAX 32u

/* Returns why a name is not a valid cluster name ([a-z0-9][a-z0-9-]{0,31}), or NULL if it is one. */
const char *ald_cluster_name_refuse(const char *name);

/*
 * Parses a topic. Returns -ENOMSG for a topic without a node of this cluster, -ENOENT for a kind that this
 * version does not know, -EPERM for one that is never published, -EINVAL for an invalid topic or a key that
 * does not fit the kind. After an error *ret is undefined, except that ret->node is set unless the error is
 * -ENOMSG.
 */
int ald_topic_parse(const char *topic, const char *cluster, AldTopic *ret);

/* Formats a topic; free with g_free(). */
char *ald_topic_format(const AldTopic *topic, const char *cluster);

/* Formats the topic of a record; a NULL key is "". Free with g_free(). */
char *ald_topic_of_record(const char *cluster, const AldId *node, AldKind kind, const char *key);
