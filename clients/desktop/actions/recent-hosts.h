/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* Returns the hosts to which the user has connected, the most recent first, from the settings of the
 * application; none if their schema is not installed. Free with g_strfreev(). */
char **ald_recent_hosts(void);

void ald_recent_hosts_remove(const char *host);
