/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "record/record.h"
#include "state/findings/findings-words.h"

/* Rows as a client may receive them. */

#define ROUNDS 2000
#define ARGUMENTS_FROM 2u /* after Id and Severity */

static const char *const two_nodes[] = { "00000001000000000000000000000000",
        "00000002000000000000000000000000", NULL };
static const char *const two_words[] = { "this", "that", NULL };

static void fill(const AldField *field, void *to)
{
        switch (field->type) {
        case ALD_TYPE_STRING:
                *(const char **) to = "something";
                break;
        case ALD_TYPE_UINT64:
                *(uint64_t *) to = 7000000;
                break;
        case ALD_TYPE_INT64:
                *(int64_t *) to = -7000000;
                break;
        case ALD_TYPE_DOUBLE:
                *(double *) to = 70;
                break;
        case ALD_TYPE_BOOLEAN:
                *(int *) to = 0;
                break;
        case ALD_TYPE_STRV:
                *(const char *const **) to = strcmp(field->name, "Nodes") == 0 ? two_nodes : two_words;
                break;
        case ALD_TYPE_ROWS:
                g_assert_not_reached();
        }
}

/* A row with each argument but LeftOut, or with each at the given odds of a hundred. */
static AldFindingRow make_row(AldFindingRowId id, int odds)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        row.id = ald_finding_row_id_to_string(id);
        for (size_t i = ARGUMENTS_FROM; i < ald_finding_row_struct.n_fields; i++) {
                const AldField *field = &ald_finding_row_struct.fields[i];

                if (strcmp(field->name, "LeftOut") != 0 && g_test_rand_int_range(0, 100) < odds)
                        fill(field, (char *) &row + field->offset);
        }
        if (row.problem)
                row.problem = "bridge";
        return row;
}

static void check_words(const char *words)
{
        g_assert_cmpuint(strlen(words), <=, ALD_STRING_MAX);
        g_assert_true(g_utf8_validate(words, -1, NULL));
        g_assert_null(strpbrk(words, "{}"));
}

static void test_each_id_has_words(void)
{
        for (AldFindingRowId id = 0; id < ALD_FINDING_ROW_ID_N; id++) {
                AldFindingRow row = make_row(id, 100);
                g_autofree char *text = ald_finding_text(&row), *remedy = ald_finding_remedy(&row);

                g_test_message("%s: %s %s", row.id, text, remedy);
                g_assert_nonnull(text);
                check_words(text);
                /* Nothing is to be done about a rate that rose. */
                if (id == ALD_FINDING_ROW_ID_FIELD_ABSENT || id == ALD_FINDING_ROW_ID_LINK_RATE_CHANGED)
                        g_assert_null(remedy);
                else
                        check_words(remedy);
        }
}

/* Another version may leave out anything. */
static void test_missing_arguments(void)
{
        for (unsigned i = 0; i < ROUNDS; i++)
                for (AldFindingRowId id = 0; id < ALD_FINDING_ROW_ID_N; id++) {
                        AldFindingRow row = make_row(id, 85);
                        g_autofree char *text = ald_finding_text(&row), *remedy = ald_finding_remedy(&row);

                        if (text)
                                check_words(text);
                        if (remedy)
                                check_words(remedy);
                }
}

static void test_what_is_needed_is_absent(void)
{
        for (AldFindingRowId id = 0; id < ALD_FINDING_ROW_ID_N; id++) {
                AldFindingRow row = make_row(id, 0);

                if (id != ALD_FINDING_ROW_ID_NO_BROKER)
                        g_assert_null(ald_finding_text(&row));
        }
}

static void test_unknown_id(void)
{
        AldFindingRow row = make_row(0, 100);

        row.id = "disk-on-fire";
        g_assert_null(ald_finding_text(&row));
        g_assert_null(ald_finding_remedy(&row));
        row.id = NULL;
        g_assert_null(ald_finding_text(&row));
        g_assert_null(ald_finding_remedy(&row));
}

/* Also of an Id that is unknown here. */
static void test_left_out(void)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        g_autofree char *text = NULL;

        row.id = "disk-on-fire";
        row.left_out = 3;
        text = ald_finding_text(&row);
        g_assert_cmpstr(text, ==, "3 more disk-on-fire findings are left out.");
        g_assert_null(ald_finding_remedy(&row));
}

static char *format_plainly(uint64_t usec)
{
        return usec > 0 ? g_strdup_printf("%" PRIu64, usec) : NULL;
}

/* A time that cannot be written is absent. */
static void test_times_are_the_callers(void)
{
        AldFindingRow row = make_row(ALD_FINDING_ROW_ID_NODE_OFFLINE, 100);
        g_autofree char *utc = ald_finding_text(&row), *text = NULL, *without = NULL;

        row.since_usec = 7000000;
        text = ald_finding_text_with_times(&row, format_plainly);
        row.since_usec = 0;
        without = ald_finding_text_with_times(&row, format_plainly);
        g_assert_true(g_str_has_suffix(utc, " has been offline since 1970-01-01 00:00:07 UTC."));
        g_assert_true(g_str_has_suffix(text, " has been offline since 7000000."));
        g_assert_true(g_str_has_suffix(without, " is offline."));
}

static void test_long_words_are_cut(void)
{
        AldFindingRow row = make_row(ALD_FINDING_ROW_ID_FIELD_ABSENT, 100);

        for (unsigned n = ALD_STRING_MAX - 50; n < ALD_STRING_MAX + 50; n++) {
                g_autofree char *ascii = g_strnfill(n, 'x'), *reason = g_strconcat(ascii, "äöü", NULL);
                g_autofree char *text = NULL;

                row.reason = reason;
                text = ald_finding_text(&row);
                check_words(text);
                if (g_str_has_suffix(text, "…"))
                        g_assert_cmpuint(strlen(text), >, ALD_STRING_MAX - 4);
                else
                        g_assert_true(g_str_has_suffix(text, "ü."));
        }
}

static void test_many_nodes_are_counted(void)
{
        static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", NULL };
        AldFindingRow row = make_row(ALD_FINDING_ROW_ID_BRIDGE_LOOP, 0);
        g_autofree char *eight = NULL, *nine = NULL;

        row.names = names + 1;
        eight = ald_finding_text(&row);
        g_assert_cmpstr(eight, ==,
                "The bridges of b, c, d, e, f, g, h and i form a loop over their Thunderbolt cables.");
        row.names = names;
        nine = ald_finding_text(&row);
        g_assert_cmpstr(nine, ==, "The bridges of 9 nodes form a loop over their Thunderbolt cables.");
}

/* Where a name ends must be seen, also within a group of nodes. */
static void test_names_with_commas_are_quoted(void)
{
        static const char *const names[] = { "a, b", "c", "d;e", NULL };
        static const char *const values[] = { "Debian 12", "Debian 12", "Alpine 3", NULL };
        AldFindingRow loop = make_row(ALD_FINDING_ROW_ID_BRIDGE_LOOP, 0);
        AldFindingRow versions = make_row(ALD_FINDING_ROW_ID_OS_VERSIONS_DIFFER, 0);
        g_autofree char *all = NULL, *groups = NULL;

        loop.names = versions.names = names;
        versions.values = values;
        all = ald_finding_text(&loop);
        groups = ald_finding_text(&versions);
        g_assert_cmpstr(
                all, ==, "The bridges of \"a, b\", c and \"d;e\" form a loop over their Thunderbolt cables.");
        g_assert_cmpstr(groups, ==,
                "The nodes run different operating systems: Debian 12 on \"a, b\" and c; Alpine 3 on "
                "\"d;e\".");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/findings-words/each-id-has-words", test_each_id_has_words);
        g_test_add_func("/findings-words/missing-arguments", test_missing_arguments);
        g_test_add_func("/findings-words/what-is-needed-is-absent", test_what_is_needed_is_absent);
        g_test_add_func("/findings-words/unknown-id", test_unknown_id);
        g_test_add_func("/findings-words/left-out", test_left_out);
        g_test_add_func("/findings-words/times-are-the-callers", test_times_are_the_callers);
        g_test_add_func("/findings-words/long-words-are-cut", test_long_words_are_cut);
        g_test_add_func("/findings-words/many-nodes-are-counted", test_many_nodes_are_counted);
        g_test_add_func("/findings-words/names-with-commas-are-quoted", test_names_with_commas_are_quoted);
        return g_test_run();
}
