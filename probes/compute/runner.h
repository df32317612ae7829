/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/compute/answer.h"

/* How children of the program run. */
typedef struct AldRunner {
        char **environment;
        unsigned timeout; /* seconds; then a child is killed */
        int stop;         /* readable once the program is to end; of ald_stop_fd() */
} AldRunner;

/* Called with each step. */
typedef void (*AldRunnerTold)(const AldComputeStep *step, void *userdata);

/*
 * Runs this program as a child with these arguments and those that make it one, in a process group of its
 * own, until it has answered with something else than a step; the group is killed then, as it is on any
 * failure. What it fails with is the failure. drivers: the folder to load them from, NULL: the usual one.
 */
int ald_runner_run(const AldRunner *runner, const char *const *arguments, const char *drivers,
        AldRunnerTold told, void *userdata, AldRecord **ret, AldFailure *failure);
