/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "record/kind.h"

/*
 * The other side of helper.h, within a helper. A helper can also be run by hand: it then reads its request
 * from the terminal or a pipe and prints its answer.
 */

/*
 * Ties the process to the life of its parent, limits it to `data_max` bytes of private memory and no core
 * file, and reserves standard output for the answers, since libraries may print to it. Returns the file
 * descriptor for ald_child_side_answer().
 */
int ald_child_side_begin(uint64_t data_max);

/* Reads one request and terminates it. Returns its length, or 0 when there will be none. */
ssize_t ald_child_side_request(char *buffer, size_t size);

/* Writes one answer, a struct of this kind. Returns -EMSGSIZE if it is too long. */
int ald_child_side_answer(int fd, AldKind kind, const void *fields);

/* Copies a driver's text without the blanks around it. Returns NULL if nothing is left. Free with
 * g_free(). */
char *ald_child_side_text(const char *text);
