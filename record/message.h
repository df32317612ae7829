/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "record/record.h"

/*
 * Messages: records that one process of ours sends another as JSON, and that no bus exports: what a node says
 * of itself to the broker, the result of a probe, the answer of a helper. Their fields are described in
 * record/messages/. The other process may run another version, be somebody else's, or have loaded a driver
 * that writes what it likes, so nothing is taken unchecked.
 */

#define ALD_MESSAGE_STRING_MAX 256u /* bytes in one string of a message; all its characters are printable */

/*
 * Reads one JSON object of at most max_bytes. Unknown keys are skipped. Refuses with -EBADMSG what is no such
 * object, lacks a required field or has one of another type, with -ERANGE a field beyond its limits, a word
 * that its enumeration does not have or a string that cannot be shown, with -E2BIG what is too large. Of a
 * tolerant kind such a field is left out instead, and so are a row that is none and those beyond their
 * number. *ret_reason (maybe NULL) then says what was wrong.
 */
int ald_message_parse(
        AldKind kind, const char *text, size_t n, size_t max_bytes, AldRecord **ret, char **ret_reason);

/* Text as a message may have it: what is not printable becomes a space, and only the beginning of a longer
 * text is kept. Free with g_free(). */
char *ald_message_text(const char *text);

/* The struct of the kind as a JSON object on one line, without the fields that are absent or that no record
 * holds. NULL where it is larger than ALD_RECORD_MAX. Free with g_free(). */
char *ald_message_format(AldKind kind, const void *fields);

/*
 * On a connection that carries messages of several kinds each is preceded by its name and a space:
 * SocketOpen {"Purpose":"upload","Count":1}. The first of these two writes one as ald_message_format() does,
 * the second reads one of these kinds as ald_message_parse() does, and returns -ENOENT for another name.
 */
char *ald_message_format_named(AldKind kind, const void *fields);
int ald_message_parse_named(const AldKind *kinds, size_t n_kinds, const char *text, size_t n,
        size_t max_bytes, AldRecord **ret, char **ret_reason);
