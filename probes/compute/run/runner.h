/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/run/answer.h"

/* The settings for child processes. */
typedef struct AldRunner {
        char **environment;
        unsigned timeout; /* seconds after which a child is killed */
        int stop;         /* from ald_stop_fd(): readable when the program should stop */
} AldRunner;

/* Called with each step. */
typedef void (*AldRunnerCallback)(const AldComputeStep *step, void *userdata);

/*
 * Runs this program as a child process with these arguments and those for children, in its own process group,
 * until it sends an answer other than a step; then, or on failure, the group is killed. A failure that the
 * child reports is returned in `failure`. `drivers` is the folder to load them from, NULL for the default.
 */
int ald_runner_run(const AldRunner *runner, const char *const *arguments, const char *drivers,
        AldRunnerCallback callback, void *userdata, AldRecord **ret, AldFailure *failure);
