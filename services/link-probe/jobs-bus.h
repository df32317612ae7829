/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/inhibitors.h"
#include "services/link-probe/jobs.h"

/* Shows the jobs as objects below org.alidade.LinkProbe1's. */
typedef struct AldJobsBus AldJobsBus;

int ald_jobs_bus_new(AldService *service, AldJobs *jobs, AldJobsBus **ret);
void ald_jobs_bus_free(AldJobsBus *bus);

/* Who asks. */
int ald_jobs_bus_uid_of_sender(sd_bus_message *message, uid_t *ret);

/* The object of a job; free with g_free(). */
char *ald_jobs_bus_path(const AldJob *job);

/* Answers a call that asked for a job with it, or with the error where there is none, which is freed. */
void ald_jobs_bus_answer(sd_bus_message *call, const AldJob *job, sd_bus_error *error);

/* Says why there is no room for another: -ENOSPC for the user, -EUSERS at all. */
int ald_jobs_bus_refuse_room(int r, sd_bus_error *error);

/* Says who holds off what, such as "Probes of links are". */
int ald_jobs_bus_refuse_inhibited(const AldInhibitorFile *lock, const char *what, sd_bus_error *error);

/* Appends a(os), the object and state of each. */
int ald_jobs_bus_append_list(sd_bus_message *message, const AldJobs *jobs);
