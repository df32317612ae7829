/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "record/schema.h"
#include "state/probe-policy.h"

/*
 * What a program that measures links says: its result, and lines meanwhile. It has talked to another machine,
 * so nothing of it is believed before it was checked.
 */

/* Another machine may refuse for a while, which is no failure of the link. */
typedef enum AldProbeVerdict {
        ALD_PROBE_DONE,
        ALD_PROBE_FAILED,
        ALD_PROBE_LATER, /* busy or inhibited there, or not to be loaded */
} AldProbeVerdict;

/* The word of a peer that serves round trips, but is not to be loaded now. */
#define ALD_PROBE_ROUND_TRIPS_ONLY "round-trips-only"

typedef struct AldProbeAnswer {
        AldProbeVerdict verdict;
        char *word;   /* the name of the reason; NULL where it is done or told none */
        char *reason; /* NULL where it is done */
        json_t *json; /* the whole result where it is done, of numbers and strings */
} AldProbeAnswer;

void ald_probe_answer_clear(AldProbeAnswer *answer);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldProbeAnswer, ald_probe_answer_clear)

/* Of the output, whose last line is the result. `failure` is as in probe-child.h. */
void ald_probe_answer_read(const char *output, const char *failure, AldProbeAnswer *ret);

/* Whether only round trips, and perhaps a spot check, were measured. */
bool ald_probe_answer_is_check(const AldProbeAnswer *answer);

/* The figures of a link over sockets, as fields of the record that borrow from the answer; the rest is
 * absent. Of a check these are the interface of the peer, the round trips, the rates of the spot check and
 * the other traffic. -EBADMSG where there is no rate in either direction, or no round trip in a check. */
int ald_probe_answer_figures(const AldProbeAnswer *answer, AldLinkSocket *ret);

/* Which direction of a whole measurement has no rate, and why: "upload: too little arrived". NULL where both
 * have one. Free with g_free(). */
char *ald_probe_answer_missing(const AldProbeAnswer *answer);

/* A line of progress: what is done, NULL where it does not say, and how far it is, 0 to 1. The phase is to be
 * freed. -EBADMSG where it is no such line. */
int ald_probe_progress_read(const char *line, char **ret_phase, double *ret_fraction);

/* What another node wants to measure. */
typedef struct AldProbeWanted {
        AldLinkScope scope;
        bool automatic; /* nobody asked for it */
        bool overdue;   /* its figures are so old that disturbed ones are better */
} AldProbeWanted;

/* A line of a session with another node. */
typedef struct AldProbeReport {
        char *peer; /* who that is, once it is known; else NULL */
        char *port; /* the RDMA port that it is to measure to; NULL where the line does not say */
        bool asks;  /* whether it may measure this: */
        AldProbeWanted wanted;
} AldProbeReport;

void ald_probe_report_clear(AldProbeReport *report);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldProbeReport, ald_probe_report_clear)

/* -EBADMSG where it says neither who it is nor what it wants, or what can be no node. */
int ald_probe_report_read(const char *line, AldProbeReport *ret);

/* Values of the result; absent, or NULL, where it has none that can be. A rate or an interval of 0 is none.
 */
uint64_t ald_probe_answer_uint(const AldProbeAnswer *answer, const char *name);
uint64_t ald_probe_answer_rate(const AldProbeAnswer *answer, const char *name);
double ald_probe_answer_percent(const AldProbeAnswer *answer, const char *name);
double ald_probe_answer_interval(const AldProbeAnswer *answer, const char *name);
const char *ald_probe_answer_text(const AldProbeAnswer *answer, const char *name);
