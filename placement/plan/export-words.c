/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/plan/export-words.h"
#include "record/field.h"

#define LABEL_MAX 63u
#define NAME_MAX_BYTES 253u
#define INTERFACE_MAX 15u
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

bool ald_export_is_host_name(const char *text)
{
        g_auto(GStrv) labels = NULL;

        if (!text || !g_ascii_isalnum(text[0]) || strlen(text) > NAME_MAX_BYTES ||
                text[strspn(text, PLAIN "-_.")] != '\0')
                return false;
        labels = g_strsplit(text, ".", -1);
        for (guint i = 0; labels[i]; i++)
                if (labels[i][0] == '\0' || strlen(labels[i]) > LABEL_MAX)
                        return false;
        return true;
}

bool ald_export_is_address(const char *text)
{
        return text && !strchr(text, '%') && g_hostname_is_ip_address(text);
}

bool ald_export_is_ipv4(const char *text)
{
        return ald_export_is_address(text) && !strchr(text, ':');
}

bool ald_export_is_interface(const char *text)
{
        return text && text[0] != '\0' && text[0] != '-' && strlen(text) <= INTERFACE_MAX &&
               text[strspn(text, PLAIN "-_.")] == '\0';
}

char *ald_export_authority(const char *address)
{
        return strchr(address, ':') ? g_strdup_printf("[%s]", address) : g_strdup(address);
}

void ald_export_append_word(GString *out, const char *word)
{
        g_autofree char *quoted = NULL;

        if (word[0] != '\0' && word[strspn(word, PLAIN "_@%+:,./-")] == '\0') {
                g_string_append(out, word);
                return;
        }
        quoted = g_shell_quote(word);
        g_string_append(out, quoted);
}

void ald_export_append_variable(GString *out, const char *name, const char *value)
{
        g_string_append_printf(out, "%s=", name);
        ald_export_append_word(out, value);
        g_string_append_c(out, ' ');
}

static bool is_shown(gunichar c)
{
        GUnicodeType type = g_unichar_type(c);

        return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR &&
               type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

void ald_export_append_safe(GString *out, const char *text)
{
        g_autofree char *valid = g_utf8_make_valid(text ?: "unknown", -1);

        for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);

                g_string_append_unichar(out, is_shown(c) ? c : 0xfffd);
        }
}

void ald_export_append_time(GString *out, guint64 usec)
{
        g_autoptr(GDateTime) time = usec == ALD_ABSENT_UINT64
                                            ? NULL
                                            : g_date_time_new_from_unix_utc((gint64) (usec / 1000000));
        g_autofree char *text = time ? g_date_time_format(time, "%Y-%m-%dT%H:%M:%SZ") : NULL;

        g_string_append(out, text ?: "unknown");
}

void ald_export_append_dot(GString *out, const char *text)
{
        g_autoptr(GString) safe = g_string_new(NULL);

        ald_export_append_safe(safe, text);
        g_string_append_c(out, '"');
        for (const char *at = safe->str; *at; at++) {
                if (*at == '"' || *at == '\\')
                        g_string_append_c(out, '\\');
                g_string_append_c(out, *at);
        }
        g_string_append_c(out, '"');
}
