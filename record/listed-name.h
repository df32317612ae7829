/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A name as it stands in a list of names: in quotes if it has a comma or semicolon, which would read as the
 * end of it, or a quote, which would read as one of these. In quotes, a backslash is before each quote and
 * backslash of the name. The quotes are these in each language, as others in a name have no backslash. Free
 * it with g_free(). */
char *ald_listed_name(const char *name);
