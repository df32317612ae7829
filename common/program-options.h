/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Reads the command line of a program that takes only --help and --version, and sets the character set of the
 * locale. Returns false if there is nothing more to do; *ret_status is then what main() returns. */
bool ald_program_options(const char *name, const char *summary, int argc, char **argv, int *ret_status);
