/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "record/record.h"

/* Bytes of an entry of an a{sv} beside its name, in a D-Bus message: lengths, terminators, signature and
 * alignment to 8 bytes. */
#define WIRE_ENTRY 24u

/* Fills a block from its start. Data beyond its room is only measured, so that one walk serves both purposes.
 */
typedef struct Packer {
        char *block;
        size_t room, used;

        /* Totals of the data in the block. */
        size_t wire;
        uint64_t hash;
} Packer;

/* Bytes of a block that may remain unused. */
#define SLACK_MAX 64u

#define HASH_BASIS UINT64_C(0xcbf29ce484222325)
#define HASH_INDEX UINT64_C(0x9e3779b97f4a7c15) /* differs in all bits from one index to the next */

/* Computes FNV-1a by words. */
static void hash_word(Packer *p, uint64_t word)
{
        if (!p->block)
                return;
        p->hash = (p->hash ^ word) * UINT64_C(0x100000001b3);
        p->hash ^= p->hash >> 32;
}

static void *pack_space(Packer *p, size_t n)
{
        size_t begin = p->used;

        p->used += ALD_RECORD_ALIGN(n);
        return p->used <= p->room ? p->block + begin : NULL;
}

/* Returns whether text contains a noncharacter. GLib accepts these, but sd-bus refuses them. In UTF-8 all
 * begin with a byte from 0xef on. */
static bool has_noncharacter(const char *utf8)
{
        for (const char *p = utf8; *p; p++) {
                gunichar c = (unsigned char) *p >= 0xef ? g_utf8_get_char(p) : 0;

                if ((c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe)
                        return true;
        }
        return false;
}

static bool is_text(const char *string, size_t n)
{
        unsigned char all = 0;

        for (size_t i = 0; i < n; i++)
                all |= (unsigned char) string[i];
        if (all < 0x80) /* most strings are ASCII and need no further check */
                return true;
        return g_utf8_validate(string, (gssize) n, NULL) && !has_noncharacter(string);
}

/* Hashes the copy in the block, in whole words. Returns whether all of it is ASCII. */
static bool hash_words(Packer *p, const char *words, size_t size)
{
        uint64_t all = 0;

        for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
                uint64_t word;

                memcpy(&word, words + i, sizeof word);
                all |= word;
                hash_word(p, GUINT64_FROM_LE(word));
        }
        return (all & UINT64_C(0x8080808080808080)) == 0;
}

/* The functions that pack a value return whether the record can hold it; otherwise they pack nothing. */
static bool pack_string(Packer *p, const char **to, const char *string)
{
        size_t n = string ? strnlen(string, ALD_STRING_MAX + 1) : 0, size = ALD_RECORD_ALIGN(n + 1);
        Packer before = *p;
        char *copy;

        if (n == 0 || n > ALD_STRING_MAX)
                return false;
        copy = pack_space(p, size);
        p->wire += n + 1;
        if (copy) {
                memset(copy + size - sizeof(uint64_t), 0, sizeof(uint64_t));
                memcpy(copy, string, n);
        }
        /* Hashing a string also shows whether it is ASCII, as most are. */
        if ((copy && hash_words(p, copy, size)) || is_text(string, n)) {
                if (to)
                        *to = copy;
                return true;
        }
        *p = before;
        return false;
}

/* Packs the strings that a record can hold. */
static bool pack_strv(Packer *p, const char *const **to, const char *const *strv)
{
        Packer before = *p;
        size_t room, kept = 0;
        const char **copy;

        while (strv && strv[kept])
                kept++;
        do { /* repeats with less room in the rare case that some strings are left out */
                *p = before;
                room = kept;
                copy = pack_space(p, (room + 1) * sizeof(char *));
                kept = 0;
                for (size_t i = 0; room > 0 && strv[i]; i++)
                        kept += pack_string(p, copy ? &copy[kept] : NULL, strv[i]);
        } while (kept < room);
        if (kept == 0) {
                *p = before;
                return false;
        }
        p->wire += 8 * kept;
        if (copy)
                copy[kept] = NULL;
        if (to)
                *to = copy;
        return true;
}

static const char *row_id(const AldStruct *type, const void *row)
{
        return *(const char *const *) ald_field_of(&type->fields[0], row);
}

static int compare_ids(gconstpointer a, gconstpointer b, gpointer type)
{
        return strcmp(row_id(type, *(const void *const *) a), row_id(type, *(const void *const *) b));
}

static bool is_id(const char *string)
{
        size_t n = string ? strnlen(string, ALD_STRING_MAX + 1) : 0;

        return n > 0 && n <= ALD_STRING_MAX && is_text(string, n);
}

/* Returns the rows with a valid and unique Id, sorted by it. */
static GPtrArray *rows_in_order(const AldRows *rows)
{
        GPtrArray *order = g_ptr_array_sized_new((guint) rows->n);
        guint kept = 0;

        for (size_t i = 0; i < rows->n; i++)
                if (is_id(row_id(rows->type, ald_rows_at(rows, i))))
                        g_ptr_array_add(order, (gpointer) ald_rows_at(rows, i));
        g_ptr_array_sort_with_data(order, compare_ids, (gpointer) rows->type);

        for (guint i = 0; i < order->len; i++)
                if (i == 0 ||
                        compare_ids(&order->pdata[kept - 1], &order->pdata[i], (gpointer) rows->type) != 0)
                        order->pdata[kept++] = order->pdata[i];
        g_ptr_array_set_size(order, (gint) kept);
        return order;
}

static bool pack_struct(Packer *p, const AldStruct *type, void *to, const void *from);

/* Returns whether the rows are sorted by Id without duplicates, as most are, since another daemon has packed
 * them before. */
static bool are_in_order(const AldRows *rows)
{
        for (size_t i = 0; i < rows->n; i++) {
                const char *id = row_id(rows->type, ald_rows_at(rows, i));

                if (!id || (i > 0 && strcmp(row_id(rows->type, ald_rows_at(rows, i - 1)), id) >= 0))
                        return false;
        }
        return true;
}

/* Packs the rows in their own order, or in `order`. Returns false if a row lacks an Id that a record can
 * hold. */
static bool pack_rows_in(Packer *p, AldRows *to, const AldRows *rows, const GPtrArray *order)
{
        size_t n = order ? order->len : rows->n, size = rows->type->size;
        char *items = n > 0 ? pack_space(p, n * size) : NULL;

        hash_word(p, n);
        p->wire += 8 * n;
        for (size_t i = 0; i < n; i++)
                if (!pack_struct(p, rows->type, items ? items + i * size : NULL,
                            order ? order->pdata[i] : ald_rows_at(rows, i)))
                        return false;
        if (to)
                *to = (AldRows){ .type = rows->type, .items = items, .n = n };
        return true;
}

static void pack_rows(Packer *p, AldRows *to, const AldRows *rows)
{
        g_autoptr(GPtrArray) order = NULL;
        Packer before = *p;

        if (are_in_order(rows) && pack_rows_in(p, to, rows, NULL))
                return;
        *p = before;
        order = rows_in_order(rows);
        pack_rows_in(p, to, rows, order);
}

/* Packs 64 bits, an integer or a double. */
static void pack_number(Packer *p, void *to, const void *from)
{
        uint64_t word;

        memcpy(&word, from, sizeof word);
        hash_word(p, word);
        if (to)
                memcpy(to, from, sizeof word);
}

static bool pack_integer(Packer *p, void *to, const void *from, bool in_range)
{
        if (in_range)
                pack_number(p, to, from);
        return in_range;
}

static bool pack_double(Packer *p, void *to, double value)
{
        if (!isfinite(value))
                return false;
        value += 0.0; /* turns -0 into 0, which compares equal to it */
        pack_number(p, to, &value);
        return true;
}

static bool pack_boolean(Packer *p, int *to, int value)
{
        if (value == ALD_ABSENT_BOOLEAN)
                return false;
        value = value != 0;
        hash_word(p, (uint64_t) value);
        if (to)
                *to = value;
        return true;
}

static bool pack_value(Packer *p, AldType type, void *to, const void *from)
{
        switch (type) {
        case ALD_TYPE_STRING:
                return pack_string(p, to, *(const char *const *) from);
        case ALD_TYPE_STRV:
                return pack_strv(p, to, *(const char *const *const *) from);
        case ALD_TYPE_ROWS:
                pack_rows(p, to, from);
                return true;
        case ALD_TYPE_UINT64:
                return pack_integer(p, to, from, *(const uint64_t *) from <= (uint64_t) ALD_INTEGER_MAX);
        case ALD_TYPE_INT64:
                return pack_integer(p, to, from,
                        *(const int64_t *) from <= ALD_INTEGER_MAX &&
                                *(const int64_t *) from >= -ALD_INTEGER_MAX);
        case ALD_TYPE_DOUBLE:
                return pack_double(p, to, *(const double *) from);
        case ALD_TYPE_BOOLEAN:
                return pack_boolean(p, to, *(const int *) from);
        }
        g_assert_not_reached();
}

/* Packs a struct. Absent fields do not enter the hash; the index before a value identifies its field. Returns
 * whether the first field is present. */
static bool pack_struct(Packer *p, const AldStruct *type, void *to, const void *from)
{
        bool has_first = false;

        if (to)
                memcpy(to, type->absent, type->size);
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                uint64_t hash = p->hash;

                p->hash += (i + 1) * HASH_INDEX;
                if (!pack_value(p, field->type, to ? (char *) to + field->offset : NULL,
                            ald_field_of(field, from))) {
                        p->hash = hash;
                        continue;
                }
                p->wire += WIRE_ENTRY + field->name_length;
                has_first |= i == 0;
        }
        return has_first;
}

static Packer pack_record(AldKind kind, const void *fields, char *block, size_t room)
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
        Packer packer = pack_record(kind, fields, block, block ? room : 0);

        if (packer.used > ALD_RECORD_MAX)
                return -E2BIG;
        if (packer.used > packer.room || packer.room - packer.used > SLACK_MAX) {
                g_free(block);
                block = g_malloc(packer.used);
                packer = pack_record(kind, fields, block, packer.used);
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

int ald_record_new_of_rows(AldKind kind, const GArray *rows, AldRecord **ret)
{
        const AldStruct *type = ald_kinds[kind].type;
        const AldField *field = ald_struct_find_rows(type);
        const AldRows list = { .type = field->rows, .items = rows->data, .n = rows->len };
        g_autofree char *fields = g_memdup2(type->absent, type->size);

        memcpy(fields + field->offset, &list, sizeof list);
        return ald_record_new(kind, fields, ret);
}

const char *ald_record_describe(int error)
{
        switch (error) {
        case -EBADMSG:
                return "missing, or of the wrong type";
        case -ENXIO:
                return "of the wrong type";
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
                        size += WIRE_ENTRY + field->name_length;
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
