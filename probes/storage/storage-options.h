/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "probes/common/command-line.h"

/* The command line. */
typedef struct AldStorageOptions {
        char **paths;      /* normalized */
        char *file_system; /* mount point of the only file system to measure; NULL for all */
        char **still;      /* disks that may stand still if they rotate; may be NULL */
        uint64_t bytes;
        gboolean lists; /* list file systems instead of measuring */
        gboolean optional;
        gboolean gives_way;
        gboolean json;
        gboolean lenient; /* measure loop devices, and files that were just written, for tests */
        int progress_fd;  /* -1: none */
        char *root;
} AldStorageOptions;

extern const AldCommandLine ald_storage_command_line;

/* Returns 0 with the options, 1 with the output of --help or --version, -EINVAL with the reason. */
int ald_storage_options_parse(
        int argc, char **argv, AldStorageOptions *ret, char **ret_output, char **ret_error);
void ald_storage_options_clear(AldStorageOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldStorageOptions, ald_storage_options_clear)
