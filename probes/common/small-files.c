/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/common/small-files.h"

int ald_file_compare_names(const void *a, const void *b)
{
        return strcmp(*(const char *const *) a, *(const char *const *) b);
}

char *ald_file_text(const char *root, const char *path)
{
        g_autofree char *name = g_build_filename(root, path, NULL), *text = NULL;

        if (!g_file_get_contents(name, &text, NULL, NULL))
                return NULL;
        g_strstrip(text);
        return *text ? g_steal_pointer(&text) : NULL;
}

static bool parse_number(const char *text, uint64_t *ret)
{
        while (*text == ' ' || *text == '\t')
                text++;
        return g_ascii_isdigit(*text) && ((*ret = g_ascii_strtoull(text, NULL, 10)), true);
}

bool ald_file_number(const char *root, const char *path, uint64_t *ret)
{
        g_autofree char *text = ald_file_text(root, path);

        return text && parse_number(text, ret);
}

bool ald_file_field(const char *root, const char *path, const char *word, uint64_t *ret)
{
        g_autofree char *text = ald_file_text(root, path);
        g_auto(GStrv) lines = text ? g_strsplit(text, "\n", -1) : NULL;

        for (char **line = lines; line && *line; line++)
                if (g_str_has_prefix(*line, word))
                        return parse_number(*line + strlen(word), ret);
        return false;
}

uint64_t ald_host_memory_available(const char *root)
{
        uint64_t kib;

        return ald_file_field(root, "proc/meminfo", "MemAvailable:", &kib) && kib <= UINT64_MAX / 1024
                       ? kib * 1024
                       : 0;
}
