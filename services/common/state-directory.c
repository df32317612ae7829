/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/common/state-directory.h"

const char *ald_state_directory(const char *fallback)
{
        const char *directory = g_getenv("STATE_DIRECTORY");

        return directory && *directory ? directory : fallback;
}
