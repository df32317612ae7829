/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* PRETTY_NAME as a shell would read it, else NAME with VERSION; NULL if the text has neither. */
char *ald_os_release_parse(const char *text, size_t length);

/* The same from etc/os-release, else usr/lib/os-release. */
char *ald_os_release_read(int root);
