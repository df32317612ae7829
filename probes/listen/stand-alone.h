/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "probes/common/link-options.h"

/*
 * A probe that was started by hand with --listen. It accepts connections as the link probe service does and
 * serves each in a child process. One peer is measured at a time, in the order in which they have proved
 * their identity.
 */
typedef struct AldStandAlone {
        const char *program;  /* for messages */
        AldLinkOptions *link; /* part of the options; a child process changes its own copy */
        bool rdma;            /* its clients request RDMA before TLS */
        unsigned wait_msec;   /* for how long a peer waits for its turn */
        const char *busy;     /* why it is then refused */
        /*
         * Serves the connection link->session_fd, in a child process. Once the peer has proved its identity,
         * it sends a line to link->report_fd and reads with ald_admission_read() whether it may measure.
         * SIGTERM is blocked and asks it to end. `parent` is for ald_process_limits_apply(). Returns an exit
         * status.
         */
        int (*serve)(const void *options, int parent);
        const void *options;
} AldStandAlone;

/* Exit status of a child process with whose session --once is not over, since nobody was measured. */
#define ALD_STAND_ALONE_NOTHING_MEASURED 3

/* Runs until a signal arrives, or with link->once until a peer was measured. Prints that it listens, or why
 * it does not. Returns an exit status: that of the measurement, or EXIT_SUCCESS after a signal. */
int ald_stand_alone_run(const AldStandAlone *parts);
