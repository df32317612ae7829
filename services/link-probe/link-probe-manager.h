/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/computing.h"
#include "services/link-probe/inhibitors.h"
#include "services/link-probe/jobs.h"
#include "services/link-probe/policy.h"
#include "services/link-probe/results.h"
#include "services/link-probe/schedule.h"
#include "services/link-probe/wish.h"

/* What the service does: asks every 15 s what is due and measures it, is measured by others, holds off. */
typedef struct AldLinkProbeManager AldLinkProbeManager;

#define ALD_TICK_USEC (UINT64_C(15) * 1000 * 1000)

int ald_link_probe_manager_new(AldService *service, AldLinkProbeManager **ret);
void ald_link_probe_manager_free(AldLinkProbeManager *manager);

/* Called where something that clients see may have changed. */
void ald_link_probe_manager_watch(
        AldLinkProbeManager *manager, void (*changed)(void *userdata), void *userdata);

/* The configuration is read again, and the credentials looked at. */
void ald_link_probe_manager_configure(AldLinkProbeManager *manager);

AldInhibitors *ald_link_probe_manager_inhibitors(AldLinkProbeManager *manager);
AldJobs *ald_link_probe_manager_jobs(AldLinkProbeManager *manager);
AldResults *ald_link_probe_manager_results(AldLinkProbeManager *manager);
AldComputing *ald_link_probe_manager_computing(AldLinkProbeManager *manager);

/* Probes that run now, those of others included. */
unsigned ald_link_probe_manager_active(const AldLinkProbeManager *manager);
unsigned ald_link_probe_manager_port(const AldLinkProbeManager *manager);
const char *ald_link_probe_manager_problem(const AldLinkProbeManager *manager);
uint64_t ald_link_probe_manager_refused(const AldLinkProbeManager *manager);

/* What Node1.ProbePolicy of this machine says now; see policy.h. To be cleared. */
void ald_link_probe_manager_policy(AldLinkProbeManager *manager, AldPolicy *ret);

/* Begins a probe that somebody asks for; see wish.h. */
int ald_link_probe_manager_probe(
        AldLinkProbeManager *manager, const AldWish *wish, AldWishAnswer answered, void *userdata);
