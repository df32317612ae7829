/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/*
 * What stands where nobody gave a name. Case, blanks and punctuation do not matter: "To Be Filled By O.E.M.",
 * "to_be_filled-by OEM" and "(none)" are placeholders as they are.
 */

/* Of the vendor or model of hardware. */
bool ald_is_placeholder(const char *text);

/* Of a machine: "localhost", "localhost.localdomain" and the like, "(none)", "unknown". */
bool ald_is_placeholder_name(const char *text);
