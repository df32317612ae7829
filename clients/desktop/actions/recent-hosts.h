/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

/* The machines that were connected to, the most recent first, as the application keeps them in its settings;
 * none without the schema of these. To be freed with g_strfreev(). */
char **ald_recent_hosts(void);

void ald_recent_hosts_remove(const char *host);
