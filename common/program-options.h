/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Reads the command line of a program that takes only --help and --version, and sets the characters of the
 * locale. False if there is nothing more to do: then *ret_status is what main() returns. */
bool ald_program_options(const char *name, const char *summary, int argc, char **argv, int *ret_status);
