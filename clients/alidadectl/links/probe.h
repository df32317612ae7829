/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/command-line/ctl.h"
#include "clients/common/probes/job-run.h"

/* The call of a probe, and the other options of the command line. */
typedef struct AldProbeOrder {
        AldCtl ctl;
        const char *label; /* safe text: the name of what is probed */
        bool rtt_only;
        AldJobCall call;
} AldProbeOrder;

/* Runs the probe, shows the progress, and prints the result. Ctrl-C cancels it. Returns an exit code. */
int ald_probe_run(const AldProbeOrder *order);
