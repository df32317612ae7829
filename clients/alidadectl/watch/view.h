/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/devices/device-table.h"
#include "clients/alidadectl/links/link-table.h"
#include "clients/alidadectl/state/node-table.h"

/* The contents that `watch` shows: lines of styled text. Does not use the terminal. */
typedef struct AldView {
        AldModel *model;
        const AldCtl *ctl;   /* --columns= and --sort= of the command line; or NULL */
        const char *problem; /* why the model may be out of date, or NULL */
        double now_usec;     /* CLOCK_REALTIME */
        unsigned columns;    /* 0: no limit */
        unsigned rows;       /* 0: no limit, and no line about keys */
        bool devices;        /* all devices in place of the nodes */
        unsigned first;      /* index of the first node or device to show; clamped to the range */
        unsigned page;       /* output: number of them shown at once */
        unsigned total;      /* output: number of them */

        /* These are kept between updates, so that the columns of the tables do not move. */
        unsigned widths[ALD_NODE_N_COLUMNS], device_widths[ALD_DEVICE_N_COLUMNS],
                link_widths[ALD_LINK_N_COLUMNS];
        unsigned widths_for; /* width of the terminal for which they are valid */
} AldView;

GPtrArray *ald_view_lines(AldView *view);
