/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/links/link-table.h"
#include "clients/alidadectl/node-table.h"

/* The picture that `watch` shows: lines of styled text. Draws nothing and knows no terminal. */
typedef struct AldView {
        AldModel *model;
        const char *problem; /* why the model may be out of date, or NULL */
        double now_usec;     /* CLOCK_REALTIME */
        unsigned columns;    /* 0: no limit */
        unsigned rows;       /* 0: no limit, and no line about keys */
        unsigned first;      /* of the nodes, the first to show; brought into range */
        unsigned page;       /* set: how many nodes are shown at once */

        /* From one picture to the next: the columns of the table stay where they are. */
        unsigned widths[ALD_NODE_TABLE_COLUMNS_MAX], link_widths[ALD_LINK_TABLE_COLUMNS];
        unsigned widths_for; /* columns of the terminal for which that holds */
} AldView;

GPtrArray *ald_view_lines(AldView *view);
