/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The maximum number of unknown keys in one object. An attacker can choose keys with equal hashes, since
 * g_str_hash() has no seed; comparing this few with each other is still cheap. */
#define ALD_SCAN_KEYS_MAX 256u

/*
 * Reads JSON text value by value, without building a tree; values that the caller skips are only checked. It
 * is as strict as ald_json_load(): UTF-8, no NUL, no duplicate keys, at most ALD_SCAN_KEYS_MAX unknown keys
 * in an object, no integer beyond 64 bits, no real beyond a double, and nested no deeper than
 * ALD_JSON_MAX_DEPTH. Functions return -EBADMSG if the text is invalid, and set `problem`. Callers learn the
 * type of a value beforehand from ald_scan_peek().
 */
typedef struct AldScan {
        const char *start, *at, *end;
        unsigned depth;
        const char *problem; /* static text, NULL if there is no error */
        char *room;          /* for decoded strings, as large as the text */
} AldScan;

/* A string in `room`; a NUL follows its bytes. */
typedef struct AldScanString {
        const char *bytes;
        size_t n;
        bool plain; /* printable ASCII without escapes, as most strings are */
} AldScanString;

typedef struct AldScanNumber {
        bool is_real;
        int64_t integer;
        double real; /* also set for an integer */
} AldScanNumber;

/* The position in a list or an object. */
typedef struct AldScanGroup {
        char close;
        bool begun;
} AldScanGroup;

/* Returns the first character of the next token, or NUL at the end. */
char ald_scan_peek(AldScan *scan);

/* Enters a list or an object, which must be the next token. */
int ald_scan_enter(AldScan *scan, AldScanGroup *ret);
/* Returns 1 if another element or key follows, 0 at the end of the group. */
int ald_scan_next(AldScan *scan, AldScanGroup *group);
/* Reads a key of an object with its colon. */
int ald_scan_key(AldScan *scan, AldScanString *ret);

int ald_scan_string(AldScan *scan, AldScanString *ret);
int ald_scan_number(AldScan *scan, AldScanNumber *ret);
int ald_scan_boolean(AldScan *scan, bool *ret);
/* Skips a value of any type. */
int ald_scan_skip(AldScan *scan);
/* Checks that nothing follows. */
int ald_scan_finish(AldScan *scan);

int ald_scan_fail(AldScan *scan, const char *problem);

/* Records an unknown key of an object; *keys is NULL for the first one, and the caller frees it. Returns
 * -EBADMSG if the key is a duplicate, or there are too many. */
int ald_scan_note_key(AldScan *scan, GHashTable **keys, const char *key);
