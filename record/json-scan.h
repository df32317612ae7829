/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limit of unknown keys in one object. An attacker can choose keys with equal hashes, since g_str_hash() has
 * no seed; so few can be compared with each other. */
#define ALD_SCAN_KEYS_MAX 256u

/*
 * Reads JSON text value by value, without a tree of it: what the caller does not want is only checked. As
 * strict as ald_json_load(): UTF-8, no NUL, no key twice, and at most ALD_SCAN_KEYS_MAX unknown ones in an
 * object, no integer beyond 64 bits, no real beyond a double, nested no deeper than ALD_JSON_MAX_DEPTH.
 * Functions return -EBADMSG where the text is wrong, and set `problem`; where only the value is of another
 * type, ald_scan_peek() has said so before.
 */
typedef struct AldScan {
        const char *start, *at, *end;
        unsigned depth;
        const char *problem; /* static words, NULL while all is well */
        char *room;          /* for decoded strings, as many bytes as the text has */
} AldScan;

/* A string; its bytes are followed by a NUL. Lives in `room`. */
typedef struct AldScanString {
        const char *bytes;
        size_t n;
} AldScanString;

typedef struct AldScanNumber {
        bool is_real;
        int64_t integer;
        double real; /* of an integer too */
} AldScanNumber;

/* How far a list or an object was read. */
typedef struct AldScanGroup {
        char close;
        bool begun;
} AldScanGroup;

/* The first character of what comes next, or NUL at the end. */
char ald_scan_peek(AldScan *scan);

/* Enters a list or an object, which is known to come next. */
int ald_scan_enter(AldScan *scan, AldScanGroup *ret);
/* 1 where another element or key comes, 0 where the group has ended. */
int ald_scan_next(AldScan *scan, AldScanGroup *group);
/* A key of an object with its colon. */
int ald_scan_key(AldScan *scan, AldScanString *ret);

int ald_scan_string(AldScan *scan, AldScanString *ret);
int ald_scan_number(AldScan *scan, AldScanNumber *ret);
int ald_scan_boolean(AldScan *scan, bool *ret);
/* A value of any type, which is not wanted. */
int ald_scan_skip(AldScan *scan);
/* Nothing comes any more. */
int ald_scan_finish(AldScan *scan);

int ald_scan_fail(AldScan *scan, const char *problem);

/* Takes note of an unknown key of an object; *keys is NULL at the first one, and the caller's to free.
 * -EBADMSG where it was there before, or there are too many. */
int ald_scan_note_key(AldScan *scan, GHashTable **keys, const char *key);
