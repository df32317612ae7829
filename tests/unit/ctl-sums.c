/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/ctl-sums.h"
#include "clients/alidadectl/summary.h"

#define NODE_ID "00000000000000000000000000000002"

static void put(AldModel *model, const char *kind, const char *text)
{
        g_autofree char *copy = g_strdelimit(g_strdup(text), "'", '"');
        json_t *fields = json_loads(copy, 0, NULL);

        g_assert_nonnull(fields);
        g_assert_cmpint(ald_model_put(model, NODE_ID, kind, fields), ==, 0);
        json_decref(fields);
}

void ctl_sums(const char *backends, const char *compute, double *ret_tflops, double *ret_bandwidth)
{
        g_autoptr(AldModel) model = ald_model_new();
        AldFigures figures;

        put(model, "Node1.Backends", backends);
        put(model, "Node1.Compute", compute);
        figures = ald_node_figures(ald_model_get(model, NODE_ID));
        *ret_tflops = figures.tflops;
        *ret_bandwidth = figures.bandwidth;
}
