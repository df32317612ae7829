/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <gio/gio.h>

#include "clients/common/columns/finding-columns.h"

/* A finding as a row of a list. Its signal "changed" is emitted after its figures, and so its words, have
 * changed. */
#define ALD_TYPE_FINDING_ITEM (ald_finding_item_get_type())
G_DECLARE_FINAL_TYPE(AldFindingItem, ald_finding_item, ALD, FINDING_ITEM, GObject)

AldFindingItem *ald_finding_item_new(const AldFindingRow *row, AldModel *model);

/* What tells it from all others as long as it lasts: its id and what it is about. The finding of a link in
 * the other direction may have the same. */
const char *ald_finding_item_key(AldFindingItem *item);

void ald_finding_item_update(AldFindingItem *item, const AldFindingRow *row, AldModel *model);

/* How severe it is, also as a symbol and as a title: "Error". */
AldFindingRowSeverity ald_finding_item_severity(AldFindingItem *item);
const char *ald_finding_item_icon(AldFindingItem *item);
const char *ald_finding_item_title(AldFindingItem *item);

/* How many findings it only counts, because they are left out; 0 if it is one itself. */
uint64_t ald_finding_item_left_out(AldFindingItem *item);

/* As a column of the list of findings has it, such as its id and what is wrong; ALD_ABSENT_TEXT if it is
 * absent, as are its times and its silence, which are set below. */
const char *ald_finding_item_text(AldFindingItem *item, AldFindingColumn column);

/* What to do about it, or NULL. */
const char *ald_finding_item_remedy(AldFindingItem *item);

/* Ids of the nodes that it is about, NULL-terminated; may be empty. For a link, the source and the sink. */
const char *const *ald_finding_item_nodes(AldFindingItem *item);

/* When an earlier one began and ended, in words; NULL for one that is there now. */
const char *ald_finding_item_period(AldFindingItem *item);
void ald_finding_item_set_period(AldFindingItem *item, uint64_t began_usec, uint64_t ended_usec);

/* Whether notices of it are wanted by nobody. */
bool ald_finding_item_is_silent(AldFindingItem *item);
void ald_finding_item_set_silent(AldFindingItem *item, bool silent);

/* A time as findings have it, to be freed. */
char *ald_finding_time_text(uint64_t usec);

/* The key of an item with this row; to be freed. */
char *ald_finding_row_key(const AldFindingRow *row);
