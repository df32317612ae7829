/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/compute/opencl/ptx.h"

#define MARK "//@"

#define TARGET ".target "

/* Returns the rest of a line such as ".target sm_90, texmode_independent" after the target; NULL for any
 * other line. */
static const char *after_target(const char *line, const char *target)
{
        size_t length = strlen(target);

        if (!g_str_has_prefix(line, TARGET))
                return NULL;
        line += strlen(TARGET);
        if (strncmp(line, target, length) != 0 || g_ascii_isalnum(line[length]) || line[length] == '_')
                return NULL;
        return line + length;
}

char *ald_ptx_uncomment(const char *ptx, size_t size, const char *old_target, const char *new_target)
{
        g_autofree char *text = g_strndup(ptx, size);
        g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
        g_autoptr(GString) new = g_string_sized_new(size);
        unsigned n_marks = 0, n_targets = 0;

        for (char **line = lines; *line; line++) {
                const char *rest = after_target(*line, old_target), *mark = strstr(*line, MARK);

                if (rest) {
                        g_string_append_printf(new, TARGET "%s%s", new_target, rest);
                        n_targets++;
                } else if (mark) {
                        g_string_append_len(new, *line, mark - *line);
                        g_string_append(new, mark + strlen(MARK));
                        n_marks++;
                } else {
                        g_string_append(new, *line);
                }
                if (line[1])
                        g_string_append_c(new, '\n');
        }
        return n_marks > 0 && n_targets == 1 ? g_string_free(g_steal_pointer(&new), FALSE) : NULL;
}
