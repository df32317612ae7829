/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* The fields common to all rows of a record whose rows are measured by a probe of this machine, one for each
 * device or file system; org.alidade.Node1.Compute describes them. */
typedef struct AldResultRow {
        const char *id;
        uint64_t measured_usec;
        const char *failure;
        uint64_t failed_usec;
        uint64_t failures;
        uint64_t waiting_since_usec;
        const char *waiting_reason;
} AldResultRow;

extern const AldResultRow ald_result_row_absent;

/* Reads the fields of a row of this type; they are all absent if the row is NULL. Texts still belong to the
 * row. */
AldResultRow ald_result_row_read(const AldStruct *type, const void *row);
/* Writes all fields, absent ones too. */
void ald_result_row_write(const AldStruct *type, void *row, const AldResultRow *fields);

/* The rules for merging what a probe of this machine reports with its earlier results. */
typedef struct AldRowResult {
        AldKind kind;

        /* Returns whether the figures of a row must not replace the earlier ones, which exist. */
        bool (*is_worse)(const void *reported, const void *before);
        /* Restores the figures that a partly failed attempt did not measure. NULL if attempts never fail in
         * part. */
        void (*keep)(void *merged, const void *before);
        /* Sets the fields that do not depend on success. `before` may be NULL, and so may the member itself.
         * */
        void (*settle)(void *merged, const void *before, const void *reported);
} AldRowResult;

/*
 * Merges each row: a success replaces the earlier figures. A failure never does: figures that it did not
 * measure stay, and it is added beside them and counted. Merging the same record again changes nothing, and a
 * row that is not in `reported` stays as it is. `before` may be NULL. Returns -E2BIG if the result exceeds
 * the size of a record.
 */
int ald_row_result_merge(const AldRowResult *result, AldRecord *before, AldRecord *reported, AldRecord **ret);

/* Removes rows that are not among `existing` (may be NULL) and of which there was no attempt for `ttl_usec`.
 * Returns NULL if there are none. */
AldRecord *ald_row_result_prune(const AldRowResult *result, AldRecord *record, const AldRows *existing,
        uint64_t ttl_usec, uint64_t now_realtime);

/* Returns whether the flags of a row say that its figures were measured beside other work. */
bool ald_row_flags_are_busy(const char *const *flags);

/* Returns the same flags, ending in NULL, with the one that says so. The array borrows them. */
GPtrArray *ald_row_flags_with_busy(const char *const *flags);
