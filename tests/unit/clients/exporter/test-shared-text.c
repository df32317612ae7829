/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/exporter/shared-text.h"

/* A set with a text of at least this many bytes. */
static AldMetricSet *set_make(gsize bytes)
{
        AldMetricSet *set = ald_metric_set_new();
        g_autofree char *value = g_strnfill(bytes, 'x');
        g_autoptr(GString) labels = g_string_new(NULL);

        ald_metric_label_append(labels, "a", value);
        ald_metric_add(ald_metric_set_add(set, ALD_METRIC_TYPE_GAUGE, g_strdup("a"), NULL, "A."), labels, 1);
        return set;
}

static void test_one_text_for_all(void)
{
        g_autoptr(AldSharedText) shared = ald_shared_text_new();
        struct MHD_Response *text, *open;
        uint64_t number = 0, again = 0;

        g_assert_null(ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &number));
        ald_shared_text_set(shared, set_make(1));
        text = ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &number);
        open = ald_shared_text_get(shared, ALD_METRIC_FORMAT_OPEN, &again);
        g_assert_true(text && open && text != open);
        g_assert_cmpuint(number, >, 0);
        g_assert_cmpuint(number, ==, again);
        g_assert_true(ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &again) == text);
        ald_shared_text_set(shared, set_make(1));
        g_assert_nonnull(ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &again));
        g_assert_cmpuint(again, >, number);
        ald_shared_text_set(shared, NULL);
        g_assert_null(ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &again));
        g_assert_cmpuint(ald_shared_text_excess(shared), ==, 0);
}

/* No text is held by anybody but the object itself, so none is ever in excess, however large. */
static void test_excess(void)
{
        g_autoptr(AldSharedText) shared = ald_shared_text_new();
        uint64_t number;

        for (unsigned i = 0; i < 3; i++) {
                ald_shared_text_set(shared, set_make(65 * 1024 * 1024));
                g_assert_nonnull(ald_shared_text_get(shared, ALD_METRIC_FORMAT_TEXT, &number));
                g_assert_cmpuint(ald_shared_text_excess(shared), ==, 0);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/shared-text/one-text-for-all", test_one_text_for_all);
        g_test_add_func("/shared-text/excess", test_excess);
        return g_test_run();
}
