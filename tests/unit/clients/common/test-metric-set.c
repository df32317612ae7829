/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clients/common/metric-set.h"

static char *write_set(const AldMetricSet *set, AldMetricFormat format)
{
        return g_string_free(ald_metric_set_write(set, format), FALSE);
}

static void test_both_formats(void)
{
        g_autoptr(AldMetricSet) set = ald_metric_set_new();
        g_autoptr(GString) labels = g_string_new(NULL);
        g_autofree char *text = NULL, *open = NULL;
        AldMetricFamily *gauge = ald_metric_set_add(
                set, ALD_METRIC_TYPE_GAUGE, g_strdup("a_free_bytes"), "bytes", "What is \"free\".");
        AldMetricFamily *info = ald_metric_set_add(
                set, ALD_METRIC_TYPE_INFO, g_strdup("a_thing"), NULL, "A \\ and\na line.");
        AldMetricFamily *counter = ald_metric_set_add(
                set, ALD_METRIC_TYPE_COUNTER, g_strdup("a_lost"), NULL, "Lost ones.");

        ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE, g_strdup("a_empty"), NULL, "Without samples.");
        ald_metric_add(counter, NULL, 7);
        ald_metric_label_append(labels, "x", "1");
        ald_metric_label_append(labels, "y", "2");
        ald_metric_add(gauge, labels, 0);
        ald_metric_add(info, labels, 1);
        text = write_set(set, ALD_METRIC_FORMAT_TEXT);
        open = write_set(set, ALD_METRIC_FORMAT_OPEN);
        g_assert_cmpstr(text, ==,
                "# HELP a_free_bytes What is \"free\".\n# TYPE a_free_bytes gauge\n"
                "a_free_bytes{x=\"1\",y=\"2\"} 0\n"
                "# HELP a_thing_info A \\\\ and\\na line.\n# TYPE a_thing_info gauge\n"
                "a_thing_info{x=\"1\",y=\"2\"} 1\n"
                "# HELP a_lost_total Lost ones.\n# TYPE a_lost_total counter\na_lost_total 7\n");
        g_assert_cmpstr(open, ==,
                "# HELP a_free_bytes What is \\\"free\\\".\n# TYPE a_free_bytes gauge\n"
                "# UNIT a_free_bytes bytes\na_free_bytes{x=\"1\",y=\"2\"} 0\n"
                "# HELP a_thing A \\\\ and\\na line.\n# TYPE a_thing info\n"
                "a_thing_info{x=\"1\",y=\"2\"} 1\n"
                "# HELP a_lost Lost ones.\n# TYPE a_lost counter\na_lost_total 7\n# EOF\n");
}

static void test_label_values(void)
{
        static const struct {
                const char *value, *written;
                bool replaced;
        } cases[] = {
                { "", "", false },
                { "plain 1.2-3_~", "plain 1.2-3_~", false },
                { "a\"b\\c", "a\\\"b\\\\c", false },
                { "a\nb\tc\x7f",
                        "a\xEF\xBF\xBD"
                        "b\xEF\xBF\xBD"
                        "c\xEF\xBF\xBD",
                        true },
                { "\x1b[31m", "\xEF\xBF\xBD[31m", true },
                { "Jürgens Ofen µ", "Jürgens Ofen µ", false },
                { "\xff\xc3", "\xEF\xBF\xBD\xEF\xBF\xBD", true },
                { "\xE2\x80\xAE"
                  "evil",
                        "\xEF\xBF\xBD"
                        "evil",
                        true },
                { "\xEF\xBF\xBD", "\xEF\xBF\xBD", true },
                { "} 1\\", "} 1\\\\", false },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GString) labels = g_string_new(NULL);
                g_autofree char *wanted = g_strdup_printf("l=\"%s\"", cases[i].written);

                g_assert_cmpint(ald_metric_label_append(labels, "l", cases[i].value), ==, cases[i].replaced);
                g_assert_cmpstr(labels->str, ==, wanted);
        }
}

static char *decimal(int64_t value, unsigned decimals)
{
        g_autoptr(AldMetricSet) set = ald_metric_set_new();
        AldMetricFamily *family = ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE, g_strdup("x"), NULL, "X.");
        g_autofree char *text = NULL;

        ald_metric_add_decimal(family, NULL, value, decimals);
        text = write_set(set, ALD_METRIC_FORMAT_TEXT);
        return g_strndup(strstr(text, "\nx ") + 3, strlen(strstr(text, "\nx ")) - 4);
}

static void test_decimals(void)
{
        static const struct {
                int64_t value;
                unsigned decimals;
                const char *wanted;
        } cases[] = {
                { 0, 0, "0" },
                { 0, 9, "0" },
                { 10, 0, "10" },
                { -1, 6, "-0.000001" },
                { 123456, 3, "123.456" },
                { 120000, 3, "120" },
                { 100, 2, "1" },
                { 5, 1, "0.5" },
                { INT64_MAX, 9, "9223372036.854775807" },
                { INT64_MIN, 0, "-9223372036854775808" },
                { INT64_MIN, 20, "-0.09223372036854775808" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = decimal(cases[i].value, cases[i].decimals);

                g_assert_cmpstr(text, ==, cases[i].wanted);
        }
        for (unsigned i = 0; i < 10000; i++) {
                int64_t value = ((int64_t) g_test_rand_int() * 1048576) + g_test_rand_int_range(-1000, 1000);
                unsigned decimals = (unsigned) g_test_rand_int_range(0, 10);
                g_autofree char *text = decimal(value, decimals);
                double wanted = (double) value / pow(10, decimals);

                g_assert_cmpfloat_with_epsilon(g_ascii_strtod(text, NULL), wanted, fabs(wanted) * 1e-14);
        }
}

static void test_doubles(void)
{
        g_autoptr(AldMetricSet) set = ald_metric_set_new();
        AldMetricFamily *family = ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE, g_strdup("x"), NULL, "X.");
        g_autofree char *text = NULL;

        ald_metric_add_double(family, NULL, (double) NAN);
        ald_metric_add_double(family, NULL, (double) INFINITY);
        text = write_set(set, ALD_METRIC_FORMAT_TEXT);
        g_assert_cmpstr(text, ==, "");
        ald_metric_add_double(family, NULL, 12.3 / 100);
        ald_metric_add_double(family, NULL, 82.6 / 1e-12);
        g_free(text);
        text = write_set(set, ALD_METRIC_FORMAT_TEXT);
        g_assert_nonnull(strstr(text, "\nx 0.123\nx 82600000000000\n"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/metric-set/both-formats", test_both_formats);
        g_test_add_func("/metric-set/label-values", test_label_values);
        g_test_add_func("/metric-set/decimals", test_decimals);
        g_test_add_func("/metric-set/doubles", test_doubles);
        return g_test_run();
}
