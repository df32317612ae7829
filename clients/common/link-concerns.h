/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/finding-display.h"

/*
 * How grave something is about the links between two nodes, so that the map, the tables and the findings say
 * the same. Without anything, the severity is ALD_FINDING_ROW_SEVERITY_N.
 */
typedef struct AldLinkConcerns AldLinkConcerns;

/* The rows (AldFindingRow) must outlive it; NULL: none. */
AldLinkConcerns *ald_link_concerns_new(const AldRows *findings);
void ald_link_concerns_free(AldLinkConcerns *concerns);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldLinkConcerns, ald_link_concerns_free)

/* The gravest finding about the links between two nodes, in either order; NULL if there is none. */
const AldFindingRow *ald_link_concerns_find(const AldLinkConcerns *concerns, const char *a, const char *b);

/* That of the gravest finding. Rates that differ much count as a notice before a finding says so. */
AldFindingRowSeverity ald_link_concerns_severity(
        const AldLinkConcerns *concerns, const char *a, const char *b, bool asymmetric);

/* The words of that finding, or "asymmetric"; NULL if there is nothing. Safe text, to be freed. */
char *ald_link_concerns_words(const AldLinkConcerns *concerns, const char *a, const char *b, bool asymmetric);
