/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Describes the fields of a record. The structs and tables themselves are generated from dbus-interfaces/
 * into schema.h. Absent values are the ones of the D-Bus properties, so that a struct can be exported as it
 * is.
 */

#define ALD_ABSENT_UINT64 UINT64_MAX
#define ALD_ABSENT_INT64 INT64_MIN
#define ALD_ABSENT_DOUBLE ((double) NAN)
#define ALD_ABSENT_BOOLEAN (-1)

/* JSON cannot represent integers beyond ±2^53, so no field holds one. */
#define ALD_INTEGER_MAX (INT64_C(1) << 53)

typedef enum AldType {
        ALD_TYPE_STRING,  /* const char *: NULL is absent, and so is "" */
        ALD_TYPE_UINT64,  /* uint64_t */
        ALD_TYPE_INT64,   /* int64_t */
        ALD_TYPE_DOUBLE,  /* double: an infinite value is absent too */
        ALD_TYPE_BOOLEAN, /* int: 0, 1 or ALD_ABSENT_BOOLEAN; in rows and messages only */
        ALD_TYPE_STRV,    /* const char *const *: NULL is absent, and so is an empty list */
        ALD_TYPE_ROWS,    /* AldRows: never absent, but may be empty; in rows, only as a{st} of a method's
                             options */
} AldType;

typedef struct AldStruct AldStruct;
typedef struct AldUnit AldUnit; /* record/units.h */

typedef struct AldRows {
        const AldStruct *type;
        const void *items; /* n structs of this type, sorted by their first field, Id */
        size_t n;
} AldRows;

/* The items of an option a{st}. */
typedef struct AldNumberEntry {
        const char *name;
        uint64_t value;
} AldNumberEntry;

typedef struct AldField {
        const char *name;
        AldType type;
        uint32_t name_length; /* bytes; in the tables of the schema only */
        size_t offset;
        const AldUnit *unit; /* NULL if it has none */
        double threshold; /* a smaller change is sent only with the next larger one or the periodic resend */
        bool relative;    /* the threshold is a share of the value sent before */
        double threshold_min, threshold_max; /* the bounds of this share; 0: none */
        const AldStruct *rows;
        bool silent; /* a property of a service that PropertiesChanged does not announce */

        /* The checks of ald_message_parse(), for messages only. */
        bool required, is_id, limited_below, limited_above;
        double minimum, maximum;              /* for rows: their number */
        int (*from_string)(const char *text); /* for an enumeration: -1 for an unknown word */
        const char *const *words;             /* for an enumeration: all of them, NULL-terminated */
} AldField;

struct AldStruct {
        const char *name;
        const AldField *fields;
        size_t n_fields;
        size_t size;
        const void *absent; /* an instance with every field absent */

        /* For rows that are structs on the bus: the number of leading fields that every such struct has, none
         * of them of a container type, and the contents of the struct, such as "ssa{sv}". 0 and NULL for rows
         * of type a{sv}. */
        size_t n_fixed;
        const char *contents;
};

/* Returns the address of a field in a struct of its type. */
static inline const void *ald_field_of(const AldField *field, const void *base)
{
        return (const char *) base + field->offset;
}

/* Returns the D-Bus signature of a field: "s", "aa{sv}" … */
const char *ald_field_signature(const AldField *field);

/* Returns whether a value is absent, in any of the forms above. */
bool ald_field_is_absent(const AldField *field, const void *value);

/* Returns whether a field is a number or a boolean that is kept over time, so neither a time nor a duration.
 */
bool ald_field_is_figure(const AldField *field);

/* Compares two values of a field in a total order, in which an absent value comes first. */
int ald_field_compare(const AldField *field, const void *a, const void *b);

/* Adds a value to a hash over several values; equal values have equal hashes. Absent values and rows add
 * nothing. */
uint64_t ald_field_hash(const AldField *field, const void *value, uint64_t hash);

/* The initial value of a hash. */
#define ALD_HASH_BASIS UINT64_C(14695981039346656037)

/* Add a text, or the texts of a list, to a hash. NULL counts as a text that differs from all others, and so
 * does the end of a list. */
uint64_t ald_hash_text(uint64_t hash, const char *text);
uint64_t ald_hash_texts(uint64_t hash, const char *const *texts);
uint64_t ald_hash_bytes(uint64_t hash, const void *bytes, size_t n);
/* Spreads the bits of a hash whose input differs in few bytes, by the last steps of splitmix64. Nodes compare
 * digests and divide probes among themselves by it, so it must be the same in all versions. */
uint64_t ald_hash_mix(uint64_t hash);

/* Returns whether the change from a to b must be sent at once: it reaches the threshold, or one of the two is
 * absent. */
bool ald_field_beyond_threshold(const AldField *field, const void *a, const void *b);

/* Returns the field of this name, or NULL. */
const AldField *ald_struct_find(const AldStruct *type, const char *name);

/* Returns the first field that is a list of rows, or NULL. */
const AldField *ald_struct_find_rows(const AldStruct *type);

/* Copies one field between structs of its type. */
void ald_field_copy(const AldField *field, void *to, const void *from);

/* Makes a value absent; a list of rows becomes empty. */
void ald_field_clear(const AldField *field, void *value);

/* Copies the fields that both types have, matched by name and type. Strings, lists and rows still belong to
 * `from`. */
void ald_struct_copy_common(const AldStruct *to_type, void *to, const AldStruct *from_type, const void *from);

/* Copies the fields of `from` that are not absent to `to`; both are structs of this type. Strings, lists and
 * rows still belong to `from`. */
void ald_struct_overlay(const AldStruct *type, void *to, const void *from);

/* Finds a field like ald_struct_find(), for looking up many of them. They are usually written in the order of
 * the table, so the one after the last is tried first: set *next to 0 for the first call. */
const AldField *ald_struct_find_next(const AldStruct *type, const char *name, size_t *next);

/* Copies a struct without rows, and its strings, into one block, which the caller frees with g_free(). */
void *ald_struct_dup(const AldStruct *type, const void *from);

/* Returns the bytes of that block. */
size_t ald_struct_size(const AldStruct *type, const void *from);

/* Returns an upper limit of the bytes of a struct without rows as a row in a D-Bus message. */
size_t ald_struct_wire_size(const AldStruct *type, const void *fields);
