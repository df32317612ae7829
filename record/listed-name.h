/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Returns a name as it is written in a list of names. It is quoted if it contains a comma or semicolon, which
 * would seem to end it, or a quote. Within quotes, a backslash precedes each quote and backslash of the name.
 * All languages use these quotes, since only they are escaped inside a name. Free with g_free(). */
char *ald_listed_name(const char *name);
