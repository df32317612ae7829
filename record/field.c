/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <string.h>

#include "record/field.h"
#include "record/units.h"

#define CMP(a, b) (((a) > (b)) - ((a) < (b)))

static const char *string_at(const void *value)
{
        const char *string = *(const char *const *) value;

        return string ? string : "";
}

static const char *const *strv_at(const void *value)
{
        static const char *const empty[] = { NULL };
        const char *const *strv = *(const char *const *const *) value;

        return strv ? strv : empty;
}

bool ald_field_is_absent(const AldField *field, const void *value)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return *string_at(value) == '\0';
        case ALD_TYPE_UINT64:
                return *(const uint64_t *) value == ALD_ABSENT_UINT64;
        case ALD_TYPE_INT64:
                return *(const int64_t *) value == ALD_ABSENT_INT64;
        case ALD_TYPE_DOUBLE:
                return !isfinite(*(const double *) value);
        case ALD_TYPE_BOOLEAN:
                return *(const int *) value == ALD_ABSENT_BOOLEAN;
        case ALD_TYPE_STRV:
                return *strv_at(value) == NULL;
        case ALD_TYPE_ROWS:
                return false;
        }
        g_assert_not_reached();
}

bool ald_field_is_figure(const AldField *field)
{
        switch (field->type) {
        case ALD_TYPE_UINT64:
        case ALD_TYPE_INT64:
        case ALD_TYPE_DOUBLE:
        case ALD_TYPE_BOOLEAN:
                return field->unit != &ald_unit_microseconds &&
                       field->unit != &ald_unit_microseconds_since_1970;
        case ALD_TYPE_STRING:
        case ALD_TYPE_STRV:
        case ALD_TYPE_ROWS:
                return false;
        }
        g_assert_not_reached();
}

static int compare_strv(const char *const *a, const char *const *b)
{
        for (; *a && *b; a++, b++) {
                int r = strcmp(*a, *b);
                if (r != 0)
                        return r;
        }
        return CMP(*a != NULL, *b != NULL);
}

static int compare_structs(const AldStruct *type, const void *a, const void *b)
{
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                int r = ald_field_compare(field, ald_field_of(field, a), ald_field_of(field, b));
                if (r != 0)
                        return r;
        }
        return 0;
}

static int compare_rows(const AldRows *a, const AldRows *b)
{
        for (size_t i = 0; i < a->n && i < b->n; i++) {
                size_t at = i * a->type->size;
                int r = compare_structs(a->type, (const char *) a->items + at, (const char *) b->items + at);
                if (r != 0)
                        return r;
        }
        return CMP(a->n, b->n);
}

static int compare_present(const AldField *field, const void *a, const void *b)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return strcmp(string_at(a), string_at(b));
        case ALD_TYPE_UINT64:
                return CMP(*(const uint64_t *) a, *(const uint64_t *) b);
        case ALD_TYPE_INT64:
                return CMP(*(const int64_t *) a, *(const int64_t *) b);
        case ALD_TYPE_DOUBLE:
                return CMP(*(const double *) a, *(const double *) b);
        case ALD_TYPE_BOOLEAN:
                return CMP(*(const int *) a, *(const int *) b);
        case ALD_TYPE_STRV:
                return compare_strv(strv_at(a), strv_at(b));
        case ALD_TYPE_ROWS:
                return compare_rows(a, b);
        }
        g_assert_not_reached();
}

int ald_field_compare(const AldField *field, const void *a, const void *b)
{
        bool absent_a = ald_field_is_absent(field, a), absent_b = ald_field_is_absent(field, b);

        if (absent_a || absent_b)
                return CMP(absent_b, absent_a);
        return compare_present(field, a, b);
}

static bool structs_beyond_threshold(const AldStruct *type, const void *a, const void *b)
{
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                if (ald_field_beyond_threshold(field, ald_field_of(field, a), ald_field_of(field, b)))
                        return true;
        }
        return false;
}

static bool rows_beyond_threshold(const AldRows *a, const AldRows *b)
{
        if (a->n != b->n)
                return true;
        for (size_t i = 0; i < a->n; i++) {
                size_t at = i * a->type->size;
                if (structs_beyond_threshold(
                            a->type, (const char *) a->items + at, (const char *) b->items + at))
                        return true;
        }
        return false;
}

static double number_at(const AldField *field, const void *value)
{
        switch (field->type) {
        case ALD_TYPE_UINT64:
                return (double) *(const uint64_t *) value;
        case ALD_TYPE_INT64:
                return (double) *(const int64_t *) value;
        case ALD_TYPE_DOUBLE:
                return *(const double *) value;
        default:
                g_assert_not_reached();
        }
}

bool ald_field_beyond_threshold(const AldField *field, const void *a, const void *b)
{
        double from, threshold;

        if (field->type == ALD_TYPE_ROWS)
                return rows_beyond_threshold(a, b);
        if (ald_field_compare(field, a, b) == 0)
                return false;
        if (field->threshold <= 0 || ald_field_is_absent(field, a) || ald_field_is_absent(field, b))
                return true;

        from = number_at(field, a);
        threshold = field->relative ? field->threshold * fabs(from) : field->threshold;
        threshold = fmax(threshold, field->threshold_min);
        if (field->threshold_max > 0)
                threshold = fmin(threshold, field->threshold_max);
        return fabs(number_at(field, b) - from) >= threshold;
}

const AldField *ald_struct_find_next(const AldStruct *type, const char *name, size_t *next)
{
        for (size_t n = 0; n < type->n_fields; n++) {
                size_t i = *next + n < type->n_fields ? *next + n : *next + n - type->n_fields;
                const AldField *field = &type->fields[i];

                if (field->name[0] == name[0] && strcmp(field->name, name) == 0) {
                        *next = i + 1;
                        return field;
                }
        }
        return NULL;
}

const AldField *ald_struct_find(const AldStruct *type, const char *name)
{
        size_t next = 0;

        return ald_struct_find_next(type, name, &next);
}

const AldField *ald_struct_find_rows(const AldStruct *type)
{
        for (size_t i = 0; i < type->n_fields; i++)
                if (type->fields[i].type == ALD_TYPE_ROWS)
                        return &type->fields[i];
        return NULL;
}

const char *ald_field_signature(const AldField *field)
{
        static const char *const signatures[] = {
                [ALD_TYPE_STRING] = "s",
                [ALD_TYPE_UINT64] = "t",
                [ALD_TYPE_INT64] = "x",
                [ALD_TYPE_DOUBLE] = "d",
                [ALD_TYPE_BOOLEAN] = "b",
                [ALD_TYPE_STRV] = "as",
                [ALD_TYPE_ROWS] = "aa{sv}",
        };

        return signatures[field->type];
}

static size_t value_size(AldType type)
{
        switch (type) {
        case ALD_TYPE_STRING:
        case ALD_TYPE_STRV:
                return sizeof(char *);
        case ALD_TYPE_UINT64:
        case ALD_TYPE_INT64:
        case ALD_TYPE_DOUBLE:
                return sizeof(uint64_t);
        case ALD_TYPE_BOOLEAN:
                return sizeof(int);
        case ALD_TYPE_ROWS:
                return sizeof(AldRows);
        }
        g_assert_not_reached();
}

void ald_field_copy(const AldField *field, void *to, const void *from)
{
        memcpy((char *) to + field->offset, ald_field_of(field, from), value_size(field->type));
}

void ald_field_clear(const AldField *field, void *value)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
        case ALD_TYPE_STRV:
                *(const void **) value = NULL;
                break;
        case ALD_TYPE_UINT64:
                *(uint64_t *) value = ALD_ABSENT_UINT64;
                break;
        case ALD_TYPE_INT64:
                *(int64_t *) value = ALD_ABSENT_INT64;
                break;
        case ALD_TYPE_DOUBLE:
                *(double *) value = ALD_ABSENT_DOUBLE;
                break;
        case ALD_TYPE_BOOLEAN:
                *(int *) value = ALD_ABSENT_BOOLEAN;
                break;
        case ALD_TYPE_ROWS:
                ((AldRows *) value)->n = 0;
        }
}

void ald_struct_copy_common(const AldStruct *to_type, void *to, const AldStruct *from_type, const void *from)
{
        size_t next = 0;

        for (size_t i = 0; i < from_type->n_fields; i++) {
                const AldField *source = &from_type->fields[i];
                const AldField *field = ald_struct_find_next(to_type, source->name, &next);

                if (field && field->type == source->type && field->rows == source->rows)
                        memcpy((char *) to + field->offset, ald_field_of(source, from),
                                value_size(field->type));
        }
}

void ald_struct_overlay(const AldStruct *type, void *to, const void *from)
{
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_field_of(field, from);

                if (!ald_field_is_absent(field, value))
                        memcpy((char *) to + field->offset, value, value_size(field->type));
        }
}

/* Computes FNV-1a. */
uint64_t ald_hash_bytes(uint64_t hash, const void *data, size_t n)
{
        const uint8_t *bytes = data;

        for (size_t i = 0; i < n; i++)
                hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
        return hash;
}

uint64_t ald_hash_mix(uint64_t hash)
{
        hash = (hash ^ hash >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        hash = (hash ^ hash >> 27) * UINT64_C(0x94d049bb133111eb);
        return hash ^ hash >> 31;
}

/* Hashes the terminating NUL too, so that "ab", "c" differs from "a", "bc", and no text from "". */
uint64_t ald_hash_text(uint64_t hash, const char *text)
{
        return text ? ald_hash_bytes(hash, text, strlen(text) + 1) : ald_hash_bytes(hash, "\377", 1);
}

uint64_t ald_hash_texts(uint64_t hash, const char *const *texts)
{
        for (; texts && *texts; texts++)
                hash = ald_hash_text(hash, *texts);
        return ald_hash_text(hash, NULL);
}

uint64_t ald_field_hash(const AldField *field, const void *value, uint64_t hash)
{
        if (ald_field_is_absent(field, value))
                return hash;
        switch (field->type) {
        case ALD_TYPE_STRING:
                return ald_hash_text(hash, string_at(value));
        case ALD_TYPE_STRV:
                return ald_hash_texts(hash, strv_at(value));
        case ALD_TYPE_BOOLEAN:
                return ald_hash_bytes(hash, value, sizeof(int));
        case ALD_TYPE_ROWS:
                return hash;
        default:
                return ald_hash_bytes(hash, value, sizeof(uint64_t));
        }
}

/* Takes space from a block that is large enough, or only counts if there is no block. */
typedef struct StructCopy {
        char *block;
        size_t used;
} StructCopy;

static void *take_space(StructCopy *copy, size_t n)
{
        void *at = copy->block ? copy->block + copy->used : NULL;

        copy->used += (n + 7) & ~(size_t) 7;
        return at;
}

static char *copy_string(StructCopy *copy, const char *string)
{
        size_t n = strlen(string) + 1;
        char *to = take_space(copy, n);

        return to ? memcpy(to, string, n) : NULL;
}

static void copy_strings(StructCopy *copy, const AldField *field, void *to, const char *const *strings)
{
        size_t n = 0;
        char **list;

        while (strings[n])
                n++;
        list = take_space(copy, (n + 1) * sizeof *list);
        for (size_t i = 0; i < n; i++) {
                char *string = copy_string(copy, strings[i]);

                if (list)
                        list[i] = string;
        }
        if (!list)
                return;
        list[n] = NULL;
        *(char ***) ((char *) to + field->offset) = list;
}

static void copy_struct(StructCopy *copy, const AldStruct *type, const void *from)
{
        char *to = take_space(copy, type->size);

        if (to)
                memcpy(to, from, type->size);
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_field_of(field, from);

                /* An absent value may still point to memory of `from`, which may be freed before the copy. */
                if (ald_field_is_absent(field, value)) {
                        if (to)
                                ald_field_clear(field, to + field->offset);
                } else if (field->type == ALD_TYPE_STRING) {
                        char *string = copy_string(copy, *(const char *const *) value);

                        if (to)
                                *(char **) (to + field->offset) = string;
                } else if (field->type == ALD_TYPE_STRV)
                        copy_strings(copy, field, to, *(const char *const *const *) value);
        }
}

size_t ald_struct_size(const AldStruct *type, const void *from)
{
        StructCopy copy = {};

        copy_struct(&copy, type, from);
        return copy.used;
}

void *ald_struct_dup(const AldStruct *type, const void *from)
{
        StructCopy copy = {};

        copy_struct(&copy, type, from);
        copy = (StructCopy){ .block = g_malloc(copy.used) };
        copy_struct(&copy, type, from);
        return copy.block;
}

/* The most bytes, with alignment, that a D-Bus message needs for a row, for an entry of an a{sv} beside its
 * name and text, for a fixed field beside its text, and for a string in a list beside its text. */
#define WIRE_PER_ROW 16u
#define WIRE_PER_ENTRY 24u
#define WIRE_PER_FIXED 16u
#define WIRE_PER_STRING 8u

static size_t strings_size(const char *const *strings)
{
        size_t size = 0;

        for (; strings && *strings; strings++)
                size += WIRE_PER_STRING + strlen(*strings);
        return size;
}

size_t ald_struct_wire_size(const AldStruct *type, const void *base)
{
        size_t size = WIRE_PER_ROW;

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_field_of(field, base);

                if (i >= type->n_fixed && ald_field_is_absent(field, value))
                        continue;
                size += i < type->n_fixed ? WIRE_PER_FIXED : WIRE_PER_ENTRY + strlen(field->name);
                if (field->type == ALD_TYPE_STRING)
                        size += strlen(*(const char *const *) value ?: "");
                else if (field->type == ALD_TYPE_STRV)
                        size += strings_size(*(const char *const *const *) value);
        }
        return size;
}
