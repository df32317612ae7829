/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record.h"
#include "services/telemetry/gpu/gpu-names.h"
#include "services/telemetry/gpu/gpu-nvlink.h"
#include "services/telemetry/helper/nvml-api.h"

static AldGpuNvlinks *find_links(const GArray *nvlinks, const char *peer)
{
        for (guint i = 0; i < nvlinks->len; i++) {
                AldGpuNvlinks *links = &g_array_index(nvlinks, AldGpuNvlinks, i);

                if (g_str_equal(links->peer, peer))
                        return links;
        }
        return NULL;
}

static void count_link(GArray *nvlinks, const char *peer, uint64_t bits_per_second)
{
        AldGpuNvlinks *links = find_links(nvlinks, peer);

        if (!links) {
                AldGpuNvlinks fresh = {};

                g_strlcpy(fresh.peer, peer, sizeof fresh.peer);
                g_array_append_val(nvlinks, fresh);
                links = &g_array_index(nvlinks, AldGpuNvlinks, nvlinks->len - 1);
        }
        links->n++;
        if (bits_per_second == ALD_ABSENT_UINT64)
                links->bits_per_second = ALD_ABSENT_UINT64;
        else if (links->bits_per_second != ALD_ABSENT_UINT64)
                links->bits_per_second += bits_per_second;
}

/* Returns the peer of a link: "" for a switch, NULL if unknown. */
static const char *peer_of(const AldNvLink *row)
{
        if (row->to_switch == 1)
                return "";
        return row->remote && ald_gpu_is_pci_address(row->remote) ? row->remote : NULL;
}

GArray *ald_gpu_nvlinks_new(const AldNvmlAnswer *answer, const char *device)
{
        GArray *nvlinks = g_array_new(FALSE, FALSE, sizeof(AldGpuNvlinks));
        unsigned n = 0;

        for (size_t i = 0; i < answer->nv_links.n && n < ALD_NVML_LINKS_MAX; i++) {
                const AldNvLink *row = ald_rows_at(&answer->nv_links, i);
                const char *peer = peer_of(row);

                if (!peer || !g_str_equal(row->device, device) || g_str_equal(peer, device))
                        continue;
                count_link(nvlinks, peer, row->bits_per_second);
                n++;
        }
        return nvlinks;
}

bool ald_gpu_nvlinks_equal(const GArray *a, const GArray *b)
{
        if (!a || !b)
                return a == b;
        return a->len == b->len &&
               (a->len == 0 || memcmp(a->data, b->data, a->len * sizeof(AldGpuNvlinks)) == 0);
}

const AldGpuNvlinks *ald_gpu_nvlinks_to(const GArray *nvlinks, const char *peer)
{
        return nvlinks ? find_links(nvlinks, peer) : NULL;
}
