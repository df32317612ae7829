/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The reasons why a probe has no result. */
typedef enum AldFailureKind {
        ALD_FAILURE_UNREACHABLE,
        ALD_FAILURE_REFUSED,
        ALD_FAILURE_TIMEOUT,
        ALD_FAILURE_TLS_FAILED,
        ALD_FAILURE_WRONG_PEER,
        ALD_FAILURE_BUSY,
        ALD_FAILURE_INHIBITED,
        ALD_FAILURE_PROTOCOL,
        ALD_FAILURE_ABORTED,
        ALD_FAILURE_LIMIT,
        ALD_FAILURE_INTERNAL,
        ALD_FAILURE_NO_LIBRARY,
        ALD_FAILURE_NO_PLATFORM,
        ALD_FAILURE_NO_DEVICE,
        ALD_FAILURE_NO_SUCH_DEVICE,
        ALD_FAILURE_CRASHED,
        ALD_FAILURE_BUILD_FAILED,
        ALD_FAILURE_WRONG_RESULT,
        ALD_FAILURE_OUT_OF_MEMORY,
        ALD_FAILURE_DEVICE_LOST,
        ALD_FAILURE_NO_DEVICE_MEMORY,
        ALD_FAILURE_PORT_DOWN,
        ALD_FAILURE_NO_GID,
        ALD_FAILURE_NO_PERMISSION,
        ALD_FAILURE_NO_PROVIDER,
        ALD_FAILURE_MEMLOCK,
        ALD_FAILURE_ROUND_TRIPS_ONLY,
        _ALD_FAILURE_MAX,
} AldFailureKind;

const char *ald_failure_to_string(AldFailureKind kind);
/* Returns the kind, or -1 if the text is not the name of one. */
int ald_failure_from_string(const char *text);

/* The first failure of a probe. Later ones are not recorded, since they are only consequences. */
typedef struct AldFailure {
        AldFailureKind kind;
        char *message; /* a description; NULL: nothing failed */
} AldFailure;

/* Records the failure if it is the first, and returns the negative errno of the kind, which no other kind
 * has. */
int ald_fail(AldFailure *failure, AldFailureKind kind, const char *format, ...)
        __attribute__((format(printf, 3, 4)));

/* Returns the name of the reason; NULL if nothing failed. */
const char *ald_failure_name(const AldFailure *failure);

/* Formats the failure as a line of JSON, ProbeFailure of record/messages/probe.xml. Free it with g_free(). */
char *ald_failure_to_json(const AldFailure *failure);

/* Resets it, for another attempt. */
void ald_failure_clear(AldFailure *failure);
