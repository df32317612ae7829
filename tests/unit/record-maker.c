/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record-key.h"
#include "tests/unit/record-maker.h"

AldRecord *record_make(AldKind kind, const void *fields)
{
        AldRecord *record = NULL;

        g_assert_cmpint(ald_record_new(kind, fields, &record), ==, 0);
        return record;
}

static unsigned pick(unsigned n)
{
        return (unsigned) g_test_rand_int_range(0, (gint32) n);
}

static const char *random_string(GPtrArray *owned)
{
        static const char *const strings[] = { NULL, "", "a", "b", "ä", "\xff", "a longer one", "\"\\" };
        unsigned i = pick(G_N_ELEMENTS(strings) + 1);
        char *filled;

        if (i < G_N_ELEMENTS(strings))
                return strings[i];
        filled = g_strnfill(ALD_STRING_MAX - 1 + pick(3), 'x');
        g_ptr_array_add(owned, filled);
        return filled;
}

static const char *const *random_strv(GPtrArray *owned)
{
        unsigned n = pick(4);
        const char **strv = g_new0(const char *, n + 1);

        g_ptr_array_add(owned, strv);
        for (unsigned i = 0; i < n; i++)
                strv[i] = random_string(owned) ?: "";
        return strv;
}

static int64_t random_integer(void)
{
        static const int64_t integers[] = { 0, 1, 2, 3, 1000, ALD_INTEGER_MAX - 1, ALD_INTEGER_MAX,
                ALD_INTEGER_MAX + 1, INT64_MAX };

        return integers[pick(G_N_ELEMENTS(integers))];
}

static double random_double(void)
{
        static const double doubles[] = { 0, -0.0, 1, 0.1, 1.0 / 3, -2.5e-300, 1.7e308, NAN, INFINITY };

        return doubles[pick(G_N_ELEMENTS(doubles))];
}

static void random_fields(const AldStruct *type, void *to, GPtrArray *owned);

static AldRows random_rows(const AldStruct *type, GPtrArray *owned)
{
        size_t n = pick(4);
        char *items = g_malloc_n(n, type->size);

        g_ptr_array_add(owned, items);
        for (size_t i = 0; i < n; i++)
                random_fields(type, items + i * type->size, owned);
        return (AldRows){ .type = type, .items = items, .n = n };
}

static void random_field(const AldField *field, void *to, GPtrArray *owned)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                *(const char **) to = random_string(owned);
                break;
        case ALD_TYPE_UINT64:
                *(uint64_t *) to = (uint64_t) random_integer();
                break;
        case ALD_TYPE_INT64:
                *(int64_t *) to = pick(2) ? random_integer() : -random_integer();
                break;
        case ALD_TYPE_DOUBLE:
                *(double *) to = random_double();
                break;
        case ALD_TYPE_BOOLEAN:
                *(int *) to = (int) pick(3);
                break;
        case ALD_TYPE_STRV:
                *(const char *const **) to = random_strv(owned);
                break;
        case ALD_TYPE_ROWS:
                *(AldRows *) to = random_rows(field->rows, owned);
                break;
        }
}

static void random_fields(const AldStruct *type, void *to, GPtrArray *owned)
{
        memcpy(to, type->absent, type->size);
        for (size_t i = 0; i < type->n_fields; i++)
                if (type->fields[i].type == ALD_TYPE_ROWS || pick(2))
                        random_field(&type->fields[i], (char *) to + type->fields[i].offset, owned);
}

static void set_string(const AldStruct *type, void *fields, const char *name, const char *value)
{
        *(const char **) ((char *) fields + ald_struct_find(type, name)->offset) = value;
}

AldRecord *record_random_for(AldKind kind, const AldId *node, const char *key)
{
        const AldStruct *type = ald_kinds[kind].type;
        g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
        g_autofree void *fields = g_malloc(type->size);
        char source[ALD_ID_STRING_SIZE], sink[ALD_ID_STRING_SIZE];
        AldId id;

        random_fields(type, fields, owned);
        if (node && ald_kinds[kind].is_link) {
                g_assert_cmpint(ald_key_parse(kind, key, &id), ==, 0);
                set_string(type, fields, "Source", ald_id_format(node, source));
                set_string(type, fields, "Sink", ald_id_format(&id, sink));
        }
        return record_make(kind, fields);
}

AldRecord *record_random(AldKind kind)
{
        return record_random_for(kind, NULL, NULL);
}

AldId id_make(unsigned n)
{
        AldId id = { 0 };

        for (unsigned i = 0; i < sizeof n; i++)
                id.bytes[i] = (uint8_t) (n >> (8 * (sizeof n - 1 - i)));
        return id;
}

char *key_make(AldKind kind, const AldId *sink, unsigned n)
{
        char id[ALD_ID_STRING_SIZE];

        ald_id_format(sink, id);
        if (kind == ALD_KIND_LINK_RDMA)
                return g_strdup_printf("mlx5_%u.1,%s,mlx5_0.1", n, id);
        return g_strdup_printf("%s,192.0.2.%u", id, n);
}

static void assert_same_fields(const AldStruct *type, const void *a, const void *b);

static void assert_same_rows(const AldRows *a, const AldRows *b)
{
        g_assert_true(a->type == b->type);
        g_assert_cmpuint(a->n, ==, b->n);
        for (size_t i = 0; i < a->n; i++)
                assert_same_fields(a->type, ald_rows_at(a, i), ald_rows_at(b, i));
}

static void assert_same_strv(const char *const *a, const char *const *b)
{
        static const char *const empty[] = { NULL };

        a = a ?: empty;
        b = b ?: empty;
        for (; *a && *b; a++, b++)
                g_assert_cmpstr(*a, ==, *b);
        g_assert_true(!*a && !*b);
}

static void assert_same_fields(const AldStruct *type, const void *a, const void *b)
{
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const void *left = ald_field_of(field, a), *right = ald_field_of(field, b);

                if (field->type == ALD_TYPE_STRING)
                        g_assert_cmpstr(*(const char *const *) left, ==, *(const char *const *) right);
                else if (field->type == ALD_TYPE_STRV)
                        assert_same_strv(
                                *(const char *const *const *) left, *(const char *const *const *) right);
                else if (field->type == ALD_TYPE_ROWS)
                        assert_same_rows(left, right);
                else
                        g_assert_cmpmem(left, field->type == ALD_TYPE_BOOLEAN ? sizeof(int) : 8, right,
                                field->type == ALD_TYPE_BOOLEAN ? sizeof(int) : 8);
        }
}

void records_assert_same(const AldRecord *a, const AldRecord *b)
{
        g_assert_cmpint(a->kind, ==, b->kind);
        g_assert_cmpint(ald_record_compare(a, b), ==, 0);
        g_assert_cmpuint(ald_record_diff(a, b), ==, 0);
        g_assert_cmpuint(a->hash, ==, b->hash);
        g_assert_cmpuint(a->size, ==, b->size);
        assert_same_fields(ald_record_type(a), ald_record_fields(a), ald_record_fields(b));
}
