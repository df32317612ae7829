/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/tone.h"
#include "state-client/model.h"
#include "state/findings/findings-words.h"

/* Describes findings, using their arguments if this version knows their Id, else the text of the service. A
 * row may contain anything: results are safe text, to be freed. */

/* One sentence that describes what is wrong; NULL if there is none. */
char *ald_finding_words(const AldFindingRow *finding);

/* The same with times in another form than UTC. */
char *ald_finding_words_with_times(const AldFindingRow *finding, AldFindingTime format_time);

/* The remedy, or NULL. */
char *ald_finding_remedy_words(const AldFindingRow *finding);

/* "a, b": the names of the nodes that it is about, or NULL. Without a model, and for a node that this does
 * not have, these are the names in the row. */
char *ald_finding_node_names(const AldFindingRow *finding, AldModel *model);

/* "link-below-negotiated: a, b": its id and these names. */
char *ald_finding_head(const AldFindingRow *finding, AldModel *model);

/* One that this version does not know counts as a notice. The gravest comes first. */
AldFindingRowSeverity ald_finding_severity_of(const AldFindingRow *finding);

/* The tone of a severity; plain for none. */
AldTone ald_severity_tone(AldFindingRowSeverity severity);

/* "error"; the tone corresponds to the severity. */
char *ald_finding_severity(const AldFindingRow *finding, AldTone *ret_tone);

/* Whether it is about this node. */
bool ald_finding_is_about(const AldFindingRow *finding, const char *node_id);

/* The findings (const AldFindingRow *), most severe first; of equal severity those of nodes that are offline
 * first, else in the order of the service. Only those about one node, if one is given. */
GPtrArray *ald_findings_sorted(AldModel *model, const char *node_id);

/* The finding that this machine reaches no broker, so that its data about other nodes is out of date; else
 * NULL. */
const AldFindingRow *ald_find_brokerless(AldModel *model);

/* "2 errors", to be freed. */
char *ald_findings_count_words(AldFindingRowSeverity severity, unsigned n);

/* The number of findings of each severity, as AldFacts with the severity as label and "2 errors" as text;
 * only severities that occur. */
GPtrArray *ald_findings_counts(AldModel *model);
