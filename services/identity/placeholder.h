/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/*
 * Detects placeholders for names that were never set. Case, spaces and punctuation are ignored: "To Be Filled
 * By O.E.M.", "to_be_filled-by OEM" and "(none)" are placeholders.
 */

/* Checks the vendor or model of hardware. A text that consists only of such words is a placeholder, too: "TBD
 * by OEM", "System Product Version". */
bool ald_is_placeholder(const char *text);

/* Checks the name of a machine: "localhost", "localhost.localdomain" and the like, "(none)" and "unknown" are
 * placeholders. */
bool ald_is_placeholder_name(const char *text);
