/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/tone.h"
#include "state-client/model.h"

/* Findings as people read them, worded from their arguments where this version knows their Id, else as the
 * service words them. A row may hold anything: what comes out is safe text, to be freed. */

/* One sentence that says what is wrong; NULL where there is none. */
char *ald_finding_words(const AldFindingRow *finding);

/* What helps, or NULL. */
char *ald_finding_remedy_words(const AldFindingRow *finding);

/* "link-below-negotiated: a, b": its id and the names of its nodes. */
char *ald_finding_head(const AldFindingRow *finding, AldModel *model);

/* "error"; the tone says how bad that is. */
char *ald_finding_severity(const AldFindingRow *finding, AldTone *ret_tone);

/* Whether it is about this node. */
bool ald_finding_is_about(const AldFindingRow *finding, const char *node_id);

/* The findings (const AldFindingRow *), most severe first, else in the order of the service; those about one
 * node only, where one is given. */
GPtrArray *ald_findings_sorted(AldModel *model, const char *node_id);

/* The finding that this machine reaches no broker, so that what it shows of others is old; else NULL. */
const AldFindingRow *ald_find_brokerless(AldModel *model);

/* How many findings there are of each severity, as AldFacts with the severity as label and "2 errors" as
 * text; none of those that do not occur. */
GPtrArray *ald_findings_counts(AldModel *model);
