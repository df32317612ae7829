/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "clients/common/topology-summary.h"
#include "clients/desktop/live/live-history.h"
#include "state-client/model.h"

/*
 * What the state service of this machine, or of another one, knows, kept up to date. Changes are collected:
 * figures are passed on twice a second at most, and what appears or goes at once. Everything runs in the main
 * context that is the thread's default.
 */
#define ALD_TYPE_LIVE_CLUSTER (ald_live_cluster_get_type())
G_DECLARE_FINAL_TYPE(AldLiveCluster, ald_live_cluster, ALD, LIVE_CLUSTER, GObject)

/* What a signal "updated" is about. */
typedef enum AldLivePart {
        ALD_LIVE_NODE_SET = 1 << 0, /* nodes have appeared or gone, or have another name */
        ALD_LIVE_FIGURES = 1 << 1,  /* records of nodes */
        ALD_LIVE_TOPOLOGY = 1 << 2, /* the connection graph: its edges or what is best between nodes */
        ALD_LIVE_LINKS = 1 << 3,    /* measurements of links */
        ALD_LIVE_FINDINGS = 1 << 4,
        ALD_LIVE_TOTALS = 1 << 5,
        ALD_LIVE_PAST = 1 << 6, /* what is slower than its past has come or gone with the history service */
} AldLivePart;

/*
 * Signals:
 *   "updated" (guint parts): after the lists and items have changed.
 *   "tick": every second while it is wanted, because ages grow.
 * Properties:
 *   "problem" (string): why what is shown is not current, in words; NULL if it is.
 *
 * Host is [USER@]HOST[:PORT] for ssh, or NULL for this machine. Nothing is read before it is wanted.
 */
AldLiveCluster *ald_live_cluster_new(const char *host);

/* NULL for this machine. */
const char *ald_live_cluster_host(AldLiveCluster *cluster);

/* While it is wanted neither by a window that can be seen nor in the background, it is not connected and
 * never wakes up. */
void ald_live_cluster_set_wanted(AldLiveCluster *cluster, bool wanted);
bool ald_live_cluster_is_wanted(AldLiveCluster *cluster);
void ald_live_cluster_set_background(AldLiveCluster *cluster, bool background);

/* Connects again now, rather than after a pause. */
void ald_live_cluster_retry(AldLiveCluster *cluster);

const char *ald_live_cluster_problem(AldLiveCluster *cluster);

/* Whether everything has been read at least once. */
bool ald_live_cluster_has_data(AldLiveCluster *cluster);

/* Never NULL. Empty before anything was read. */
AldModel *ald_live_cluster_model(AldLiveCluster *cluster);

/* The connection graph for people. Valid until the main loop runs again. Never NULL. */
const AldTopologySummary *ald_live_cluster_topology(AldLiveCluster *cluster);

/* The history service there. */
AldLiveHistory *ald_live_cluster_history(AldLiveCluster *cluster);

/* Lists that last as long as the cluster: AldNodeItem by name, AldLinkItem (also paths that nobody has
 * measured yet) by the names of their ends, and AldFindingItem by severity. */
GListModel *ald_live_cluster_nodes(AldLiveCluster *cluster);
GListModel *ald_live_cluster_links(AldLiveCluster *cluster);
GListModel *ald_live_cluster_findings(AldLiveCluster *cluster);

/* CLOCK_REALTIME in µs, for ages. */
double ald_live_now(void);
