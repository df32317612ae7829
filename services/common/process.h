/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A child process in its own process group, with default signal handlers and only the given file descriptors.
 * Its pidfd becomes readable when it exits; then it must be reaped.
 */
typedef struct AldProcess {
        pid_t pid; /* 0 if there is none */
        int pidfd; /* -1 if there is none */
} AldProcess;

#define ALD_PROCESS_NONE ((AldProcess){ .pid = 0, .pidfd = -1 })

/* Returns our environment without the variables that the service manager sets for us only. Free with
 * g_strfreev(). */
char **ald_process_environment(void);

/* Starts a process. fds[i] becomes descriptor i of the child; -1 is /dev/null. The caller keeps the
 * descriptors. arguments[0] is the path. */
int ald_process_spawn(
        char *const *arguments, char *const *environment, const int *fds, size_t n_fds, AldProcess *ret);

/* Kills the whole group; the process must still be reaped. */
void ald_process_kill(const AldProcess *process);

/* Reaps the process after its exit and kills the rest of its group. `ret` describes how it ended. A process
 * that is being traced counts as killed, and is reaped from the main loop later. */
void ald_process_reap(AldProcess *process, siginfo_t *ret);

/* Waits until the process exits, at most this long. */
void ald_process_wait(const AldProcess *process, int msec);

/* Describes how the process ended, starting with "it". Free with g_free(). */
char *ald_process_describe_end(const siginfo_t *end);
