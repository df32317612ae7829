/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include <glib.h>

/*
 * A run of a measuring program, in a process of its own. Nothing here blocks: the main loop reads its output,
 * and at a deadline it is killed with its process group.
 */
typedef struct AldProbeChild AldProbeChild;

/* The maximum sizes of its output and of a line of progress. */
#define ALD_PROBE_OUTPUT_MAX (64u * 1024)
#define ALD_PROBE_LINE_MAX 1024u

/* The numbers of its file descriptors in the child. */
#define ALD_PROBE_SIDE_FD "3"
#define ALD_PROBE_SESSION_FD "4"

typedef struct AldProbeChildHandler {
        /* Called with each line on the side channel; may be NULL. */
        void (*line)(const char *line, void *userdata);
        /* Called once, when the process has been reaped; the child may be freed here. `output` is what it
         * printed. `failure` is NULL, or describes why the output must not be used, in words that follow "the
         * probe". */
        void (*ended)(const char *output, const char *failure, void *userdata);
} AldProbeChildHandler;

/* `arguments` follow the program's name. `session` is passed to the program if it is not negative, and
 * remains the caller's. The handler must outlive the child. */
int ald_probe_child_new(const char *program, const char *const *arguments, int session,
        unsigned deadline_msec, const AldProbeChildHandler *handler, void *userdata, AldProbeChild **ret);

/* Sends a line on the side channel. */
void ald_probe_child_send(AldProbeChild *child, const char *line);

/* Kills the process and waits for it to exit, without calling back. */
void ald_probe_child_free(AldProbeChild *child);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldProbeChild, ald_probe_child_free)

/* Kills the process; `ended` follows, with this failure. */
void ald_probe_child_end(AldProbeChild *child, const char *failure);

/* Returns whether it was killed more than 10 s ago and is still running. */
bool ald_probe_child_is_stuck(const AldProbeChild *child);

pid_t ald_probe_child_pid(const AldProbeChild *child);

/* Kills the process after this time, in place of the previous deadline. */
void ald_probe_child_set_deadline(AldProbeChild *child, unsigned msec);
