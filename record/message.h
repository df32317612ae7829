/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "record/record.h"

/*
 * Messages are records that one process of Alidade sends to another as JSON and that are not exported on the
 * bus: the data that a node publishes about itself at the broker, the result of a probe, the answer of a
 * helper. record/messages/ describes their fields. The sender may run another version, be hostile, or have
 * loaded a driver that prints arbitrary text, so everything is checked.
 */

/* Bytes in one string of a message, all of whose characters are printable. */
#define ALD_MESSAGE_STRING_MAX 256u

/*
 * Reads one JSON object of at most max_bytes. Unknown keys are skipped. Returns -EBADMSG if it is not an
 * object, lacks a required field or has one of the wrong type, -ERANGE if a field exceeds its limits, a word
 * is not in its enumeration or a string is not printable, and -E2BIG if it is too large. For a tolerant kind
 * such a field is dropped instead, and so are invalid rows and those beyond their maximum number. On error
 * *ret_reason (may be NULL) describes what is wrong.
 */
int ald_message_parse(
        AldKind kind, const char *text, size_t n, size_t max_bytes, AldRecord **ret, char **ret_reason);

/* Makes text fit for a message: characters that are not printable become spaces, and only the beginning of a
 * longer text is kept. Free with g_free(). */
char *ald_message_text(const char *text);

/* Writes the struct of the kind as a JSON object on one line, without the fields that are absent or that a
 * record cannot hold. Returns NULL if it is larger than ALD_RECORD_MAX. Free with g_free(). */
char *ald_message_format(AldKind kind, const void *fields);

/*
 * On a connection that carries messages of several kinds, each message is preceded by its name and a space:
 * SocketOpen {"Purpose":"upload","Count":1}. The first function writes such a message like
 * ald_message_format(); the second reads one like ald_message_parse(), and returns -ENOENT if the name is not
 * among the expected kinds.
 */
char *ald_message_format_named(AldKind kind, const void *fields);
int ald_message_parse_named(const AldKind *kinds, size_t n_kinds, const char *text, size_t n,
        size_t max_bytes, AldRecord **ret, char **ret_reason);
