/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/record.h"
#include "state/link/probe-policy.h"

/*
 * Reads the output of a measuring program: lines of progress, then its result. The program has exchanged data
 * with another machine, so everything is checked against the schema (record/messages/).
 */

/* A temporary refusal by the peer is not a failure of the link. */
typedef enum AldProbeVerdict {
        ALD_PROBE_DONE,
        ALD_PROBE_FAILED,
        ALD_PROBE_LATER, /* the peer is busy or inhibited, or must not be loaded */
} AldProbeVerdict;

/* The answer of a peer that serves round trips, but must not be loaded now. */
#define ALD_PROBE_ROUND_TRIPS_ONLY "round-trips-only"

typedef struct AldProbeAnswer {
        AldProbeVerdict verdict;
        char *word;        /* name of the reason; NULL if it is done or gave none */
        char *reason;      /* NULL if it is done */
        AldRecord *result; /* the message of the program if it is done, or if it failed but has round trips */
        bool other_work;   /* it failed because other work used the device */
} AldProbeAnswer;

void ald_probe_answer_clear(AldProbeAnswer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldProbeAnswer, ald_probe_answer_clear)

/* Parses the last line of the output as a message of this kind. Returns the errors of ald_message_parse(). */
int ald_probe_answer_parse(AldKind kind, const char *output, AldRecord **ret);

/* Reads the output as an answer. A result of this kind is not validated yet: see ald_result_validate().
 * `failure` is as in probe-child.h. Over RDMA, the reason of a failure begins with its name, by which
 * findings recognize it. */
void ald_probe_answer_read(AldKind kind, const char *output, const char *failure, AldProbeAnswer *ret);

/* Joins two results of one kind by appending the rows of each list. Returns -E2BIG if they exceed the limit
 * of a record. */
int ald_probe_answer_join(const AldRecord *before, const AldRecord *after, AldRecord **ret);

/* The request of another node. */
typedef struct AldProbeWanted {
        AldLinkScope scope;
        bool automatic; /* not requested by a user */
        bool overdue;   /* its figures are so old that disturbed ones are better */
} AldProbeWanted;

/* Returns false if the report does not contain a request. */
bool ald_probe_wanted(const AldSessionReport *report, AldProbeWanted *ret);
