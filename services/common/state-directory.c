/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>

#include <glib/gstdio.h>

#include "services/common/state-directory.h"

#define LEFTOVER_CHARS 6u

const char *ald_state_directory(const char *fallback)
{
        const char *directory = g_getenv("STATE_DIRECTORY");

        return directory && *directory ? directory : fallback;
}

/* Returns whether mkstemp() or g_file_set_contents() has made this name for a temporary file. */
static bool is_leftover(const char *name, const char *of)
{
        const char *rest = g_str_has_prefix(name, of) ? name + strlen(of) : "";
        size_t n = 0;

        if (*rest++ != '.')
                return false;
        while (g_ascii_isalnum(rest[n]))
                n++;
        return n == LEFTOVER_CHARS && rest[n] == '\0';
}

void ald_state_remove_leftovers(const char *path)
{
        g_autofree char *folder = g_path_get_dirname(path), *of = g_path_get_basename(path);
        g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
        const char *name;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *leftover = g_build_filename(folder, name, NULL);

                if (is_leftover(name, of) && g_unlink(leftover) < 0)
                        g_warning("Cannot remove %s: %m", leftover);
        }
}
