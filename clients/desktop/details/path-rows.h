/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/link-summary.h"
#include "clients/desktop/details/details-section.h"

/* "alder → birch" and "alder ↔ birch" of safe texts; to be freed. The arrow points from the first name to the
 * second also where these are written from right to left. */
char *ald_direction_words(const char *from, const char *to);
char *ald_pair_words(const char *a, const char *b);

/* Names a row for each path between two nodes, in each direction in which it is measured: those over sockets
 * and RDMA, and those that are known otherwise. Between ald_keyed_rows_begin() and ald_keyed_rows_end(). */
void ald_path_rows_name(AldKeyedRows *rows, const AldDetailsSubject *subject, const char *a, const char *b);

/* Why there is no figure between two nodes, from the best of their paths. Safe text, to be freed. */
char *ald_path_absence_words(
        const AldDetailsSubject *subject, const char *a, const char *b, AldTone *ret_tone);

/* Of the paths of a node over sockets and RDMA that are in use, the one with the gravest verdict: id of the
 * other node → const AldLinkSummary, valid until the main loop runs again. */
GHashTable *ald_path_gravest(const AldDetailsSubject *subject, const char *node_id);
