/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <string.h>

#include <glib.h>

#include "services/common/firmware-text.h"
#include "services/identity/os-release.h"

/* Reads the character after a backslash. Within double quotes a backslash escapes only the characters that
 * the shell knows there. */
static const char *unescape(const char *p, const char *end, char quote, GString *value)
{
        if (p == end)
                return NULL;
        if (*p == '\n')
                return p + 1;
        if (quote == '"' && !strchr("\"$`\\", *p))
                g_string_append_c(value, '\\');
        g_string_append_c(value, *p);
        return p + 1;
}

/*
 * Reads one value from after its "=" to the end of its line, as the shell would: with backslashes, and quotes
 * of both kinds, which may stand side by side and span several lines. Returns where the next line begins, or
 * NULL for an open quote or words that an assignment cannot have.
 */
static const char *read_value(const char *p, const char *end, GString *value)
{
        char quote = 0;
        bool ended = false;

        while (p && p < end) {
                char c = *p++;

                if (quote ? c == quote : (c == '"' || c == '\'') && !ended)
                        quote = quote ? 0 : c;
                else if (c == '\\' && quote != '\'' && !ended)
                        p = unescape(p, end, quote, value);
                else if (quote)
                        g_string_append_c(value, c);
                else if (c == '\n')
                        return p;
                else if (c == ' ' || c == '\t' || c == '\r')
                        ended = true;
                else if (ended)
                        return NULL;
                else
                        g_string_append_c(value, c);
        }
        return quote || !p ? NULL : end;
}

static size_t name_length(const char *p, const char *end)
{
        size_t n = 0;

        while (p + n < end && (g_ascii_isalnum(p[n]) || p[n] == '_'))
                n++;
        return p + n < end && p[n] == '=' ? n : 0;
}

char *ald_os_release_parse(const char *text, size_t length)
{
        static const char *const names[] = { "PRETTY_NAME", "NAME", "VERSION" };
        char *values[G_N_ELEMENTS(names)] = { NULL };
        const char *end = text + length;
        char *result;

        for (const char *p = text, *next; p < end; p = next) {
                g_autoptr(GString) value = g_string_new(NULL);
                size_t n = name_length(p, end);

                next = n > 0 ? read_value(p + n + 1, end, value) : NULL;
                if (!next) {
                        const char *newline = memchr(p, '\n', (size_t) (end - p));

                        next = newline ? newline + 1 : end;
                        continue;
                }
                for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                        if (strlen(names[i]) == n && memcmp(names[i], p, n) == 0) {
                                g_free(values[i]);
                                values[i] = ald_firmware_text_normalize(value->str, value->len);
                        }
        }

        result = g_steal_pointer(&values[0]);
        if (!result && values[1])
                result = values[2] ? g_strdup_printf("%s %s", values[1], values[2]) : g_strdup(values[1]);
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
                g_free(values[i]);
        return result;
}

char *ald_os_release_read(int root)
{
        static const char *const paths[] = { "etc/os-release", "usr/lib/os-release" };

        for (size_t i = 0; i < G_N_ELEMENTS(paths); i++) {
                g_autofree char *text = NULL;
                ssize_t n = ald_bytes_read(root, paths[i], &text);
                char *name = n < 0 ? NULL : ald_os_release_parse(text, (size_t) n);

                if (name)
                        return name;
        }
        return NULL;
}
