/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/alidadectl/bus.h"
#include "clients/alidadectl/links/probe.h"
#include "clients/alidadectl/links/progress.h"

#define ALD_JOB_INTERFACE "org.alidade.LinkProbe1.Job"

/* One job, from the call that begins it to its result. */
typedef struct AldProbe {
        const AldProbeOrder *order;
        GMainLoop *loop;
        sd_bus *bus;
        GSource *bus_source, *signals, *patience;
        int exit_code; /* once the loop has ended */
        int agent;
        char *path;    /* of the job; NULL before it began */
        char *service; /* unique name of who has it */
        json_t *job;   /* its properties; NULL before they were read */
        bool canceled; /* by a signal */
        size_t told;   /* paths that were */
        bool printed;  /* one of them at least */
        sd_bus_slot *call, *cancel;
        AldJobProgress progress;
} AldProbe;

/* Says why there is no result; an exit code. */
int ald_probe_complain(AldProbe *probe, const sd_bus_error *error);

/* Prints what became of the paths that are through. */
void ald_probe_tell_paths(AldProbe *probe);

/* Prints what became of the devices; an exit code. */
int ald_probe_print_devices(const AldProbe *probe);

/* Prints what became of the job that has ended; an exit code. */
int ald_probe_report(AldProbe *probe);
