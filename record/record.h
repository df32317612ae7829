/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/kind.h"

#define ALD_STRING_MAX 1024u         /* bytes in one string of a record */
#define ALD_RECORD_MAX (256u * 1024) /* bytes of one record in memory */

/*
 * A record: the fields of one kind, in one immutable block of memory, shared by reference. Not thread-safe.
 * The struct of the kind follows the header; its strings, lists and rows follow in the same block.
 */
typedef struct AldRecord {
        unsigned n_ref;
        AldKind kind;
        uint32_t size;      /* bytes of the block */
        uint32_t wire_size; /* upper limit of the bytes of its present fields in a D-Bus message */
        uint64_t hash;      /* of the fields; equal records have equal hashes on every machine */

        /* The envelope, set by the publisher of the record; not compared. */
        uint64_t revision;
        uint64_t updated_usec; /* CLOCK_REALTIME of the source */
} AldRecord;

/* The offset of a field of a struct from the start of the record. */
#define ALD_RECORD_OFFSET(type, member) (sizeof(AldRecord) + offsetof(type, member))

/*
 * Copies a struct of the kind into a new record. Drops what a record cannot hold: strings that are not UTF-8
 * or longer than ALD_STRING_MAX, integers beyond ±2^53, rows without an Id or with a duplicate one. Rows need
 * not be sorted. Returns -E2BIG beyond ALD_RECORD_MAX.
 */
int ald_record_new(AldKind kind, const void *fields, AldRecord **ret);

/* Does the same in one walk if `room` is exact or a little more, else in two: the bytes of the record, its
 * struct, and of each string with its NUL, list with its NULL, and array of rows, all aligned. */
int ald_record_new_sized(AldKind kind, const void *fields, size_t room, AldRecord **ret);
#define ALD_RECORD_ALIGN(n) (((n) + 7u) & ~(size_t) 7u)

/* Makes a record with these rows in its first list, and all other fields absent. Returns the errors of
 * ald_record_new(). */
int ald_record_new_of_rows(AldKind kind, const GArray *rows, AldRecord **ret);

/* Describes why a record, or one field of it, was refused, from the negative errno that state/ returns; for
 * logs. */
const char *ald_record_describe(int error);

AldRecord *ald_record_ref(AldRecord *record);
void ald_record_unref(AldRecord *record);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldRecord, ald_record_unref)

static inline const AldStruct *ald_record_type(const AldRecord *record)
{
        return ald_kinds[record->kind].type;
}

/* Returns the struct of the record's kind. */
static inline const void *ald_record_fields(const AldRecord *record)
{
        return record + 1;
}

/* Returns the address of one field of the record. */
static inline const void *ald_record_field(const AldRecord *record, const AldField *field)
{
        return ald_field_of(field, ald_record_fields(record));
}

/* Returns the struct after checking the kind: ald_record_as(record, MEMORY, AldMemory). NULL stays NULL. */
#define ald_record_as(record, KIND, Type) ((const Type *) ald_record_checked((record), ALD_KIND_##KIND))
const void *ald_record_checked(const AldRecord *record, AldKind kind);

/* Compares the fields of two records of one kind in a total order. */
int ald_record_compare(const AldRecord *a, const AldRecord *b);

/* Returns a set in which bit i is set if field i of the kind's table differs. */
uint64_t ald_record_diff(const AldRecord *a, const AldRecord *b);

/* Returns whether some field has changed by its threshold or more, so that b must be sent now. */
bool ald_record_beyond_threshold(const AldRecord *a, const AldRecord *b);

/* Returns an upper limit of the bytes of the fields in PropertiesChanged, which includes absent ones. */
size_t ald_record_changed_size(const AldRecord *record);

/* Returns row i of a list of rows. */
static inline const void *ald_rows_at(const AldRows *rows, size_t i)
{
        return (const char *) rows->items + i * rows->type->size;
}

/* Returns the row with this Id, or NULL. */
const void *ald_rows_find(const AldRows *rows, const char *id);
