/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "record/update.h"

/*
 * Records and updates as JSON, for the state file and for messages between nodes. Keys are the D-Bus names;
 * absent fields are omitted. Text is read directly into the struct of its kind. Reading skips unknown keys,
 * since a newer peer may send them, accepts 3 for 3.0 and 3.0 for 3, and refuses with
 *   -EBADMSG  anything but a JSON object (UTF-8, nested at most ALD_JSON_MAX_DEPTH deep, without NUL, without
 *             duplicate keys), a value of another type, or a missing required key
 *   -ERANGE   an integer beyond 2^53 or below what the field holds, a string beyond ALD_STRING_MAX
 *   -E2BIG    a record beyond ALD_RECORD_MAX
 * The first error found is returned. Strings and rows are treated as ald_record_new() does.
 */

#define ALD_JSON_MAX_DEPTH 16u

/* Describes why a text was refused. Reading sets it on success, too, then without field and problem. */
typedef struct AldJsonFault {
        bool has_unknown;    /* some keys were skipped */
        const char *field;   /* static; NULL if no single field is wrong */
        const char *problem; /* static text, NULL if the text itself is valid */
        size_t at;           /* its offset in bytes */
} AldJsonFault;

/* Describes a fault together with the error that was returned. Free with g_free(). */
char *ald_json_fault_describe(const AldJsonFault *fault, int error);

/* Returns the fields that are not absent of any struct with a field table as an object; NULL if memory is
 * short. */
json_t *ald_struct_to_json(const AldStruct *type, const void *fields);

/* Converts an object back into a struct without rows, in one block with its strings, to be freed with
 * g_free(). Unknown keys and values of another type, out of range or too long for a record are left out.
 * Returns NULL if it is not an object. */
void *ald_struct_from_json(const AldStruct *type, json_t *json);

/* Returns the fields of a record, like ald_struct_to_json(). */
json_t *ald_record_to_json(const AldRecord *record);

/* Reads a record; ret_fault may be NULL. Messages are checked like in ald_message_parse(). */
int ald_record_from_text(AldKind kind, const char *bytes, size_t n, AldRecord **ret, AldJsonFault *ret_fault);

/* Reads a record from parsed JSON. On error *ret_field (may be NULL) is the static name of the field, or NULL
 * if it is not a single one. */
int ald_record_from_json(AldKind kind, json_t *json, AldRecord **ret, const char **ret_field);

/* Appends an update as one line: an object of node, kind, key and revision if it is `named`, epoch, seq,
 * updated, and fields or deleted. A double reads as the same one again. */
void ald_update_append_text(GString *text, const AldUpdate *update, bool named);

/*
 * Reads an update; key and deleted may be missing. Besides the errors above it returns -EINVAL for an invalid
 * node id and -ENOENT for an unknown kind. *ret_key is the key, which ret->key points to and the caller frees
 * with g_free(); ret->record is a new reference. ald_store_put() checks whether the key fits the kind. With
 * `verbatim`, characters that are unsafe to show are kept.
 */
int ald_update_from_text(
        const char *bytes, size_t n, bool verbatim, AldUpdate *ret, char **ret_key, AldJsonFault *ret_fault);

/* Reads stamp, time and record of an update whose node, kind and key are already set. */
int ald_update_complete_from_text(const char *bytes, size_t n, AldUpdate *update, AldJsonFault *ret_fault);

/*
 * Parses an object or array. Returns -E2BIG for more than max_bytes, and -EBADMSG if it is not JSON, is
 * nested deeper than ALD_JSON_MAX_DEPTH, or has a duplicate key or a NUL; *ret_error (may be NULL) is then
 * set to the reason.
 */
int ald_json_load(const char *bytes, size_t n, size_t max_bytes, json_t **ret, char **ret_error);
