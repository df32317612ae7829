/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/link-summary.h"
#include "clients/desktop/details/details-section.h"

/* Return "alder → birch" and "alder ↔ birch" for safe texts. The arrow points from the first name to the
 * second even if these are written from right to left. */
char *ald_direction_words(const char *from, const char *to);
char *ald_pair_words(const char *a, const char *b);

/* Adds a row for each path between two nodes, in each direction in which it is measured: over sockets, over
 * RDMA, and otherwise known. Call it between ald_keyed_rows_begin() and ald_keyed_rows_end(). */
void ald_path_rows_name(AldKeyedRows *rows, const AldDetailsSubject *subject, const char *a, const char *b);

/* Returns why there is no figure between two nodes, as the best of their paths shows. Safe text. */
char *ald_path_absence_words(
        const AldDetailsSubject *subject, const char *a, const char *b, AldTone *ret_tone);

/* Finds the path with the gravest verdict to each other node, among those over sockets and RDMA that are in
 * use. Returns a table of node id → const AldLinkSummary, valid until the main loop runs again. */
GHashTable *ald_path_gravest(const AldDetailsSubject *subject, const char *node_id);
