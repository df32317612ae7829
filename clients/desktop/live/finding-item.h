/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "clients/common/columns/finding-columns.h"

/* A finding as a row of a list. Its signal "changed" is emitted after its words have changed. */
#define ALD_TYPE_FINDING_ITEM (ald_finding_item_get_type())
G_DECLARE_FINAL_TYPE(AldFindingItem, ald_finding_item, ALD, FINDING_ITEM, GObject)

AldFindingItem *ald_finding_item_new(const AldFindingRow *row, AldModel *model);

/* Returns what distinguishes the finding from all others as long as it lasts: its id and what it is about.
 * The finding of a link in the other direction may have the same key. */
const char *ald_finding_item_key(AldFindingItem *item);

void ald_finding_item_update(AldFindingItem *item, const AldFindingRow *row, AldModel *model);

/* Return its severity, and an icon and a title for it, such as "Error". */
AldFindingRowSeverity ald_finding_item_severity(AldFindingItem *item);
const char *ald_finding_item_icon(AldFindingItem *item);
const char *ald_finding_item_title(AldFindingItem *item);

/* Returns the number of findings that were left out if this item only counts them; 0 for a finding. */
uint64_t ald_finding_item_n_left_out(AldFindingItem *item);

/* Returns the text of a column of the list of findings, such as its id or what is wrong; ALD_ABSENT_TEXT if
 * it is absent. The times and the silence, which are set below, are always absent here. */
const char *ald_finding_item_text(AldFindingItem *item, AldFindingColumn column);

/* Returns what to do about it, or NULL. */
const char *ald_finding_item_remedy(AldFindingItem *item);

/* Returns the ids of the nodes that it is about, NULL-terminated; may be empty. For a link these are the
 * source and the sink. */
const char *const *ald_finding_item_nodes(AldFindingItem *item);

/* Returns when an earlier finding began and ended, in words; NULL for a present one. */
const char *ald_finding_item_period(AldFindingItem *item);
void ald_finding_item_set_period(AldFindingItem *item, uint64_t began_usec, uint64_t ended_usec);

/* Returns whether notices of it are silenced. */
bool ald_finding_item_is_silent(AldFindingItem *item);
void ald_finding_item_set_silent(AldFindingItem *item, bool silent);

/* Returns a time as findings show it; to be freed. */
char *ald_finding_time_text(uint64_t usec);

/* Returns the key of an item with this row; to be freed. */
char *ald_finding_row_key(const AldFindingRow *row);
