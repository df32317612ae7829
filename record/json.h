/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "record/update.h"

/*
 * Records and updates as JSON, for the state file and what nodes send each other. Keys are the D-Bus names;
 * an absent field is not there. A text is read straight into the struct of its kind. Reading skips unknown
 * keys, since a newer peer sends them, takes 3 for 3.0 and 3.0 for 3, and refuses with
 *   -EBADMSG  what is no JSON object (UTF-8, nested at most ALD_JSON_MAX_DEPTH deep, without NUL, without a
 *             key that is there twice), a value of another type, or where a key is missing that must be there
 *   -ERANGE   an integer beyond 2^53 or below what the field holds, a string beyond ALD_STRING_MAX
 *   -E2BIG    a record beyond ALD_RECORD_MAX
 * The first that is found counts. Strings and rows are treated as ald_record_new() does.
 */

#define ALD_JSON_MAX_DEPTH 16u

/* What was wrong with a text: one field, or the text itself. */
typedef struct AldJsonFault {
        const char *field;   /* static; NULL where it is no single one */
        const char *problem; /* static words, NULL where the text itself is right */
        size_t at;           /* bytes before it */
} AldJsonFault;

/* The same in words, with what was returned; free with g_free(). */
char *ald_json_fault_describe(const AldJsonFault *fault, int error);

/* The fields that are there, as an object. */
json_t *ald_record_to_json(const AldRecord *record);

/* The other way round; *ret_fault may be NULL. Messages are checked as ald_message_parse() says. */
int ald_record_from_text(AldKind kind, const char *bytes, size_t n, AldRecord **ret, AldJsonFault *ret_fault);

/* The same of what was parsed already; *ret_field (maybe NULL) then is the static name of the field, or NULL
 * where it is no single one. */
int ald_record_from_json(AldKind kind, json_t *json, AldRecord **ret, const char **ret_field);

/* An object of node, kind, key, epoch, seq, updated, deleted and, unless deleted, fields. */
json_t *ald_update_to_json(const AldUpdate *update);

/*
 * The other way round; key and deleted may be missing. Two more errors: -EINVAL for what is no node id,
 * -ENOENT for an unknown kind. *ret_key is the key, to be freed by the caller with g_free(), and what
 * ret->key points to; ret->record is a new reference. Whether the key fits the kind is for ald_store_put() to
 * say.
 */
int ald_update_from_text(
        const char *bytes, size_t n, AldUpdate *ret, char **ret_key, AldJsonFault *ret_fault);

/* The same of an update whose node, kind and key are known and set: reads stamp, time and record. */
int ald_update_complete_from_text(const char *bytes, size_t n, AldUpdate *update, AldJsonFault *ret_fault);

/*
 * Parses an object or array. -E2BIG for more than max_bytes, -EBADMSG for what is no JSON, nested deeper than
 * ALD_JSON_MAX_DEPTH, or has a key twice or a NUL; *ret_error (maybe NULL) is then set to the reason.
 */
int ald_json_load(const char *bytes, size_t n, size_t max_bytes, json_t **ret, char **ret_error);
