/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "probes/common/link-options.h"

/*
 * A probe that was started by hand with --listen. It accepts connections by the rules of accept-limit.h and
 * serves each in a child process. One peer is measured at a time, in the order in which they request their
 * turn.
 */
typedef struct AldStandAlone {
        const char *program;  /* for messages */
        AldLinkOptions *link; /* part of the options; a child process changes its own copy */
        bool rdma;            /* its clients request RDMA before TLS */
        unsigned wait_msec;   /* longest time that a peer waits for its turn */
        const char *busy;     /* the reason with which it is then refused */
        /*
         * Serves the connection link->session_fd, in a child process. When the peer has proved its identity
         * and said what it wants, the child requests its turn with a line on link->report_fd, and reads with
         * ald_admission_read() whether it may measure. SIGTERM is blocked, and requests the child to end.
         * `parent` is for ald_process_limits_apply(). Returns an exit status.
         */
        int (*serve)(const void *options, int parent);
        const void *options;
} AldStandAlone;

/* The exit status of a child process that measured no peer, after which --once continues. */
#define ALD_STAND_ALONE_NOTHING_MEASURED 3

/* Runs until a signal arrives, or with link->once until a peer was measured. Prints that it listens, or the
 * reason why it cannot. Returns the exit status of the measurement, or EXIT_SUCCESS after a signal. */
int ald_stand_alone_run(const AldStandAlone *parts);
