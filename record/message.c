/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "record/json.h"
#include "record/message.h"

#define REAL_DIGITS 12 /* more than anything is measured to, and short enough to read */

int ald_message_parse(
        AldKind kind, const char *text, size_t n, size_t max_bytes, AldRecord **ret, char **ret_reason)
{
        json_auto_t *json = NULL;
        const char *field = NULL;
        int r;

        r = ald_json_load(text, n, max_bytes, &json, ret_reason);
        if (r < 0)
                return r;
        r = ald_record_from_json(kind, json, ret, &field);
        if (r < 0 && ret_reason)
                *ret_reason = g_strdup_printf(
                        "%s: %s", field ?: ald_kinds[kind].name, ald_record_describe(r));
        return r;
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
