/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/schema.h"
#include "state/alerts/alert-paths.h"

/*
 * Decides which findings follow from others: an offline node explains what is found about it and its links,
 * an expired certificate that the node is offline, an unusable port that probes over it fail, a place of
 * alert-groups.h the links that pass it.
 */
typedef struct AldAlertCauses AldAlertCauses;

/* Rows (const AldFindingRow *) and paths (may be NULL) must outlive it. */
AldAlertCauses *ald_alert_causes_new(const GPtrArray *findings, AldAlertPaths *paths);
void ald_alert_causes_free(AldAlertCauses *causes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldAlertCauses, ald_alert_causes_free)

/* Returns the row that explains a finding, which need not exist any more; NULL if nothing explains it. */
const AldFindingRow *ald_alert_causes_find(const AldAlertCauses *causes, const AldFindingRow *row);
