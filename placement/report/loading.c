/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "placement/plan/method.h"
#include "placement/report/loading.h"
#include "placement/report/sentences.h"
#include "record/figure-text.h"
#include "record/listed-name.h"

#define USEC_PER_SEC 1e6

/* The weights that one node reads, and the time for it. */
typedef struct Loading {
        uint32_t node;
        double bytes, usec;
} Loading;

static uint32_t node_of(const AldPlanCluster *cluster, const AldPlanStage *stage)
{
        return cluster->devices[stage->device].node;
}

/* Returns the weights of the stages on a node. */
static double weights_of(const AldPlanCluster *cluster, const AldPlanSteps *steps, uint32_t node)
{
        double bytes = 0;

        for (uint32_t i = 0; i < steps->n_stages; i++)
                if (node_of(cluster, &steps->stages[i]) == node)
                        bytes += (double) steps->stages[i].weight_bytes;
        return bytes;
}

static double all_weights(const AldPlanSteps *steps)
{
        double bytes = 0;

        for (uint32_t i = 0; i < steps->n_stages; i++)
                bytes += (double) steps->stages[i].weight_bytes;
        return bytes;
}

/* Returns how a node loads these bytes. The time is NAN if the rate or the weights are unknown. */
static Loading load_on(const AldPlanCluster *cluster, uint32_t node, double bytes)
{
        const AldStorageFileSystem *storage = cluster->nodes[node].storage;
        Loading loading = { node, bytes, NAN };

        if (storage && bytes > 0)
                loading.usec = bytes / (double) storage->read_bytes_per_second * USEC_PER_SEC;
        return loading;
}

/* Returns the node that takes longest, or one whose time is unknown. */
static Loading find_slowest(const AldPlanCluster *cluster, const AldPlanSteps *steps)
{
        Loading slowest = { ALD_PLAN_NONE, 0, NAN };

        for (uint32_t i = 0; i < steps->n_stages; i++) {
                const uint32_t node = node_of(cluster, &steps->stages[i]);
                const Loading loading = load_on(cluster, node, weights_of(cluster, steps, node));

                if (isnan(loading.usec))
                        return loading;
                if (i == 0 || loading.usec > slowest.usec)
                        slowest = loading;
        }
        return slowest;
}

/* Returns whether nodes may wait for each other at a file server, while their rates were measured one at a
 * time. */
static bool shares_server(const AldPlanCluster *cluster, const AldPlanSteps *steps)
{
        const uint32_t first = node_of(cluster, &steps->stages[0]);
        bool is_network = false, is_alone = true;

        for (uint32_t i = 0; i < steps->n_stages; i++) {
                const uint32_t node = node_of(cluster, &steps->stages[i]);

                is_alone &= node == first;
                is_network |= cluster->nodes[node].storage->network == 1;
        }
        return is_network && !is_alone;
}

/* Returns the disks, as "nvme0n1" or "sda and sdb", or the mount point if they are unknown. */
static char *name_disks(const AldStorageFileSystem *storage)
{
        const char *const *disks = storage->disks;
        GString *text = g_string_new(NULL);

        if (!disks || !disks[0])
                g_string_append(text, storage->id);
        for (; disks && *disks; disks++)
                g_string_append_printf(text, "%s%s", text->len == 0 ? "" : disks[1] ? ", " : " and ", *disks);
        return g_string_free(text, FALSE);
}

char *ald_plan_loading_sentence(
        const AldPlanCluster *cluster, const AldPlanRequest *request, const AldPlanSteps *steps)
{
        g_autofree char *time = NULL, *disks = NULL, *label = NULL, *name = NULL, *bytes = NULL, *rate = NULL;
        const AldStorageFileSystem *storage;
        Loading loading;
        bool has_client = steps->client != ALD_PLAN_NONE, passes_on, is_least;

        if (!request->engine->method->spreads_layers)
                return NULL;
        /* A client reads all layers, and sends those of other nodes to them. */
        loading = has_client ? load_on(cluster, steps->client, all_weights(steps))
                             : find_slowest(cluster, steps);
        if (isnan(loading.usec))
                return NULL;
        storage = cluster->nodes[loading.node].storage;
        passes_on = weights_of(cluster, steps, loading.node) < loading.bytes;
        is_least = passes_on || (!has_client && shares_server(cluster, steps));
        time = ald_format_duration(loading.usec);
        disks = name_disks(storage);
        label = ald_plan_node_label(&cluster->nodes[loading.node]);
        name = ald_listed_name(label);
        bytes = ald_format_figure(&ald_unit_bytes, loading.bytes);
        rate = ald_format_figure(&ald_unit_bytes_per_second, (double) storage->read_bytes_per_second);
        /* How reading and the transfers to other nodes overlap is unknown. */
        return g_strdup_printf(
                "Loading takes %s%s from %s of %s, if the model is where most of those known there are: %s "
                "at the measured %s%s.",
                is_least ? "at least " : "", time, disks, name, bytes, rate,
                passes_on ? ", part of which is sent on to other nodes" : "");
}
