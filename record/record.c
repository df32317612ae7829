/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"

/* D-Bus puts each entry of an a{sv} on 8 bytes: lengths, terminators, signature and padding beside the name.
 */
#define WIRE_ENTRY 24u

/* Fills a block from its start. What is beyond its room is only measured, so that one walk serves both. */
typedef struct Packer {
        char *block;
        size_t room, used;

        /* Of what is in the block: */
        size_t wire;
        uint64_t hash;
} Packer;

/* Bytes of a block that may remain unused. */
#define SLACK_MAX 64u

#define HASH_BASIS UINT64_C(0xcbf29ce484222325)

/* FNV-1a, by words where it can be. */
static void hash_word(Packer *p, uint64_t word)
{
        if (!p->block)
                return;
        p->hash = (p->hash ^ word) * UINT64_C(0x100000001b3);
        p->hash ^= p->hash >> 32;
}

static void hash_string(Packer *p, const char *string)
{
        if (!p->block)
                return;
        for (; *string; string++)
                p->hash = (p->hash ^ (unsigned char) *string) * UINT64_C(0x100000001b3);
        hash_word(p, 0);
}

static void *pack_space(Packer *p, size_t n)
{
        size_t begin = p->used;

        p->used += ALD_RECORD_ALIGN(n);
        return p->used <= p->room ? p->block + begin : NULL;
}

static void *pack_bytes(Packer *p, const void *bytes, size_t n)
{
        void *at = pack_space(p, n);

        if (at)
                memcpy(at, bytes, n);
        return at;
}

/* These are no text, and sd-bus takes none of them, though GLib does. All begin with such a byte. */
static bool has_noncharacter(const char *utf8)
{
        for (const char *p = utf8; *p; p++) {
                gunichar c = (unsigned char) *p >= 0xef ? g_utf8_get_char(p) : 0;

                if ((c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe)
                        return true;
        }
        return false;
}

static bool string_is_sayable(const char *string)
{
        size_t n = 0;

        if (!string || !*string)
                return false;
        while (n <= ALD_STRING_MAX &&
                (signed char) string[n] > 0) /* most are ASCII, and need no other look */
                n++;
        if (n <= ALD_STRING_MAX && string[n] == '\0')
                return true;
        n = strnlen(string, ALD_STRING_MAX + 1);
        return n <= ALD_STRING_MAX && g_utf8_validate(string, (gssize) n, NULL) && !has_noncharacter(string);
}

static const char *pack_string(Packer *p, const char *string)
{
        size_t n = strlen(string) + 1;

        p->wire += n;
        hash_string(p, string);
        return pack_bytes(p, string, n);
}

static const char *const *pack_strv(Packer *p, const char *const *strv)
{
        size_t n = 0;
        const char **copy;

        for (size_t i = 0; strv[i]; i++)
                n += string_is_sayable(strv[i]);

        copy = pack_space(p, (n + 1) * sizeof(char *));
        p->wire += 8 * n;
        for (size_t i = 0, at = 0; strv[i]; i++) {
                const char *string;

                if (!string_is_sayable(strv[i]))
                        continue;
                string = pack_string(p, strv[i]);
                if (copy)
                        copy[at++] = string;
        }
        if (copy)
                copy[n] = NULL;
        return copy;
}

static const char *row_id(const AldStruct *type, const void *row)
{
        return *(const char *const *) ald_field_of(&type->fields[0], row);
}

static int compare_ids(gconstpointer a, gconstpointer b, gpointer type)
{
        return strcmp(row_id(type, *(const void *const *) a), row_id(type, *(const void *const *) b));
}

/* The rows that have an Id of their own, sorted by it. */
static GPtrArray *rows_in_order(const AldRows *rows)
{
        GPtrArray *order = g_ptr_array_sized_new((guint) rows->n);
        guint kept = 0;

        for (size_t i = 0; i < rows->n; i++)
                if (string_is_sayable(row_id(rows->type, ald_rows_at(rows, i))))
                        g_ptr_array_add(order, (gpointer) ald_rows_at(rows, i));
        g_ptr_array_sort_with_data(order, compare_ids, (gpointer) rows->type);

        for (guint i = 0; i < order->len; i++)
                if (i == 0 ||
                        compare_ids(&order->pdata[kept - 1], &order->pdata[i], (gpointer) rows->type) != 0)
                        order->pdata[kept++] = order->pdata[i];
        g_ptr_array_set_size(order, (gint) kept);
        return order;
}

static void pack_struct(Packer *p, const AldStruct *type, void *to, const void *from);

/* What was read from another daemon is in order already, as most rows are, and needs no list of its own. */
static bool are_in_order(const AldRows *rows)
{
        for (size_t i = 0; i < rows->n; i++) {
                const char *id = row_id(rows->type, ald_rows_at(rows, i));

                if (!string_is_sayable(id) ||
                        (i > 0 && strcmp(row_id(rows->type, ald_rows_at(rows, i - 1)), id) >= 0))
                        return false;
        }
        return true;
}

static AldRows pack_rows(Packer *p, const AldRows *rows)
{
        g_autoptr(GPtrArray) order = are_in_order(rows) ? NULL : rows_in_order(rows);
        size_t n = order ? order->len : rows->n, size = rows->type->size;
        char *items = n > 0 ? pack_space(p, n * size) : NULL;

        hash_word(p, n);
        for (size_t i = 0; i < n; i++) {
                p->wire += 8;
                pack_struct(p, rows->type, items ? items + i * size : NULL,
                        order ? order->pdata[i] : ald_rows_at(rows, i));
        }
        return (AldRows){ .type = rows->type, .items = items, .n = n };
}

static bool integer_is_sayable(const AldField *field, const void *value)
{
        if (field->type == ALD_TYPE_UINT64)
                return *(const uint64_t *) value <= (uint64_t) ALD_INTEGER_MAX;
        return llabs(MAX(*(const int64_t *) value, -INT64_MAX)) <= ALD_INTEGER_MAX;
}

static bool strv_is_sayable(const char *const *strv)
{
        for (; strv && *strv; strv++)
                if (string_is_sayable(*strv))
                        return true;
        return false;
}

/* Whether the field will be there in the record. */
static bool is_sayable(const AldField *field, const void *value)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                return string_is_sayable(*(const char *const *) value);
        case ALD_TYPE_STRV:
                return strv_is_sayable(*(const char *const *const *) value);
        case ALD_TYPE_UINT64:
        case ALD_TYPE_INT64:
                return integer_is_sayable(field, value);
        default:
                return !ald_field_is_absent(field, value);
        }
}

/* Of 64 bits, whole or not. */
static void pack_number(Packer *p, void *to, const void *from)
{
        uint64_t word;

        memcpy(&word, from, sizeof word);
        hash_word(p, word);
        if (to)
                memcpy(to, from, sizeof word);
}

static void pack_field(Packer *p, const AldField *field, void *to, const void *from)
{
        const char *string;
        const char *const *strv;
        AldRows rows;
        double real;
        int truth;

        switch (field->type) {
        case ALD_TYPE_STRING:
                string = pack_string(p, *(const char *const *) from);
                if (to)
                        *(const char **) to = string;
                break;
        case ALD_TYPE_STRV:
                strv = pack_strv(p, *(const char *const *const *) from);
                if (to)
                        *(const char *const **) to = strv;
                break;
        case ALD_TYPE_ROWS:
                rows = pack_rows(p, from);
                if (to)
                        *(AldRows *) to = rows;
                break;
        case ALD_TYPE_UINT64:
        case ALD_TYPE_INT64:
                pack_number(p, to, from);
                break;
        case ALD_TYPE_DOUBLE:
                real = *(const double *) from + 0.0; /* -0 becomes 0, which it compares equal to */
                pack_number(p, to, &real);
                break;
        case ALD_TYPE_BOOLEAN:
                truth = *(const int *) from != 0;
                hash_word(p, (uint64_t) truth);
                if (to)
                        *(int *) to = truth;
                break;
        }
}

/* Absent fields take no part in the hash; the index before a value identifies its field. */
static void pack_struct(Packer *p, const AldStruct *type, void *to, const void *from)
{
        if (to)
                memcpy(to, type->absent, type->size);

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *value = ald_field_of(field, from);

                if (!is_sayable(field, value))
                        continue;
                p->wire += WIRE_ENTRY + strlen(field->name);
                hash_word(p, i);
                pack_field(p, field, to ? (char *) to + field->offset : NULL, value);
        }
}

static Packer pack(AldKind kind, const void *fields, char *block, size_t room)
{
        const AldStruct *type = ald_kinds[kind].type;
        Packer packer = { .block = block, .room = room, .hash = HASH_BASIS };

        pack_space(&packer, sizeof(AldRecord));
        pack_struct(&packer, type, pack_space(&packer, type->size), fields);
        return packer;
}

int ald_record_new_sized(AldKind kind, const void *fields, size_t room, AldRecord **ret)
{
        g_autofree char *block = room > 0 && room <= ALD_RECORD_MAX ? g_malloc(room) : NULL;
        Packer packer = pack(kind, fields, block, block ? room : 0);

        if (packer.used > ALD_RECORD_MAX)
                return -E2BIG;
        if (packer.used > packer.room || packer.room - packer.used > SLACK_MAX) {
                g_free(block);
                block = g_malloc(packer.used);
                packer = pack(kind, fields, block, packer.used);
        }
        *ret = (AldRecord *) g_steal_pointer(&block);
        **ret = (AldRecord){
                .n_ref = 1,
                .kind = kind,
                .size = (uint32_t) packer.used,
                .wire_size = (uint32_t) packer.wire,
                .hash = packer.hash,
        };
        return 0;
}

int ald_record_new(AldKind kind, const void *fields, AldRecord **ret)
{
        return ald_record_new_sized(kind, fields, 0, ret);
}

const char *ald_record_describe(int error)
{
        switch (error) {
        case -EBADMSG:
                return "missing, or of the wrong type";
        case -ERANGE:
                return "out of range";
        case -E2BIG:
                return "exceeds the limit of a record";
        case -EINVAL:
                return "does not belong to the key or kind";
        case -ENOENT:
                return "unknown";
        case -ENOSPC:
                return "the limit is reached";
        default:
                return g_strerror(-error);
        }
}

AldRecord *ald_record_ref(AldRecord *record)
{
        record->n_ref++;
        return record;
}

void ald_record_unref(AldRecord *record)
{
        if (--record->n_ref == 0)
                g_free(record);
}

const void *ald_record_checked(const AldRecord *record, AldKind kind)
{
        if (!record)
                return NULL;
        g_assert(record->kind == kind);
        return ald_record_fields(record);
}

int ald_record_compare(const AldRecord *a, const AldRecord *b)
{
        const AldStruct *type = ald_record_type(a);

        g_assert(a->kind == b->kind);
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                int r = ald_field_compare(field, ald_record_field(a, field), ald_record_field(b, field));
                if (r != 0)
                        return r;
        }
        return 0;
}

uint64_t ald_record_diff(const AldRecord *a, const AldRecord *b)
{
        const AldStruct *type = ald_record_type(a);
        uint64_t diff = 0;

        g_assert(a->kind == b->kind);
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                if (ald_field_compare(field, ald_record_field(a, field), ald_record_field(b, field)) != 0)
                        diff |= UINT64_C(1) << i;
        }
        return diff;
}

bool ald_record_beyond_threshold(const AldRecord *a, const AldRecord *b)
{
        const AldStruct *type = ald_record_type(a);

        g_assert(a->kind == b->kind);
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                if (ald_field_beyond_threshold(field, ald_record_field(a, field), ald_record_field(b, field)))
                        return true;
        }
        return false;
}

size_t ald_record_changed_size(const AldRecord *record)
{
        const AldStruct *type = ald_record_type(record);
        size_t size = record->wire_size;

        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];

                if (ald_field_is_absent(field, ald_record_field(record, field)))
                        size += WIRE_ENTRY + strlen(field->name);
        }
        return size;
}

const void *ald_rows_find(const AldRows *rows, const char *id)
{
        size_t low = 0, high = rows->n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;
                const void *row = ald_rows_at(rows, middle);
                int r = strcmp(id, row_id(rows->type, row));

                if (r == 0)
                        return row;
                if (r < 0)
                        high = middle;
                else
                        low = middle + 1;
        }
        return NULL;
}
