/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "clients/cluster/command.h"

/* Reads the file given after the verb, or standard input if it is "-" or missing: at most max bytes, with a
 * NUL appended. Reports errors and returns an exit code. */
int ald_input_read(const AldClusterCommand *command, size_t max, char **ret, size_t *ret_n);

/* Reads to the end and appends a NUL. Returns -EFBIG beyond max bytes. */
int ald_input_read_all(int fd, size_t max, char **ret, size_t *ret_n);

/* Replaces a file if its text differs, or writes into something else, such as a pipe or a link to one. The
 * latter is done only in a folder that no other user can write to. Reports changes and errors, and returns an
 * exit code. */
int ald_output_write_file(AldChanges *changes, const char *path, const char *text, mode_t mode);

/* Checks that ald_output_give() should succeed, for callers that first do something irreversible. Reports
 * errors and returns an exit code. */
int ald_output_check(const AldClusterCommand *command);

/* Returns whether the result goes to standard output: neither --output= nor --check is given. */
bool ald_output_is_standard(const AldClusterCommand *command);

/* If the result goes to standard output, sends the report to standard error, and refuses --json, which needs
 * standard output. */
int ald_output_prepare(const AldClusterCommand *command);

/* Prints the result. */
int ald_output_print(AldChanges *changes, const char *text);

/* Prints the result, or writes it to the file of --output=. */
int ald_output_give(const AldClusterCommand *command, const char *text);

/* Returns the file given after the verb; NULL for standard input or output. */
const char *ald_input_file(const AldClusterCommand *command);
