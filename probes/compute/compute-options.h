/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/command-line.h"
#include "probes/compute/metric.h"

typedef enum AldComputeMode {
        ALD_COMPUTE_MEASURE,
        ALD_COMPUTE_LIST,
        ALD_COMPUTE_CHILD, /* measures or lists for the program that started it */
} AldComputeMode;

/* The command line. */
typedef struct AldComputeOptions {
        AldComputeMode mode;
        char *device;       /* NULL for each */
        unsigned metrics;   /* bits 1 << AldMetric */
        char *variant;      /* of the matrix product; NULL for the fastest correct one */
        unsigned size;      /* n of the matrix product; 0 to choose it for the device */
        double seconds_max; /* per metric */
        unsigned timeout;   /* seconds after which a child is killed */
        gboolean gives_way; /* stop if other work is running */
        gboolean json;
        int progress_fd; /* -1: none */

        /* Options of a child. */
        gboolean lists; /* list devices instead of measuring */
        unsigned ordinal;
        char *name, *pci;   /* of the device; see AldDeviceIdentity */
        char *simpler_than; /* NULL for any variant */
        int answer_fd;
        unsigned parent;
} AldComputeOptions;

extern const AldCommandLine ald_compute_command_line;

/* Returns 0 with the options, 1 with the output of --help or --version, -EINVAL with the reason. */
int ald_compute_options_parse(
        int argc, char **argv, AldComputeOptions *ret, char **ret_output, char **ret_error);
void ald_compute_options_clear(AldComputeOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldComputeOptions, ald_compute_options_clear)
