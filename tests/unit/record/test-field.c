/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "record/field.h"
#include "tests/unit/record-maker.h"

static const AldField string_field = { .name = "S", .type = ALD_TYPE_STRING };
static const AldField uint64_field = { .name = "U", .type = ALD_TYPE_UINT64 };
static const AldField int64_field = { .name = "I", .type = ALD_TYPE_INT64 };
static const AldField double_field = { .name = "D", .type = ALD_TYPE_DOUBLE };
static const AldField boolean_field = { .name = "B", .type = ALD_TYPE_BOOLEAN };
static const AldField strv_field = { .name = "A", .type = ALD_TYPE_STRV };
static const AldField rows_field = { .name = "R", .type = ALD_TYPE_ROWS };

static void test_absent(void)
{
        const char *no_string = NULL, *empty = "", *blank = " ";
        uint64_t no_uint64 = UINT64_MAX, zero = 0;
        int64_t no_int64 = INT64_MIN, least = INT64_MIN + 1;
        double nan_double = NAN, infinite = -INFINITY, none = 0;
        int no_boolean = -1, falsehood = 0;
        const char *const empty_strv[] = { NULL }, *const strv[] = { "", NULL };
        const char *const *no_list = NULL, *const *empty_list = empty_strv, *const *list = strv;
        AldRows rows = { 0 };

        g_assert_true(ald_field_is_absent(&string_field, &no_string));
        g_assert_true(ald_field_is_absent(&string_field, &empty));
        g_assert_false(ald_field_is_absent(&string_field, &blank));
        g_assert_true(ald_field_is_absent(&uint64_field, &no_uint64));
        g_assert_false(ald_field_is_absent(&uint64_field, &zero));
        g_assert_true(ald_field_is_absent(&int64_field, &no_int64));
        g_assert_false(ald_field_is_absent(&int64_field, &least));
        g_assert_true(ald_field_is_absent(&double_field, &nan_double));
        g_assert_true(ald_field_is_absent(&double_field, &infinite));
        g_assert_false(ald_field_is_absent(&double_field, &none));
        g_assert_true(ald_field_is_absent(&boolean_field, &no_boolean));
        g_assert_false(ald_field_is_absent(&boolean_field, &falsehood));
        g_assert_true(ald_field_is_absent(&strv_field, &no_list));
        g_assert_true(ald_field_is_absent(&strv_field, &empty_list));
        g_assert_false(ald_field_is_absent(&strv_field, &list));
        g_assert_false(ald_field_is_absent(&rows_field, &rows));
}

static void test_figures(void)
{
        static const AldField time_field = {
                .name = "MeasuredUSec", .type = ALD_TYPE_UINT64, .unit = &ald_unit_microseconds_since_1970
        };

        g_assert_true(ald_field_is_figure(&uint64_field));
        g_assert_true(ald_field_is_figure(&int64_field));
        g_assert_true(ald_field_is_figure(&double_field));
        g_assert_true(ald_field_is_figure(&boolean_field));
        g_assert_false(ald_field_is_figure(&time_field));
        g_assert_false(ald_field_is_figure(&string_field));
        g_assert_false(ald_field_is_figure(&strv_field));
        g_assert_false(ald_field_is_figure(&rows_field));
}

/* All fields of the absent instance of each struct are absent. */
static void test_absent_instances(void)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                const AldStruct *type = ald_kinds[kind].type;

                for (size_t i = 0; i < type->n_fields; i++) {
                        const AldField *field = &type->fields[i];
                        const void *value = ald_field_of(field, type->absent);

                        if (field->type == ALD_TYPE_ROWS)
                                g_assert_true(((const AldRows *) value)->type == field->rows);
                        else
                                g_assert_true(ald_field_is_absent(field, value));
                }
        }
}

#define ASSERT_ORDER(field, smaller, greater)                                                \
        G_STMT_START                                                                         \
        {                                                                                    \
                g_assert_cmpint(ald_field_compare(&(field), &(smaller), &(greater)), <, 0);  \
                g_assert_cmpint(ald_field_compare(&(field), &(greater), &(smaller)), >, 0);  \
                g_assert_cmpint(ald_field_compare(&(field), &(smaller), &(smaller)), ==, 0); \
        }                                                                                    \
        G_STMT_END

static void test_order(void)
{
        const char *a = "a", *b = "b", *none = NULL, *empty = "";
        const char *const ab_strv[] = { "a", "b", NULL }, *const a_strv[] = { "a", NULL },
                          *const b_strv[] = { "b", NULL };
        const char *const *ab = ab_strv, *const *only_a = a_strv, *const *only_b = b_strv,
                          *const *no_list = NULL;
        uint64_t no_uint64 = UINT64_MAX, zero = 0, two63 = UINT64_C(1) << 63;
        int64_t no_int64 = INT64_MIN, minus = -5, plus = 5;
        double no_double = NAN, infinite = INFINITY, small = -1e300, great = 1e300;
        int no_boolean = -1, no = 0, yes = 1;

        ASSERT_ORDER(string_field, a, b);
        ASSERT_ORDER(string_field, none, a);
        g_assert_cmpint(ald_field_compare(&string_field, &none, &empty), ==, 0);
        ASSERT_ORDER(strv_field, only_a, ab);
        ASSERT_ORDER(strv_field, ab, only_b);
        ASSERT_ORDER(strv_field, no_list, only_a);
        ASSERT_ORDER(uint64_field, no_uint64, zero);
        ASSERT_ORDER(uint64_field, zero, two63);
        ASSERT_ORDER(int64_field, no_int64, minus);
        ASSERT_ORDER(int64_field, minus, plus);
        ASSERT_ORDER(double_field, no_double, small);
        ASSERT_ORDER(double_field, small, great);
        g_assert_cmpint(ald_field_compare(&double_field, &no_double, &infinite), ==, 0);
        ASSERT_ORDER(boolean_field, no_boolean, no);
        ASSERT_ORDER(boolean_field, no, yes);
}

static int sign(int n)
{
        return (n > 0) - (n < 0);
}

/* What merging stands on, over all fields of all kinds. */
static void test_order_is_total(void)
{
        for (unsigned round = 0; round < 4000; round++) {
                AldKind kind = (AldKind) g_test_rand_int_range(0, ALD_N_KINDS);
                g_autoptr(AldRecord) a = record_random(kind);
                g_autoptr(AldRecord) b = record_random(kind);
                g_autoptr(AldRecord) c = record_random(kind);
                const AldStruct *type = ald_kinds[kind].type;

                for (size_t i = 0; i < type->n_fields; i++) {
                        const AldField *field = &type->fields[i];
                        const void *x = ald_record_field(a, field), *y = ald_record_field(b, field);
                        const void *z = ald_record_field(c, field);
                        int xy = sign(ald_field_compare(field, x, y)),
                            yz = sign(ald_field_compare(field, y, z));

                        g_assert_cmpint(ald_field_compare(field, x, x), ==, 0);
                        g_assert_cmpint(sign(ald_field_compare(field, y, x)), ==, -xy);
                        if (xy == yz)
                                g_assert_cmpint(sign(ald_field_compare(field, x, z)), ==, xy);
                        if (xy == 0)
                                g_assert_cmpint(sign(ald_field_compare(field, x, z)), ==, yz);
                        g_assert_true(!ald_field_beyond_threshold(field, x, y) || xy != 0);
                }
        }
}

static bool beyond(const AldField *field, uint64_t a, uint64_t b)
{
        return ald_field_beyond_threshold(field, &a, &b);
}

static void test_thresholds(void)
{
        AldField plain = uint64_field, absolute = uint64_field, relative = uint64_field;

        absolute.threshold = 1000;
        relative.threshold = 0.1;
        relative.relative = true;

        g_assert_true(beyond(&plain, 5, 6));
        g_assert_false(beyond(&plain, 5, 5));
        g_assert_false(beyond(&absolute, 5000, 5999));
        g_assert_true(beyond(&absolute, 5000, 6000));
        g_assert_true(beyond(&absolute, 5000, 4000));
        g_assert_false(beyond(&absolute, 5000, 4001));
        g_assert_false(beyond(&relative, 1000, 1099));
        g_assert_true(beyond(&relative, 1000, 1100));
        g_assert_true(beyond(&relative, 1000, 900));
        g_assert_true(beyond(&relative, 0, 1));
        /* A share of a large value is capped. */
        relative.threshold_max = 500;
        g_assert_false(beyond(&relative, 1000, 1099));
        g_assert_true(beyond(&relative, 1000, 1100));
        g_assert_false(beyond(&relative, 1000000, 1000499));
        g_assert_true(beyond(&relative, 1000000, 1000500));
        g_assert_true(beyond(&relative, 1000000, 999500));
        /* That of a small one does not go below a number. */
        relative.threshold_min = 20;
        g_assert_false(beyond(&relative, 100, 119));
        g_assert_true(beyond(&relative, 100, 120));
        g_assert_false(beyond(&relative, 0, 19));
        g_assert_true(beyond(&relative, 0, 20));
        g_assert_false(beyond(&relative, 1000, 1099));
        g_assert_true(beyond(&relative, 1000, 1100));
        g_assert_true(beyond(&relative, 1000000, 1000500));
        /* What comes or goes is news at any threshold. */
        g_assert_true(beyond(&absolute, UINT64_MAX, 0));
        g_assert_true(beyond(&absolute, 0, UINT64_MAX));
        g_assert_false(beyond(&absolute, UINT64_MAX, UINT64_MAX));
}

/* On a host with 2 TiB half a percent would be 10 GiB. */
static void test_threshold_of_much_memory(void)
{
        static const char *const names[] = { "AvailableBytes", "SwapAvailableBytes" };
        const uint64_t mib = 1024 * 1024, tib = mib * mib;

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                const AldField *field = ald_struct_find(ald_kinds[ALD_KIND_MEMORY].type, names[i]);

                g_assert_true(beyond(field, 2 * tib, 2 * tib - 256 * mib));
                g_assert_false(beyond(field, 2 * tib, 2 * tib - 255 * mib));
                g_assert_true(beyond(field, 1000 * mib, 995 * mib));
                g_assert_false(beyond(field, 1000 * mib, 996 * mib));
        }
}

static void test_thresholds_of_other_types(void)
{
        AldField degrees = int64_field, percent = double_field;
        int64_t cold = -40000, warmer = -39001, warm = -39000;
        double idle = 3.5, same = 4.4, busy = 4.5, none = NAN, infinite = INFINITY;
        const char *a = "a", *b = "b";

        degrees.threshold = 1000;
        percent.threshold = 1;
        g_assert_false(ald_field_beyond_threshold(&degrees, &cold, &warmer));
        g_assert_true(ald_field_beyond_threshold(&degrees, &cold, &warm));
        g_assert_false(ald_field_beyond_threshold(&percent, &idle, &same));
        g_assert_true(ald_field_beyond_threshold(&percent, &idle, &busy));
        g_assert_true(ald_field_beyond_threshold(&percent, &idle, &none));
        g_assert_false(ald_field_beyond_threshold(&percent, &infinite, &none));
        g_assert_true(ald_field_beyond_threshold(&string_field, &a, &b));
        g_assert_false(ald_field_beyond_threshold(&string_field, &a, &a));
}

static void test_find(void)
{
        for (AldKind kind = 0; kind < ALD_N_KINDS; kind++) {
                const AldStruct *type = ald_kinds[kind].type;

                for (size_t i = 0; i < type->n_fields; i++)
                        g_assert_true(ald_struct_find(type, type->fields[i].name) == &type->fields[i]);
                g_assert_null(ald_struct_find(type, "Revision"));
                g_assert_null(ald_struct_find(type, ""));
        }
}

/* Whatever the order in which they are looked for. */
static void test_find_next(void)
{
        const AldStruct *type = ald_kinds[ALD_KIND_MEMORY].type;
        const AldField *fields = type->fields;
        const size_t last = type->n_fields - 1, sought[] = { 0, 1, 2, last, last, 0, 5, 4, last, 1 };
        size_t next = 0;

        for (size_t i = 0; i < G_N_ELEMENTS(sought); i++) {
                g_assert_null(ald_struct_find_next(type, "Revision", &next));
                g_assert_true(
                        ald_struct_find_next(type, fields[sought[i]].name, &next) == &fields[sought[i]]);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/field/absent", test_absent);
        g_test_add_func("/field/figures", test_figures);
        g_test_add_func("/field/absent-instances", test_absent_instances);
        g_test_add_func("/field/order", test_order);
        g_test_add_func("/field/order-is-total", test_order_is_total);
        g_test_add_func("/field/thresholds", test_thresholds);
        g_test_add_func("/field/threshold-of-much-memory", test_threshold_of_much_memory);
        g_test_add_func("/field/thresholds-of-other-types", test_thresholds_of_other_types);
        g_test_add_func("/field/find", test_find);
        g_test_add_func("/field/find-next", test_find_next);
        return g_test_run();
}
