/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "state/alerts/alert-paths.h"

/* A place explains at least this many links or nodes, or one less if it did so before. */
#define ALD_ALERT_GROUP_LEAST 3u

/*
 * Finds places whose links are all slow or gone, or whose nodes are all offline, and makes each a row of
 * paths->causes: a port of a node, a switch, or what joins two switches; where LLDP does not name them, what
 * joins two groups of nodes that have healthy links within each group but not between them. The place that
 * explains the most comes first, among equal ones the narrower. A place with the key of an `active` alert
 * goes on explaining while more than half of its links or nodes are in trouble. Call it once.
 */
void ald_alert_groups_find(AldAlertPaths *paths, GHashTable *active);
