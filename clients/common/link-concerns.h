/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/finding-display.h"

/*
 * The severity of what concerns the links between two nodes, so that the map, the tables and the findings
 * agree. Without any concern, it is ALD_FINDING_ROW_SEVERITY_N.
 */
typedef struct AldLinkConcerns AldLinkConcerns;

/* The rows (AldFindingRow) must outlive the result; NULL stands for none. */
AldLinkConcerns *ald_link_concerns_new(const AldRows *findings);
void ald_link_concerns_free(AldLinkConcerns *concerns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLinkConcerns, ald_link_concerns_free)

/* Returns the worst finding about the links between two nodes, in either order; NULL if there is none. */
const AldFindingRow *ald_link_concerns_find(const AldLinkConcerns *concerns, const char *a, const char *b);

/* Returns the severity of the worst finding. Rates that differ much count as a notice before a finding says
 * so. */
AldFindingRowSeverity ald_link_concerns_severity(
        const AldLinkConcerns *concerns, const char *a, const char *b, bool asymmetric);

/* Returns the words of that finding, or "asymmetric"; NULL if there is no concern. Safe text, to be freed. */
char *ald_link_concerns_words(const AldLinkConcerns *concerns, const char *a, const char *b, bool asymmetric);
