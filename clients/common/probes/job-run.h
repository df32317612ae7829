/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "clients/common/probes/probe-words.h"

/*
 * A job of org.alidade.LinkProbe1, from the call that starts it to its end. The caller attaches the
 * connection to the thread-default main context (common/bus-source.h), and frees the job before the
 * connection.
 */
typedef struct AldJobRun AldJobRun;

/* The call that starts a job. Options that are NULL or false are left to the service. */
typedef struct AldJobCall {
        const AldProbeWords *words;
        const char *id;      /* of the node, or of the part of this machine to measure; "" stands for all */
        const char *address; /* of the node, for sockets */
        const char *port, *peer_port; /* for RDMA */
        char **metrics;               /* of a device */
        bool force;                   /* measure devices even if other work is running */
        bool asks;                    /* a person may have to type a password before the service answers */
} AldJobCall;

/* The name of the error if a canceled job does not end. It is an error of this client, not of the service. */
#define ALD_JOB_NOT_STOPPED "org.alidade.Client.JobNotStopped"

typedef struct AldJobRunHandler {
        void (*changed)(AldJobRun *run, void *userdata);
        /* Called once. An error means that the job could not be started, or was lost. May free the run. */
        void (*ended)(AldJobRun *run, const sd_bus_error *error, void *userdata);
} AldJobRunHandler;

/* Starts a job. The handler is kept, not copied; it is called from the main loop. Negative errno of
 * sd-bus. */
int ald_job_run_start(sd_bus *bus, const AldJobCall *call, const AldJobRunHandler *handler, void *userdata,
        AldJobRun **ret);

/* Frees the run. The job itself goes on, unless the run was canceled before the job started: then the job is
 * canceled when it starts, if the connection still exists. */
void ald_job_run_free(AldJobRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldJobRun, ald_job_run_free)

/* Cancels the job. The run ends soon, even if the service does not answer. */
void ald_job_run_cancel(AldJobRun *run);

/* Returns true once the service has started the job. */
bool ald_job_run_has_started(const AldJobRun *run);

/* Returns the job as far as it is known. */
const AldProbeJob *ald_job_run_job(const AldJobRun *run);

/* Returns the job with Paths and Result, as received. */
json_t *ald_job_run_json(const AldJobRun *run);
