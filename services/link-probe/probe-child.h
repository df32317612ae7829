/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <glib.h>

/*
 * One run of alidade-probe-socket or alidade-probe-compute, which measures in a process of its own. Nothing
 * here blocks: what it says is read from the main loop, and a deadline ends it with its process group.
 */
typedef struct AldProbeChild AldProbeChild;

/* The most that a child may say as its result, and in a line meanwhile. */
#define ALD_PROBE_OUTPUT_MAX (64u * 1024)
#define ALD_PROBE_LINE_MAX 1024u

/* The numbers that its file descriptors have there. */
#define ALD_PROBE_SIDE_FD "3"
#define ALD_PROBE_SESSION_FD "4"

typedef struct AldProbeChildHandler {
        /* A line on the descriptor beside the output. */
        void (*line)(const char *line, void *userdata);
        /* Once, when the process has been reaped; the child may be freed here. `output` is what it printed.
         * `failure` tells why that is not to be trusted, in words that follow "the probe", or is NULL. */
        void (*ended)(const char *output, const char *failure, void *userdata);
} AldProbeChildHandler;

/* `arguments` follow the program's name. `session` is given to it where it is not negative, and stays the
 * caller's. The handler must outlive the child. */
int ald_probe_child_new(const char *program, const char *const *arguments, int session,
        unsigned deadline_msec, const AldProbeChildHandler *handler, void *userdata, AldProbeChild **ret);

/* Says something to it on the descriptor beside the output. */
void ald_probe_child_say(AldProbeChild *child, const char *line);

/* Ends the process, and waits for that; nobody is told. */
void ald_probe_child_free(AldProbeChild *child);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldProbeChild, ald_probe_child_free)

/* Ends the process; `ended` follows, with this failure. */
void ald_probe_child_end(AldProbeChild *child, const char *failure);

pid_t ald_probe_child_pid(const AldProbeChild *child);

/* From now on it has so long. */
void ald_probe_child_set_deadline(AldProbeChild *child, unsigned msec);
