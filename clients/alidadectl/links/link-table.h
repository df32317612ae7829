/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/column-table.h"
#include "clients/common/columns/link-columns.h"

/* Chooses the columns of --columns= on the command line, else the usual ones; see
 * ald_column_table_choose(). */
int ald_link_table_choose(const AldCtl *ctl, AldColumnChoice *choice);

/* Returns the first n AldLinkSummaries as a table of the usual columns, laid out for `columns` (0: no limit);
 * floors are as for ald_table_layout(). */
AldTable *ald_link_table_new(const GPtrArray *links, guint n, unsigned columns, unsigned *floors);

/* Appends a table of at most `max` links (0: all) of a node under a heading, if there are any, and the number
 * of those that are not shown. */
void ald_describe_links(GString *out, AldModel *model, const AldEntity *node, unsigned columns, unsigned max,
        double now_usec);
