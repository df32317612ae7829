/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/jobs.h"

/* Known to the files of jobs only. */
struct AldJob {
        AldJobs *jobs;
        unsigned number;
        uid_t uid;
        GArray *targets;
        unsigned next;   /* target that is measured, or is the next to be */
        unsigned failed; /* of those before */
        unsigned retries;
        AldJobState state;
        AldProbe *probe;
        guint timer; /* until the next attempt, or until it is forgotten */
        char *phase, *error;
        double fraction; /* of the target that is measured */
        json_t *result;
};

struct AldJobs {
        AldProber *prober;
        AldJobsMeasured measured;
        void *measured_userdata;
        const AldJobsHandler *handler; /* NULL: nobody is told */
        void *userdata;
        unsigned last;
        GPtrArray *list; /* by age */
};
