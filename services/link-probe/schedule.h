/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/avoid.h"
#include "services/link-probe/results.h"
#include "services/link-probe/sessions.h"
#include "services/link-probe/state-query-bus.h"

/* Asks what is due and starts it. Nothing is remembered here but who has just said to be busy. */
typedef struct AldSchedule AldSchedule;

/* At most so many probes at a time. */
#define ALD_SCHEDULE_PROBES_MAX 4u

/* So long after a probe it is seen how busy the link is without it. */
#define ALD_SCHEDULE_PAUSE_USEC (UINT64_C(2) * 1000 * 1000)

typedef struct AldScheduleParts {
        const char *own_id;
        const AldLinkProbeConfig *config;
        AldStateQuery *query;
        AldProber *prober;
        AldSessions *sessions;
        AldCounters *counters;
        AldResults *results;
        /* Whether links are to be measured by it now. */
        bool (*may)(AldTransport transport, void *userdata);
        /* Whether links may be loaded now. */
        bool (*may_load)(void *userdata);
        /* Called where a probe has ended: after so long another may be due. */
        void (*ended)(uint64_t usec, void *userdata);
        void *userdata;
} AldScheduleParts;

AldSchedule *ald_schedule_new(const AldScheduleParts *parts);
void ald_schedule_free(AldSchedule *schedule);

/* Asks, and starts what is due when the answer comes. */
void ald_schedule_run(AldSchedule *schedule);

/* What was asked is of no interest any more. */
void ald_schedule_stop(AldSchedule *schedule);

/* Keeps the answer of any probe, whoever wanted it; tells that it has ended. */
void ald_schedule_take(AldSchedule *schedule, const AldProbe *probe, const AldProbeAnswer *answer);

/* The Node1.Network of this machine, or NULL. */
AldRecord *ald_schedule_network(const AldSchedule *schedule);
