/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "clients/alidadectl/cluster/cluster.h"

/* Reads the file that follows the verb, standard input where it is "-" or none; at most max bytes, with a NUL
 * behind. Complains and returns an exit code. */
int ald_input_read(const AldClusterOrder *order, size_t max, char **ret, size_t *ret_n);

/* Reads to the end, with a NUL behind. -EFBIG beyond max bytes. */
int ald_input_read_all(int fd, size_t max, char **ret, size_t *ret_n);

/* Replaces a file that has another text, or writes into what is none, such as a pipe, or a link to one; the
 * latter only in a folder that no other user can write to. Reports it. Complains and returns an exit code. */
int ald_output_write_file(AldChanges *changes, const char *path, const char *text, mode_t mode);

/* Whether ald_output_give() can be expected to succeed, for those who first do what cannot be undone. */
int ald_output_check(const AldClusterOrder *order);

/* Whether what is made goes to standard output: there is no --output=, and more than a check is asked for. */
bool ald_output_is_standard(const AldClusterOrder *order);

/* Has the report go to standard error in that case; refuses it as JSON, for which only standard output is
 * left. */
int ald_output_prepare(const AldClusterOrder *order);

/* Prints what was asked for. */
int ald_output_print(AldChanges *changes, const char *text);

/* Prints it, or writes it to the file of --output=. */
int ald_output_give(const AldClusterOrder *order, const char *text);

/* The file that follows the verb, NULL for standard input or output. */
const char *ald_input_file(const AldClusterOrder *order);
