/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/schema.h"

/* A kind of record: one D-Bus interface, or one message, which has neither interface nor mapping. */
typedef struct AldKindInfo {
        const char *name;      /* in messages: Node1.Memory */
        const char *interface; /* org.alidade.Node1.Memory */
        const char *mapping;   /* Memories, as in GetMemories() */
        const AldStruct *type;
        bool is_link;
        bool persistent; /* survives a restart of the state service, since measuring it again is expensive */
        bool local;      /* each machine makes it itself for every node; never travels */
        bool for_peers;  /* nodes that measure links with the node receive it even if they mirror nothing */
        int qos;         /* of MQTT */
        uint64_t ttl_usec; /* measured again after this time; 0: not measured at such a pace */
        bool tolerant;     /* for a message: an invalid field is dropped instead of refusing the message */
} AldKindInfo;

extern const AldKindInfo ald_kinds[ALD_N_ALL_KINDS];

/* The topics of a node's records below its id, which are also MQTT filters: one for each kind that travels,
 * sorted and NULL-terminated. */
extern const char *const ald_record_topics[];

/* Returns the kind of this name, never a message, or -ENOENT. */
int ald_kind_from_name(const char *name);

/* Returns the kind of this interface name, or -ENOENT. */
int ald_kind_from_interface(const char *interface);
