/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "services/cluster/topic.h"
#include "state/presence.h"
#include "state/store.h"

/*
 * What the topics carry, as JSON. Node, kind and key are those of the topic. Reading skips unknown members,
 * and refuses with
 *   -EBADMSG  what is no JSON of this form; see record/json.h
 *   -ERANGE   a number beyond what it may be
 *   -E2BIG    a payload, or a record, that is too large
 *   -EINVAL   a link's record that is not of its key
 * *ret_reason (maybe NULL) is then what was wrong, in words.
 */
#define ALD_PAYLOAD_RECORD_MAX (1024u * 1024)
#define ALD_PAYLOAD_SMALL_MAX 4096u
#define ALD_PAYLOAD_CRL_MAX (1024u * 1024)

/* The most that is read of a topic's payload. */
size_t ald_payload_max(AldTopicType type);

/* ret->key is that of the topic; ret->record is a new reference, NULL where deleted. */
int ald_payload_read_record(
        const AldTopic *topic, const char *bytes, size_t n, AldUpdate *ret, char **ret_reason);

typedef struct AldStatus {
        AldPresenceSaid said;
        uint64_t epoch;
        uint64_t conn;
        AldId instance;
        AldId boot;         /* all zeros where it is not there */
        uint64_t announced; /* 0 where it is not there */
        AldId other;        /* the other instance of this id that it met; all zeros where it is not there */
} AldStatus;

int ald_payload_read_status(const char *bytes, size_t n, AldStatus *ret, char **ret_reason);

typedef struct AldAlive {
        uint64_t usec; /* CLOCK_REALTIME of the sender */
        uint64_t epoch;
        uint64_t conn;
} AldAlive;

int ald_payload_read_alive(const char *bytes, size_t n, AldAlive *ret, char **ret_reason);

typedef struct AldForget {
        AldStamp stamp; /* what is newer is not hidden */
        uint64_t usec;  /* CLOCK_REALTIME of who forgot */
} AldForget;

int ald_payload_read_forget(const char *bytes, size_t n, AldForget *ret, char **ret_reason);

/* The other way round; free with g_free(). */
char *ald_payload_write_record(const AldUpdate *update);
char *ald_payload_write_status(const AldStatus *status);
char *ald_payload_write_alive(const AldAlive *alive);
char *ald_payload_write_forget(const AldForget *forget);
