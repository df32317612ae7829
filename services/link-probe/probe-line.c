/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "record/json.h"
#include "services/link-probe/probe-line.h"

static json_t *load(const char *text, size_t length, size_t max)
{
        json_t *json = NULL;

        if (ald_json_load(text, length, max, &json, NULL) < 0)
                return NULL;
        if (json_is_object(json))
                return json;
        json_decref(json);
        return NULL;
}

json_t *ald_probe_line_load(const char *line, size_t max)
{
        return load(line, strlen(line), max);
}

json_t *ald_probe_line_load_last(const char *output, size_t max)
{
        size_t length = strlen(output);
        const char *start;

        while (length > 0 && g_ascii_isspace(output[length - 1]))
                length--;
        start = output + length;
        while (start > output && start[-1] != '\n')
                start--;
        return load(start, (size_t) (output + length - start), max);
}

bool ald_probe_line_is_readable(const char *text, size_t max)
{
        if (!text || *text == '\0' || strlen(text) > max)
                return false;
        for (; *text; text = g_utf8_next_char(text))
                if (!g_unichar_isprint(g_utf8_get_char(text)))
                        return false;
        return true;
}
