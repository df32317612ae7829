/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "record/message.h"
#include "services/cluster/mqtt/topic.h"
#include "state/store/presence.h"
#include "state/store/store.h"

/*
 * The payloads of the topics, as JSON. A status, a heartbeat and a forget are messages of at most
 * ALD_PAYLOAD_SMALL_MAX bytes: NodeStatus, NodeAlive and NodeForget, see record/message.h. A record is read
 * and written here. Its node, kind and key are those of the topic. Reading skips unknown members and returns
 *   -EBADMSG  if it is not JSON of this form; see record/json.h
 *   -ERANGE   if a number is out of range
 *   -E2BIG    if the payload, or the record, is too large
 *   -EINVAL   if a link's record does not match its key
 * and then sets *ret_reason (may be NULL) to a description.
 */
#define ALD_PAYLOAD_RECORD_MAX (1024u * 1024)
#define ALD_PAYLOAD_SMALL_MAX 4096u
#define ALD_PAYLOAD_CRL_MAX (1024u * 1024)

/* Returns the limit of a payload on a topic of this type, in bytes. */
size_t ald_payload_max(AldTopicType type);

/* Reads a record. ret->key points into the topic; ret->record is a new reference, NULL if the record is
 * deleted. */
int ald_payload_read_record(
        const AldTopic *topic, const char *bytes, size_t n, AldUpdate *ret, char **ret_reason);

/* Formats a record; free with g_free(). */
char *ald_payload_write_record(const AldUpdate *update);

/* Returns the epoch of which the node has published all records; 0 for none. */
static inline uint64_t ald_payload_announced(const AldNodeStatus *status)
{
        return status->announced_epoch == ALD_ABSENT_UINT64 ? 0 : status->announced_epoch;
}
