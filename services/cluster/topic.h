/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/id.h"
#include "record/key.h"
#include "record/kind.h"

/*
 * The topics of a cluster: alidade/1/CLUSTER/NODE/… followed by KIND or KIND/KEY (a record), "status",
 * "alive", "crl", or "forget/NODE". Keys are encoded as in object paths. Each thing has one topic: what would
 * be written otherwise is no topic of ours.
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

/* Why it is no name of a cluster, or NULL where it is one: [a-z0-9][a-z0-9-]{0,31}. */
const char *ald_cluster_name_refuse(const char *name);

/*
 * -ENOMSG for a topic of no node of this cluster; then *ret is untouched. Otherwise ret->node is set in any
 * case: -ENOENT for a kind that this version does not know, -EPERM for one that never travels, -EINVAL for
 * what is no topic of ours or a key that does not fit the kind.
 */
int ald_topic_parse(const char *topic, const char *cluster, AldTopic *ret);

/* Free with g_free(). */
char *ald_topic_format(const AldTopic *topic, const char *cluster);

/* That of a record; NULL key is "". */
char *ald_topic_of_record(const char *cluster, const AldId *node, AldKind kind, const char *key);
