/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/probe/probe-answer.h"
#include "services/link-probe/probe/probe-target.h"
#include "services/link-probe/probe/program.h"

/* An error for which a request is refused, with its name and its sentence on the bus. */
typedef struct AldProbeRefusal {
        int error; /* negative */
        const char *name, *sentence;
} AldProbeRefusal;

typedef struct AldProbeFacts AldProbeFacts;         /* kinds/probe-facts.h */
typedef struct AldLocalKind AldLocalKind;           /* local/local-kind.h */
typedef struct AldDeviceSchedule AldDeviceSchedule; /* local/device-schedule.h */

/*
 * Defines a kind of probe for the code that runs probes, jobs and requests. Each kind is described in a file
 * in kinds/ and listed in kinds/probe-kinds.c. Local kinds, which measure this machine alone, have `local`:
 * they have no peer and need no keys, and at most one probe of each kind runs at a time. Stopping one means
 * waiting until none of its processes uses the device. Automatic probes of links are run by
 * schedule/schedule.c, those of each local kind by an instance of local/device-schedule.c.
 */
struct AldProbeKind {
        AldKind kind, result; /* of the record; of the message that the program prints */
        const char *program;
        const char *noun;          /* describes what is measured: "links" */
        const char *subject;       /* the same with its verb, before "inhibited by": "Probes of links are" */
        unsigned inhibit;          /* the kinds of locks that inhibit it */
        const AldLocalKind *local; /* NULL for links */
        unsigned deadline_msec;    /* for a program that hangs; it has shorter limits of its own */
        unsigned retries_max;      /* of a job that has to wait, for each target */
        const AldKind *needs;      /* kinds of records of a node that are requested; ends in ALD_N_KINDS */

        /* Returns the arguments of the program. The array owns the strings, and is not NULL-terminated. */
        GPtrArray *(*make_arguments)(const AldProgram *program, const AldProbeTarget *target);
        /* Reads a line of progress: the phase, to be freed or NULL, and the fraction, 0 to 1. Returns
         * -EBADMSG if it is not such a line. */
        int (*read_progress)(
                const char *line, const AldProbeTarget *target, char **ret_phase, double *ret_fraction);
        /* Reads the output, whose last line is the result, and checks it against the target. `failure` is as
         * in probe-child.h. */
        void (*read)(
                const char *output, const char *failure, const AldProbeTarget *target, AldProbeAnswer *ret);
        /* Combines two results of a job; -E2BIG if they exceed the limit of a record. If NULL, the last
         * result counts. */
        int (*join)(const AldRecord *before, const AldRecord *after, AldRecord **ret);

        /* The options of the method that requests a probe, and the function that stores them in the target,
         * whose peer or device is already set. It returns what is wrong with them, to be freed, or NULL. */
        const AldStruct *options;
        char *(*take_options)(const void *options, AldProbeTarget *target);
        /* Appends the targets of a request. Returns an error of `refusals`. */
        int (*resolve)(const AldProbeTarget *wanted, const AldProbeFacts *facts, GArray *targets);
        /* The last refusal has no name; it introduces the description of any other error. */
        const AldProbeRefusal *refusals;
};

static inline bool ald_probe_kind_is_rdma(const AldProbeKind *kind)
{
        return kind->kind == ALD_KIND_LINK_RDMA;
}
