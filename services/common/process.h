/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A child process in a process group of its own, with default signals and no file descriptors but those it is
 * given. It is watched by its pidfd, which becomes readable at its end; then it is reaped.
 */
typedef struct AldProcess {
        pid_t pid; /* 0 where there is none */
        int pidfd; /* -1 where there is none */
} AldProcess;

#define ALD_PROCESS_NONE ((AldProcess){ .pid = 0, .pidfd = -1 })

/* Our environment without what only concerns the service manager and us. Free with g_strfreev(). */
char **ald_process_environment(void);

/* fds[i] becomes the child's i; -1 is /dev/null. The caller keeps them. arguments[0] is the path. */
int ald_process_spawn(
        char *const *arguments, char *const *environment, const int *fds, size_t n_fds, AldProcess *ret);

/* Ends the whole group at once; it is still to be reaped. */
void ald_process_kill(const AldProcess *process);

/* After its end: what is left of its group goes, and the process is forgotten. `ret` says how it ended. One
 * that is being traced counts as killed, and is reaped from the main loop later. */
void ald_process_reap(AldProcess *process, siginfo_t *ret);

/* Waits so long for its end. */
void ald_process_wait(const AldProcess *process, int msec);

/* In words that follow "it": free with g_free(). */
char *ald_process_describe_end(const siginfo_t *end);
