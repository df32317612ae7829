/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* Returns PRETTY_NAME as a shell would read it, else NAME with VERSION; NULL if the text has neither. Free
 * with g_free(). */
char *ald_os_release_parse(const char *text, size_t length);

/* Returns the name from etc/os-release, else from usr/lib/os-release, in the same way. */
char *ald_os_release_read(int root);
