/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/inhibit/inhibitors.h"
#include "services/link-probe/job/jobs.h"

/* Exports the jobs as objects below /org/alidade/LinkProbe1. */
typedef struct AldJobsBus AldJobsBus;

int ald_jobs_bus_new(AldService *service, AldJobs *jobs, AldJobsBus **ret);
void ald_jobs_bus_free(AldJobsBus *bus);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldJobsBus, ald_jobs_bus_free)

/* Returns the user that sent the message. */
int ald_jobs_bus_uid_of_sender(sd_bus_message *message, uid_t *ret);

/* Replies to a call with the job that it requested, or with the error if `job` is NULL. Frees the error. */
void ald_jobs_bus_answer(sd_bus_message *call, const AldJob *job, sd_bus_error *error);

/* Sets the error for -ALD_E_USER_LIMIT or -ALD_E_COMMON_LIMIT. */
int ald_jobs_bus_refuse_room(int r, sd_bus_error *error);

/* Sets the error for -EUSERS of state-query-bus.h: too many requests are waiting for the state service. */
int ald_jobs_bus_refuse_pending(sd_bus_error *error);

/* Sets an error that names the holder of the lock. `what` begins its message with subject and verb, such as
 * "Probes of links are". */
int ald_jobs_bus_refuse_inhibited(const AldInhibitorFile *lock, const char *what, sd_bus_error *error);

/* Appends a(os): the object path and the state of each job. */
int ald_jobs_bus_append_list(sd_bus_message *message, const AldJobs *jobs);
