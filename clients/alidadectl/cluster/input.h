/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "clients/alidadectl/cluster/cluster.h"

/* Reads the file that follows the verb, standard input where it is "-" or none; at most max bytes, with a NUL
 * behind. Complains and returns an exit code. */
int ald_input_read(const AldClusterOrder *order, size_t max, char **ret, size_t *ret_n);

/* The file that follows the verb, NULL for standard input or output. */
const char *ald_input_file(const AldClusterOrder *order);
