/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/ctl.h"
#include "clients/alidadectl/model.h"

/* What is to be probed. */
typedef struct AldProbeOrder {
        const AldCtl *ctl;
        const AldEntity *node;
        const char *address; /* NULL: all of its */
        bool rtt_only;
} AldProbeOrder;

/* Has the node probed, shows how it goes, and prints the result. Ctrl-C cancels it. An exit code. */
int ald_probe_run(const AldProbeOrder *order);
