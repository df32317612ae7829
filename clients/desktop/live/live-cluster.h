/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "clients/common/topology-summary.h"
#include "clients/desktop/live/live-history.h"
#include "state-client/model.h"

/*
 * The knowledge of the state service of this machine, or of another one, kept up to date. Changes are
 * collected: figures are passed on at most twice a second, changes of the set of nodes or of the topology at
 * once. Everything runs in the thread-default main context.
 */
#define ALD_TYPE_LIVE_CLUSTER (ald_live_cluster_get_type())
G_DECLARE_FINAL_TYPE(AldLiveCluster, ald_live_cluster, ALD, LIVE_CLUSTER, GObject)

/* The parts that a signal "updated" names. */
typedef enum AldLivePart {
        ALD_LIVE_NODE_SET = 1 << 0, /* nodes have appeared or gone, or have another name */
        ALD_LIVE_FIGURES = 1 << 1,  /* records of nodes */
        ALD_LIVE_TOPOLOGY = 1 << 2, /* the connection graph: its edges or what is best between nodes */
        ALD_LIVE_LINKS = 1 << 3,    /* measurements of links */
        ALD_LIVE_FINDINGS = 1 << 4,
        ALD_LIVE_TOTALS = 1 << 5,
        ALD_LIVE_PAST = 1 << 6,       /* findings of the history service have come or gone together with it */
        ALD_LIVE_DEVICES = 1 << 7,    /* devices of nodes, while they are wanted */
        ALD_LIVE_DEVICE_SET = 1 << 8, /* which devices there are, and the names of their nodes */
} AldLivePart;

/*
 * Signals:
 *   "updated" (guint parts): the lists and items have changed.
 *   "tick": emitted every second while the cluster is wanted, because ages grow.
 * Properties:
 *   "problem" (string): why the data is not current, in words; NULL if it is.
 *
 * Host is [USER@]HOST[:PORT] for ssh, or NULL for this machine. Nothing is read before the cluster is wanted.
 */
AldLiveCluster *ald_live_cluster_new(const char *host);

/* Returns the host given above; NULL for this machine. */
const char *ald_live_cluster_host(AldLiveCluster *cluster);

/* While the cluster is wanted neither by a visible window nor in the background, it is not connected and
 * never wakes up. */
void ald_live_cluster_set_wanted(AldLiveCluster *cluster, bool wanted);
bool ald_live_cluster_is_wanted(AldLiveCluster *cluster);
void ald_live_cluster_set_background(AldLiveCluster *cluster, bool background);

/* Connects again now instead of waiting for the next attempt. */
void ald_live_cluster_retry(AldLiveCluster *cluster);

const char *ald_live_cluster_problem(AldLiveCluster *cluster);

/* Returns whether everything has been read at least once. */
bool ald_live_cluster_has_data(AldLiveCluster *cluster);

/* Returns the model, which is empty before anything was read; never NULL. */
AldModel *ald_live_cluster_model(AldLiveCluster *cluster);

/* Returns a summary of the connection graph, never NULL. It is valid until the main loop runs again. */
const AldTopologySummary *ald_live_cluster_topology(AldLiveCluster *cluster);

/* Returns the history service of the same machine. */
AldLiveHistory *ald_live_cluster_history(AldLiveCluster *cluster);

/* Return lists that last as long as the cluster: AldNodeItem by name, AldLinkItem by the names of their ends
 * (including paths that were never measured), and AldFindingItem by severity. */
GListModel *ald_live_cluster_nodes(AldLiveCluster *cluster);
GListModel *ald_live_cluster_links(AldLiveCluster *cluster);
GListModel *ald_live_cluster_findings(AldLiveCluster *cluster);

/* Returns the AldDeviceItems of all nodes, by the names of these; it lasts as long as the cluster. It is
 * empty before devices are first wanted, and kept up to date only while they are. */
GListModel *ald_live_cluster_devices(AldLiveCluster *cluster);
void ald_live_cluster_want_devices(AldLiveCluster *cluster, bool wanted);

/* Returns CLOCK_REALTIME in µs, for ages. */
double ald_live_real_time_usec(void);
