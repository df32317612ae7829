/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/table.h"
#include "clients/common/link-summary.h"

#define ALD_LINK_TABLE_COLUMNS 13

/* The first n AldLinkSummaries as a table, laid out for `columns` (0: no limit); floors as with
 * ald_table_layout(). */
AldTable *ald_link_table_new(const GPtrArray *links, guint n, unsigned columns, unsigned *floors);

/* Appends the table of at most `max` links (0: all), and how many are not shown. */
void ald_link_table_append(GString *out, const GPtrArray *links, unsigned columns, unsigned max);

/* Appends the links of a node under a heading, if there are any. */
void ald_link_describe(GString *out, AldModel *model, const AldEntity *node, unsigned columns, unsigned max,
        double now_usec);
