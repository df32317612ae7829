/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/*
 * Limits how much the broker keeps for each node of a cluster, and how much a node may publish. mosquitto
 * counts neither by client, so the key of one node would be enough to fill its memory. "now" is
 * CLOCK_MONOTONIC in µs.
 */
typedef struct AldQuota AldQuota;

#define ALD_QUOTA_KEPT_BYTES (UINT64_C(32) * 1024 * 1024)  /* retained messages with their topics */
#define ALD_QUOTA_TOPIC_BYTES 512u                         /* cost of a topic beyond its name */
#define ALD_QUOTA_TOPIC_MAX 512u                           /* bytes of a name */
#define ALD_QUOTA_BURST_BYTES (UINT64_C(32) * 1024 * 1024) /* published at once: all that a node may keep */
#define ALD_QUOTA_RATE_BYTES (UINT64_C(1024) * 1024)       /* and then per second */
#define ALD_QUOTA_BURST_MESSAGES 65536u
#define ALD_QUOTA_RATE_MESSAGES 1024u
#define ALD_QUOTA_NODES_MAX 20000u

typedef struct AldQuotaAccount {
        char *node;
        uint64_t kept_bytes;
        unsigned kept_topics;
        uint64_t refused; /* messages */
        uint64_t refused_at;

        GHashTable *topics; /* name → bytes */
        uint64_t bytes, messages, refilled;
} AldQuotaAccount;

AldQuota *ald_quota_new(void);
void ald_quota_free(AldQuota *quota);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldQuota, ald_quota_free)

/* Returns whether a message under the id of a node is admitted, and counts it then. An empty retained message
 * clears its topic. */
bool ald_quota_admit(
        AldQuota *quota, const char *node, const char *topic, size_t size, bool retained, uint64_t now);

/* Counts messages that the broker keeps without having asked: those it loaded from its disk, or received from
 * its own bridge. Beyond the limit of a node, nothing more is counted. */
void ald_quota_note(AldQuota *quota, const char *node, const char *topic, size_t size, uint64_t now);

/* Returns the nodes with messages refused since this time, at most `max`, with the most refused messages
 * first. */
size_t ald_quota_find_refused(const AldQuota *quota, uint64_t since, const AldQuotaAccount **ret, size_t max);
