/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/tone.h"
#include "state-client/model.h"
#include "state/findings/findings-words.h"

/* Describes findings, using their arguments if this version knows their Id, else the text of the service. A
 * row may contain anything: results are safe text, to be freed. */

/* Returns one sentence that describes what is wrong; NULL if there is none. */
char *ald_finding_words(const AldFindingRow *finding);

/* Returns the same sentence with times in another form than UTC. */
char *ald_finding_words_with_times(const AldFindingRow *finding, AldFindingTime format_time);

/* Returns the remedy, or NULL. */
char *ald_finding_remedy_words(const AldFindingRow *finding);

/* Returns "a, b": the names of the nodes that the finding is about, or NULL. The names in the row are used
 * without a model, and for nodes that the model does not have. */
char *ald_finding_node_names(const AldFindingRow *finding, AldModel *model);

/* Returns "link-below-negotiated: a, b": the id of the finding and these names. */
char *ald_finding_title(const AldFindingRow *finding, AldModel *model);

/* Returns the severity; a severity that this version does not know counts as a notice. The worst has the
 * lowest value. */
AldFindingRowSeverity ald_finding_severity_of(const AldFindingRow *finding);

/* Returns the tone of a severity; plain for none. */
AldTone ald_severity_tone(AldFindingRowSeverity severity);

/* Returns the word of the severity, such as "error", and its tone. */
char *ald_finding_severity(const AldFindingRow *finding, AldTone *ret_tone);

/* Returns true if the finding is about this node. */
bool ald_finding_is_about(const AldFindingRow *finding, const char *node_id);

/* Returns the findings (const AldFindingRow *), most severe first; among equals those about offline nodes
 * first, else in the order of the service. Given a node, only the findings about it are returned. */
GPtrArray *ald_findings_sorted(AldModel *model, const char *node_id);

/* Returns the finding that this machine reaches no broker, so that its data about other nodes is out of date;
 * else NULL. */
const AldFindingRow *ald_find_brokerless(AldModel *model);

/* Returns "2 errors", to be freed. */
char *ald_findings_count_words(AldFindingRowSeverity severity, unsigned n);

/* Returns the number of findings of each severity, as AldFacts with the severity as label and "2 errors" as
 * text; only severities that occur. */
GPtrArray *ald_findings_counts(AldModel *model);
