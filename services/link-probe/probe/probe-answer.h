/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "record/record.h"
#include "state/link/probe-policy.h"

/*
 * The output of a program that measures: lines of progress, then its result. It has exchanged data with
 * another machine, so everything is checked against the schema (record/messages/).
 */

/* Another machine may refuse for a while, which is no failure of the link. */
typedef enum AldProbeVerdict {
        ALD_PROBE_DONE,
        ALD_PROBE_FAILED,
        ALD_PROBE_LATER, /* the peer is busy or inhibited, or must not be loaded */
} AldProbeVerdict;

/* The answer of a peer that serves round trips, but must not be loaded now. */
#define ALD_PROBE_ROUND_TRIPS_ONLY "round-trips-only"

typedef struct AldProbeAnswer {
        AldProbeVerdict verdict;
        char *word;        /* the name of the reason; NULL if it is done or gave none */
        char *reason;      /* NULL if it is done */
        AldRecord *result; /* the message that the program printed, if it is done, or if it failed and has
                              round trips nevertheless */
        bool other_work;   /* it failed because other work used the device */
} AldProbeAnswer;

void ald_probe_answer_clear(AldProbeAnswer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldProbeAnswer, ald_probe_answer_clear)

/* The last line of the output as a message of this kind. Errors of ald_message_parse(). */
int ald_probe_answer_parse(AldKind kind, const char *output, AldRecord **ret);

/* The same as an answer. A result of this kind is not validated yet: see ald_result_validate(). `failure` is
 * as in probe-child.h. Over RDMA the reason of a failure begins with its name, by which findings know it. */
void ald_probe_answer_read(AldKind kind, const char *output, const char *failure, AldProbeAnswer *ret);

/* Joins two results of one kind: the rows of each of its lists, one after the other. -E2BIG if they exceed
 * the limit of a record. */
int ald_probe_answer_join(const AldRecord *before, const AldRecord *after, AldRecord **ret);

/* What another node wants to measure. */
typedef struct AldProbeWanted {
        AldLinkScope scope;
        bool automatic; /* nobody requested it */
        bool overdue;   /* its figures are so old that disturbed ones are better */
} AldProbeWanted;

/* False if the line does not say what the other node wants. */
bool ald_probe_wanted(const AldSessionReport *report, AldProbeWanted *ret);
