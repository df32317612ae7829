/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/*
 * Placeholders for names that were never set. Case, spaces and punctuation are ignored: "To Be Filled By
 * O.E.M.", "to_be_filled-by OEM" and "(none)" are placeholders.
 */

/* For the vendor or model of hardware: also whatever consists of such words only, such as "TBD by OEM" and
 * "System Product Version". */
bool ald_is_placeholder(const char *text);

/* For the name of a machine: "localhost", "localhost.localdomain" and the like, "(none)", "unknown". */
bool ald_is_placeholder_name(const char *text);
