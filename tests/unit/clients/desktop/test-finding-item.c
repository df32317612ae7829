/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients/desktop/live/finding-item.h"

static const char *const pair[] = { "a", "b", NULL }, *const three[] = { "a", "b", "c", NULL };

static AldFindingRow row_of(AldFindingRowId id, const char *const *nodes)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;

        row.id = ald_finding_row_id_to_string(id);
        row.nodes = nodes;
        return row;
}

static bool is_same(const AldFindingRow *a, const AldFindingRow *b)
{
        g_autofree char *left = ald_finding_row_key(a), *right = ald_finding_row_key(b);

        return g_str_equal(left, right);
}

static void test_findings_are_told_apart(void)
{
        AldFindingRow up = row_of(ALD_FINDING_ROW_ID_SLOWER_THAN_PAST, pair), down = up, later = up;
        AldFindingRow rdma = row_of(ALD_FINDING_ROW_ID_LINK_UNSTEADY, pair), other = rdma;
        AldFindingRow shared = row_of(ALD_FINDING_ROW_ID_FRIENDLY_NAME_SHARED, pair), more = shared;
        AldFindingRow rest = row_of(ALD_FINDING_ROW_ID_VERSIONS_DIFFER, NULL), own = rest;

        up.upload.bits_per_second = 1;
        later.upload.bits_per_second = 2;
        down.download.bits_per_second = 1;
        g_assert_true(is_same(&up, &later));
        g_assert_false(is_same(&up, &down));
        rdma.sink_port = "mlx5_0.1";
        other.sink_port = "mlx5_1.1";
        g_assert_false(is_same(&rdma, &other));
        shared.shared_name = "alder";
        more.shared_name = "birch";
        g_assert_false(is_same(&shared, &more));
        rest.left_out = 7;
        g_assert_false(is_same(&rest, &own));
        own = rest;
        own.reporter = "node";
        g_assert_false(is_same(&rest, &own));
}

static void count(guint *n)
{
        ++*n;
}

/* Their number may not even be in the words. */
static void test_nodes_come_and_go(void)
{
        AldFindingRow row = row_of(ALD_FINDING_ROW_ID_FRIENDLY_NAME_SHARED, pair);
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(AldFindingItem) item = ald_finding_item_new(&row, model);
        g_autofree char *key = g_strdup(ald_finding_item_key(item));
        guint changes = 0;

        g_signal_connect_swapped(item, "changed", G_CALLBACK(count), &changes);
        ald_finding_item_update(item, &row, model);
        g_assert_cmpuint(changes, ==, 0);
        row.nodes = three;
        ald_finding_item_update(item, &row, model);
        g_assert_cmpuint(changes, ==, 1);
        g_assert_true(g_strv_equal(ald_finding_item_nodes(item), three));
        g_assert_cmpstr(ald_finding_item_key(item), ==, key);
}

static void test_left_out(void)
{
        AldFindingRow row = row_of(ALD_FINDING_ROW_ID_VERSIONS_DIFFER, NULL);
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(AldFindingItem) item = ald_finding_item_new(&row, model);

        g_assert_cmpuint(ald_finding_item_n_left_out(item), ==, 0);
        row.left_out = 7;
        ald_finding_item_update(item, &row, model);
        g_assert_cmpuint(ald_finding_item_n_left_out(item), ==, 7);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/finding-item/told-apart", test_findings_are_told_apart);
        g_test_add_func("/finding-item/nodes", test_nodes_come_and_go);
        g_test_add_func("/finding-item/left-out", test_left_out);
        return g_test_run();
}
