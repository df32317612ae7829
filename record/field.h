/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How the fields of a record are described. The structs and tables themselves are generated from
 * dbus-interfaces/ into schema.h. Absent values are those of the D-Bus properties, so that a struct can be
 * exported as it is.
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
        ALD_TYPE_DOUBLE,  /* double: infinite is absent too */
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
        double threshold;    /* a smaller change is not sent until the next one or the periodic resend */
        bool relative;       /* the threshold is a share of the value sent before */
        double threshold_min, threshold_max; /* the bounds of this share; 0: none */
        const AldStruct *rows;
        bool silent; /* of a service's property: PropertiesChanged does not announce it */

        /* For messages only: the checks of ald_message_parse(). */
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

        /* Rows that are structs on the bus: the number of leading fields that each has, of a type that no
         * container is, and what such a struct contains: "ssa{sv}". 0 and NULL for rows of type a{sv}. */
        size_t n_fixed;
        const char *contents;
};

/* The address of a field in a struct of its type. */
static inline const void *ald_field_of(const AldField *field, const void *base)
{
        return (const char *) base + field->offset;
}

/* The D-Bus signature of a field: "s", "aa{sv}" … */
const char *ald_field_signature(const AldField *field);

/* Whether a value is absent, in any of the forms above. */
bool ald_field_is_absent(const AldField *field, const void *value);

/* Whether it is a number, or a yes or no, that is kept over time: any but a time or a duration. */
bool ald_field_is_figure(const AldField *field);

/* A total order of the values of a field; absent comes first. */
int ald_field_compare(const AldField *field, const void *a, const void *b);

/* Adds a value to a hash of several; the hash of equal values is equal. Absent ones and rows add nothing. */
uint64_t ald_field_hash(const AldField *field, const void *value, uint64_t hash);

/* A hash of nothing yet. */
#define ALD_HASH_BASIS UINT64_C(14695981039346656037)

/* Adds a text, or those of a list, to a hash. NULL is a text that differs from all others, and an empty list.
 */
uint64_t ald_hash_text(uint64_t hash, const char *text);
uint64_t ald_hash_texts(uint64_t hash, const char *const *texts);
uint64_t ald_hash_bytes(uint64_t hash, const void *bytes, size_t n);
/* Spreads the bits of a hash of few differing bytes: the last steps of splitmix64. Nodes compare digests and
 * share probes by it, so that it must be the same in all versions. */
uint64_t ald_hash_mix(uint64_t hash);

/* Whether the change from a to b must be sent at once: it reaches the threshold, or one of the two is
 * absent. */
bool ald_field_beyond_threshold(const AldField *field, const void *a, const void *b);

/* The field of this name, or NULL. */
const AldField *ald_struct_find(const AldStruct *type, const char *name);

/* The first field that is a list of rows, or NULL. */
const AldField *ald_struct_rows(const AldStruct *type);

/* Copies one field between structs of its type. */
void ald_field_copy(const AldField *field, void *to, const void *from);

/* Makes a value absent; a list of rows becomes empty. */
void ald_field_clear(const AldField *field, void *value);

/* Copies the fields that both types have, by name and type. Strings, lists and rows still belong to
 * `from`. */
void ald_struct_copy_common(const AldStruct *to_type, void *to, const AldStruct *from_type, const void *from);

/* Copies the fields of `from` that are not absent to `to`, both of this type, in the same way. */
void ald_struct_overlay(const AldStruct *type, void *to, const void *from);

/* Like ald_struct_find(), for looking up many fields. They are usually written in the order of the table, so
 * the one after the last is tried first: *next is 0 at the first call. */
const AldField *ald_struct_find_next(const AldStruct *type, const char *name, size_t *next);

/* Copies a struct without rows, and its strings, into one block, to be freed with g_free(). */
void *ald_struct_dup(const AldStruct *type, const void *from);

/* Bytes of that block. */
size_t ald_struct_size(const AldStruct *type, const void *from);

/* An upper limit of what a struct without rows takes as a row in a D-Bus message. */
size_t ald_struct_wire_size(const AldStruct *type, const void *fields);
