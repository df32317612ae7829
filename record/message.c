/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "record/message.h"

#define REAL_DIGITS 12 /* more than any measurement yields, and short enough to read */
#define UTF8_MAX 6     /* bytes of a character */

int ald_message_parse(
        AldKind kind, const char *text, size_t n, size_t max_bytes, AldRecord **ret, char **ret_reason)
{
        AldJsonFault fault;
        int r;

        if (n > max_bytes) {
                if (ret_reason)
                        *ret_reason = g_strdup_printf("larger than %zu bytes", max_bytes);
                return -E2BIG;
        }
        r = ald_record_from_text(kind, text, n, ret, &fault);
        if (r < 0 && !fault.field)
                fault.field = ald_kinds[kind].name;
        if (r < 0 && ret_reason)
                *ret_reason = ald_json_fault_describe(&fault, r);
        return r;
}

char *ald_message_text(const char *text)
{
        g_autofree char *valid = g_utf8_make_valid(text, -1);
        GString *shown = g_string_new(NULL);

        for (const char *at = valid; *at && shown->len + UTF8_MAX <= ALD_MESSAGE_STRING_MAX;
                at = g_utf8_next_char(at)) {
                gunichar c = g_utf8_get_char(at);

                g_string_append_unichar(shown, g_unichar_isprint(c) ? c : ' ');
        }
        return g_string_free(shown, FALSE);
}

char *ald_message_format(AldKind kind, const void *fields)
{
        g_autoptr(AldRecord) record = NULL;
        json_auto_t *json = NULL;
        char *dump, *text;

        if (ald_record_new(kind, fields, &record) < 0)
                return NULL;
        json = ald_record_to_json(record);
        dump = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS));
        if (!dump)
                g_error("Out of memory");
        text = g_strdup(dump);
        free(dump);
        return text;
}

char *ald_message_format_named(AldKind kind, const void *fields)
{
        g_autofree char *text = ald_message_format(kind, fields);

        return text ? g_strconcat(ald_kinds[kind].name, " ", text, NULL) : NULL;
}

int ald_message_parse_named(const AldKind *kinds, size_t n_kinds, const char *text, size_t n,
        size_t max_bytes, AldRecord **ret, char **ret_reason)
{
        const char *space = memchr(text, ' ', n);
        size_t length = space ? (size_t) (space - text) : n;

        for (size_t i = 0; i < n_kinds && space; i++) {
                const char *name = ald_kinds[kinds[i]].name;

                if (strlen(name) == length && memcmp(name, text, length) == 0)
                        return ald_message_parse(
                                kinds[i], space + 1, n - length - 1, max_bytes, ret, ret_reason);
        }
        if (ret_reason)
                *ret_reason = g_strdup("not a message of a known name");
        return -ENOENT;
}
