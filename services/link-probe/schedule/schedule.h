/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/link/results.h"
#include "services/link-probe/link/sessions.h"
#include "services/link-probe/schedule/deferrals.h"
#include "services/link-probe/state/state-query-bus.h"

/* Asks which probes of links are due and runs them. Its only state is which peers have just reported to be
 * busy. */
typedef struct AldSchedule AldSchedule;

/* The maximum number of simultaneous probes. */
#define ALD_SCHEDULE_PROBES_MAX 4u

/* The time after a probe until the counters show the load of the link without it. */
#define ALD_SCHEDULE_PAUSE_USEC (UINT64_C(2) * 1000 * 1000)

typedef struct AldScheduleParts {
        const char *own_id;
        const AldLinkProbeConfig *config;
        const AldGate *gate;
        AldStateQuery *query;
        AldProber *prober;
        AldSessions *sessions;
        AldCounters *counters;
        AldResults *results;
        /* Called when a probe has ended; another one may be due after `usec`. */
        void (*ended)(uint64_t usec, void *userdata);
        void *userdata;
} AldScheduleParts;

AldSchedule *ald_schedule_new(const AldScheduleParts *parts);
void ald_schedule_free(AldSchedule *schedule);

/* Asks which links are due, and starts their probes when the reply arrives. */
void ald_schedule_run(AldSchedule *schedule);

/* Stops automatic probes that load links if links must no longer be loaded. Call it when locks, work or the
 * state of the machine have changed. */
void ald_schedule_check(AldSchedule *schedule);

/* Ignores the reply to a pending request. */
void ald_schedule_stop(AldSchedule *schedule);

/* Keeps the answer of any probe, automatic or requested, and reports that it has ended. */
void ald_schedule_take(AldSchedule *schedule, const AldProbe *probe, const AldProbeAnswer *answer);
