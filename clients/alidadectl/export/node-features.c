/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/export/node-features.h"
#include "clients/common/format.h"
#include "clients/common/node-summary.h"
#include "state/compute/doubts.h"
#include "state/topology/segments.h"

#define NET_SHARE 0.9
#define VENDOR_MAX 40u /* bytes; a whole label may have 63 */

static void add_vendor(AldNodeFeatures *features, const char *vendor)
{
        g_autofree char *word = g_ascii_strdown(vendor, -1);

        g_strcanon(word, "abcdefghijklmnopqrstuvwxyz0123456789", '-');
        for (size_t n = strlen(word); n > 0 && word[n - 1] == '-'; n--)
                word[n - 1] = '\0';
        if (g_ascii_isalnum(word[0]) && strlen(word) <= VENDOR_MAX &&
                !g_ptr_array_find_with_equal_func(features->vendors, word, g_str_equal, NULL))
                g_ptr_array_add(features->vendors, g_steal_pointer(&word));
}

static void raise_figure(AldNodeFeatures *features, double *figure, double value, uint64_t measured_usec)
{
        if (isnan(value))
                return;
        *figure = fmax(*figure, value);
        features->oldest_usec = MIN(features->oldest_usec, measured_usec);
}

static bool is_trusted(const AldExportState *state, const AldEntity *node, const AldComputeDevice *device)
{
        const char *const *flags = device->flags;

        if (flags && (g_strv_contains(flags, "busy") || g_strv_contains(flags, "suspect")))
                return false;
        return state->force || !ald_export_state_is_old(state, node, device->measured_usec);
}

static void add_devices(AldNodeFeatures *features, const AldExportState *state, const AldEntity *node)
{
        g_autoptr(GArray) devices = ald_node_devices(node);

        for (guint i = 0; i < devices->len; i++) {
                const AldNodeDevice *device = &g_array_index(devices, AldNodeDevice, i);
                const AldComputeDevice *compute = device->compute;

                if (device->backend && device->backend->vendor &&
                        strcmp(ald_node_device_class(device), "gpu") == 0)
                        add_vendor(features, device->backend->vendor);
                if (!compute || !is_trusted(state, node, compute))
                        continue;
                if (!ald_doubts_find(
                            device->doubts, compute->id, ALD_DOUBT_FIELD_MEMORYBANDWIDTHBYTESPERSECOND))
                        raise_figure(features, &features->read_bytes_per_second,
                                ald_uint64_to_double(compute->memory_bandwidth_bytes_per_second),
                                compute->measured_usec);
                if (!ald_doubts_find(device->doubts, compute->id, ALD_DOUBT_FIELD_GEMMTFLOPS))
                        raise_figure(
                                features, &features->tflops, compute->tflops_fp16, compute->measured_usec);
        }
}

static void add_fabric(AldNodeFeatures *features, const AldFabric *fabric)
{
        for (size_t i = 0; fabric && i < fabric->rdma_ports.n; i++) {
                const AldRdmaPort *port = ald_rows_at(&fabric->rdma_ports, i);
                bool is_usable = g_strcmp0(port->state, "active") == 0 && !port->problem;

                features->infiniband |= is_usable && g_strcmp0(port->link_layer, "infiniband") == 0 &&
                                        g_strcmp0(port->transport, "other") != 0;
                features->roce |= is_usable && g_strcmp0(port->link_layer, "ethernet") == 0 &&
                                  ald_rdma_port_is_roce(port);
                features->iwarp |= is_usable && g_strcmp0(port->transport, "iwarp") == 0;
        }
        features->thunderbolt = fabric && fabric->thunderbolt_ports.n > 0;
}

static void add_links(AldNodeFeatures *features, const AldExportState *state, unsigned index)
{
        const AldTopologySummary *summary = state->summary;

        for (guint i = 0; i < summary->pairs->len; i++) {
                const AldNodePair *pair = summary->pairs->pdata[i];
                AldPairRate rate;

                if (pair->a != index && pair->b != index)
                        continue;
                rate = ald_export_state_rate(state, pair);
                if (state->force || !rate.is_old)
                        raise_figure(features, &features->net_bits_per_second, rate.bits_per_second,
                                rate.measured_usec);
        }
}

static gint compare_words(gconstpointer a, gconstpointer b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

void ald_node_features_init(AldNodeFeatures *features, const AldExportState *state, unsigned index)
{
        const AldEntity *node = ald_export_state_node(state, index);

        *features = (AldNodeFeatures){ .vendors = g_ptr_array_new_with_free_func(g_free),
                .read_bytes_per_second = NAN,
                .tflops = NAN,
                .net_bits_per_second = NAN,
                .oldest_usec = ALD_ABSENT_UINT64 };
        if (node)
                add_devices(features, state, node);
        add_fabric(features, ald_entity_as(node, FABRIC, AldFabric));
        add_links(features, state, index);
        g_ptr_array_sort(features->vendors, compare_words);
}

void ald_node_features_clear(AldNodeFeatures *features)
{
        g_clear_pointer(&features->vendors, g_ptr_array_unref);
}

const char *ald_net_class(double bits_per_second)
{
        static const struct {
                double gigabits;
                const char *name;
        } classes[] = { { 800, "800g" }, { 400, "400g" }, { 200, "200g" }, { 100, "100g" }, { 50, "50g" },
                { 40, "40g" }, { 25, "25g" }, { 20, "20g" }, { 10, "10g" }, { 5, "5g" }, { 2.5, "2.5g" },
                { 1, "1g" } };

        for (size_t i = 0; i < G_N_ELEMENTS(classes); i++)
                if (bits_per_second >= NET_SHARE * 1e9 * classes[i].gigabits)
                        return classes[i].name;
        return NULL;
}

unsigned ald_figure_class(double figure)
{
        unsigned best = 0;

        for (unsigned decade = 1; decade <= 1000000 && decade <= figure; decade *= 10)
                best = figure >= 5.0 * decade ? 5 * decade : figure >= 2.0 * decade ? 2 * decade : decade;
        return best;
}
