/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "clients/desktop/actions/host-bus.h"
#include "record/schema.h"

typedef enum AldJobTarget {
        ALD_JOB_SOCKET, /* a link to a node */
        ALD_JOB_RTT,    /* only its round trips */
        ALD_JOB_RDMA,
        ALD_JOB_DEVICE, /* of the machine; "" are all */
} AldJobTarget;

/* A job of org.alidade.LinkProbe1, from the call that starts it to its end. */
typedef struct AldJobRun AldJobRun;

typedef struct AldJobRunHandler {
        void (*changed)(AldJobRun *run, void *userdata);
        /* Called once. With an error: the job could not be started, or was lost. Should free it. */
        void (*ended)(AldJobRun *run, const sd_bus_error *error, void *userdata);
} AldJobRunHandler;

/* Id is that of the node or of the device. The handler is kept, not copied; it is called from the main loop.
 */
AldJobRun *ald_job_run_start(AldHostBus *bus, AldJobTarget target, const char *id,
        const AldJobRunHandler *handler, void *userdata);

/* The job itself goes on. */
void ald_job_run_free(AldJobRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldJobRun, ald_job_run_free)

/* It ends soon, even if the service does not answer. */
void ald_job_run_cancel(AldJobRun *run);

/* As far as it is known. */
const AldProbeJob *ald_job_run_job(AldJobRun *run);

/* The same with Paths and Result, as received. */
json_t *ald_job_run_json(AldJobRun *run);
