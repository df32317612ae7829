/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/common/service.h"
#include "services/link-probe/jobs.h"

/* Shows the jobs as objects below org.alidade.LinkProbe1's. */
typedef struct AldJobsBus AldJobsBus;

int ald_jobs_bus_new(AldService *service, AldJobs *jobs, AldJobsBus **ret);
void ald_jobs_bus_free(AldJobsBus *bus);

/* Who asks. */
int ald_jobs_bus_uid_of_sender(sd_bus_message *message, uid_t *ret);

/* The object of a job; free with g_free(). */
char *ald_jobs_bus_path(const AldJob *job);

/* Appends a(os), the object and state of each. */
int ald_jobs_bus_append_list(sd_bus_message *message, const AldJobs *jobs);
