/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>

#include "record/schema.h"

/*
 * Describes one kind of probe: how to request it, and its results in words. Another kind is another file, and
 * an entry of the lists below.
 */
typedef struct AldProbeWords AldProbeWords;
struct AldProbeWords {
        const char *method;         /* of org.alidade.LinkProbe1 */
        const char *flag;           /* an option of the method to set to true; NULL: none */
        const char *const *options; /* of alidadectl, besides those of all kinds */
        const char *const *locks;   /* the words of Inhibit() that keep the probe away, as below */
        const char *all; /* what it measures of this machine if nothing is named; NULL: it measures a link to
                            a node */
        const char *title; /* to be translated: of a link, with "%s" in its place; else of all, as above */
        AldKind result;    /* of the result, or of a path of it */

        /* Returns the result of a job as arrays of AldFacts, one for each row; empty if it has none. The
         * subject is safe text. */
        GPtrArray *(*facts)(const AldProbeWords *words, const char *subject, json_t *job);
        /* Returns the same in one sentence, as safe text; NULL if it has no figures. */
        char *(*outcome)(const AldProbeWords *words, const char *subject, json_t *job);
};

extern const AldProbeWords ald_probe_words_socket, ald_probe_words_rtt, ald_probe_words_rdma,
        ald_probe_words_compute, ald_probe_words_storage;

/* The words of Inhibit(), as literals with AND between them, and LAST before the last one. */
#define ALD_PROBE_LOCKS(AND, LAST) "compute" AND "rdma" AND "link" LAST "storage"

/* The verbs of "alidadectl probe", as X(words, name, arguments) with a separator, in the order of its usage:
 * the verbs for links, then those for this machine. */
#define ALD_PROBE_LINK_VERBS(X, AND)                            \
        X(socket, "link", "NODE [--path=ADDRESS] [--rtt-only]") \
        AND X(rdma, "rdma", "NODE [--port=DEV.PORT] [--peer-port=DEV.PORT]")
#define ALD_PROBE_LOCAL_VERBS(X, AND)                                  \
        X(compute, "compute", "[DEVICE] [--metric=METRIC…] [--force]") \
        AND X(storage, "storage", "[FILE-SYSTEM] [--force]")

/* The subjects of all verbs, in a sentence. */
#define ALD_PROBE_SUBJECTS                                                                       \
        "the link to a node, over sockets or over RDMA, or a compute device, or a file system\n" \
        "that holds models, of this machine (default: all of them)"
