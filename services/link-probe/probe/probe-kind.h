/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/probe/probe-answer.h"
#include "services/link-probe/probe/probe-target.h"
#include "services/link-probe/probe/program.h"

/* The sentence by which a request is refused, and the name of the error on the bus. */
typedef struct AldProbeRefusal {
        int error; /* negative */
        const char *name, *sentence;
} AldProbeRefusal;

typedef struct AldProbeFacts AldProbeFacts;         /* kinds/probe-facts.h */
typedef struct AldLocalKind AldLocalKind;           /* probe/local-kind.h */
typedef struct AldDeviceSchedule AldDeviceSchedule; /* probe/device-schedule.h */

/*
 * All that differs between the kinds of probes for what runs them, jobs and requests. A kind is a file in
 * this folder, and a line in probe-kinds.c. Those of this machine alone have `local`: they have no peer and
 * need no keys, and one of a kind runs at a time. Stopping one means to wait until none of its processes uses
 * the device any more. Without a request, links are measured by link/schedule.c, and local kinds by an object
 * each of probe/device-schedule.c.
 */
struct AldProbeKind {
        AldKind kind, result; /* of the record; of the message that the program prints */
        const char *program;
        const char *noun;          /* what is measured: "links" */
        const char *subject;       /* the same with its verb, before "inhibited by": "Probes of links are" */
        unsigned inhibit;          /* the kinds of locks that inhibit it */
        const AldLocalKind *local; /* NULL: of links */
        unsigned deadline_msec;    /* for a program that hangs; it has shorter limits of its own */
        unsigned retries_max;      /* of a job, for one target, while it has to wait */
        const AldKind *needs;      /* the records of a node that are asked for; ends in ALD_N_KINDS */

        /* The arguments of the program; the array owns the strings, and is not NULL-terminated. */
        GPtrArray *(*make_arguments)(const AldProgram *program, const AldProbeTarget *target);
        /* Reads a line of progress: the phase, to be freed or NULL, and the fraction that is done, 0 to 1.
         * -EBADMSG if it is not such a line. */
        int (*read_progress)(
                const char *line, const AldProbeTarget *target, char **ret_phase, double *ret_fraction);
        /* Reads the output, whose last line is the result, and checks it against the target. `failure` is as
         * in probe-child.h. */
        void (*read)(
                const char *output, const char *failure, const AldProbeTarget *target, AldProbeAnswer *ret);
        /* Combines two results of a job; -E2BIG if they exceed the limit of a record. NULL: the last one
         * counts. */
        int (*join)(const AldRecord *before, const AldRecord *after, AldRecord **ret);

        /* The options of the method that requests it, and how they are entered in the target, which has its
         * peer or device already. Returns what is wrong with them, to be freed, or NULL. */
        const AldStruct *options;
        char *(*take_options)(const void *options, AldProbeTarget *target);
        /* Appends the targets of a request. Errors are those of `refusals`. */
        int (*resolve)(const AldProbeTarget *wanted, const AldProbeFacts *facts, GArray *targets);
        /* The last one, without a name, introduces the description of any other error. */
        const AldProbeRefusal *refusals;
};

static inline bool ald_probe_kind_is_rdma(const AldProbeKind *kind)
{
        return kind->kind == ALD_KIND_LINK_RDMA;
}
