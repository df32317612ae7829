/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/alidadectl/export/nfd.h"
#include "clients/alidadectl/export/node-features.h"
#include "placement/export/plan-export.h"
#include "placement/plan/export-words.h"

/* Every version accepts this namespace without configuration. */
#define PREFIX "feature.node.kubernetes.io/alidade-"

/* Figures are rounded down, since Kubernetes compares only whole numbers. */
static void append_figure(GString *out, const char *name, double figure)
{
        if (figure >= 1)
                g_string_append_printf(out, PREFIX "%s=%.0f\n", name, floor(figure));
}

static void append_measured(GString *out, const AldExportState *state, const AldNodeFeatures *features)
{
        const char *class = ald_net_class(features->net_bits_per_second);

        if (features->oldest_usec == ALD_ABSENT_UINT64)
                return;
        if (!state->force) {
                g_string_append(out, "# +expiry-time=");
                ald_export_append_time(out, features->oldest_usec + ALD_EXPORT_RATE_USEC_MAX);
                g_string_append_c(out, '\n');
        }
        if (class)
                g_string_append_printf(out, PREFIX "net.class=%s\n", class);
        append_figure(out, "net.mbps", features->net_bits_per_second / 1e6);
        append_figure(out, "memory.read-gbytes", features->read_bytes_per_second / 1e9);
        append_figure(out, "fp16.tflops", features->tflops);
}

void ald_nfd_write(GString *out, const AldExportState *state, unsigned index)
{
        const AldTopologyNode *node = state->summary->nodes->pdata[index];
        g_auto(AldNodeFeatures) features;

        ald_node_features_init(&features, state, index);
        ald_export_state_append_header(out, state, "node-feature-discovery", features.oldest_usec);
        g_string_append_printf(out, "# Node: %s\n", node->name);
        for (guint i = 0; i < features.vendors->len; i++)
                g_string_append_printf(
                        out, PREFIX "gpu.%s=true\n", (const char *) features.vendors->pdata[i]);
        g_string_append(out, features.infiniband ? PREFIX "rdma.infiniband=true\n" : "");
        g_string_append(out, features.roce ? PREFIX "rdma.roce=true\n" : "");
        g_string_append(out, features.iwarp ? PREFIX "rdma.iwarp=true\n" : "");
        g_string_append(out, features.thunderbolt ? PREFIX "thunderbolt=true\n" : "");
        append_measured(out, state, &features);
}
