/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "clients/alidadectl/cluster/cluster.h"

/* Reads the file that follows the verb, standard input where it is "-" or none; at most max bytes, with a NUL
 * behind. Complains and returns an exit code. */
int ald_input_read(const AldClusterOrder *order, size_t max, char **ret, size_t *ret_n);

/* Reads to the end, with a NUL behind. -EFBIG beyond max bytes. */
int ald_input_read_all(int fd, size_t max, char **ret, size_t *ret_n);

/* Replaces a file, or writes into what is none, such as a pipe, or a link to one. */
int ald_output_write_file(const char *path, const char *text);

/* The file that follows the verb, NULL for standard input or output. */
const char *ald_input_file(const AldClusterOrder *order);
