/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "probes/compute/metric.h"

typedef enum AldComputeMode {
        ALD_COMPUTE_MEASURE,
        ALD_COMPUTE_LIST,
        ALD_COMPUTE_HELP,
        ALD_COMPUTE_VERSION,
        ALD_COMPUTE_CHILD, /* measures or lists for the program that started it */
} AldComputeMode;

/* The command line. Strings point into argv. */
typedef struct AldComputeOptions {
        AldComputeMode mode;
        const char *device;  /* NULL: each */
        unsigned metrics;    /* bits 1 << AldMetric */
        const char *variant; /* of the matrix product; NULL: the fastest correct one */
        unsigned size;       /* its n; 0: depends on the device */
        double seconds_max;  /* per metric */
        unsigned timeout;    /* seconds after which a child is killed */
        bool gives_way;      /* stops if other work is running */
        bool json;
        int progress_fd; /* -1: none */

        /* Options of a child. */
        bool lists; /* instead of measuring */
        AldListed listed;
        const char *simpler_than; /* NULL: any variant */
        int answer_fd, parent;
} AldComputeOptions;

/* -EINVAL with *ret_error set to a message. */
int ald_compute_options_parse(int argc, char **argv, AldComputeOptions *ret, char **ret_error);

extern const char ald_compute_help[];
