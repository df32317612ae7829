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
        unsigned wait_msec;   /* for how long a peer waits for its turn */
        const char *busy;     /* why it is then refused */
        /*
         * Serves the connection link->session_fd, in a child process. When the peer has proved its identity
         * and says what it wants, the child requests its turn by a line to link->report_fd, and reads with
         * ald_admission_read() whether it may measure.
         * SIGTERM is blocked and asks it to end. `parent` is for ald_process_limits_apply(). Returns an exit
         * status.
         */
        int (*serve)(const void *options, int parent);
        const void *options;
} AldStandAlone;

/* Exit status of a child process that measured nobody, so that --once goes on. */
#define ALD_STAND_ALONE_NOTHING_MEASURED 3

/* Runs until a signal arrives, or with link->once until a peer was measured. Prints that it listens, or why
 * it does not. Returns an exit status: that of the measurement, or EXIT_SUCCESS after a signal. */
int ald_stand_alone_run(const AldStandAlone *parts);
