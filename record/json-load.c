/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/json.h"

/* jansson's own limit is compiled in and far too deep for us. Up to the first character that it would refuse
 * this sees the same nesting. */
static bool is_too_deep(const char *bytes, size_t n)
{
        bool in_string = false;
        unsigned depth = 0;

        for (size_t i = 0; i < n; i++) {
                if (in_string && bytes[i] == '\\')
                        i++;
                else if (bytes[i] == '"')
                        in_string = !in_string;
                else if (!in_string && (bytes[i] == '{' || bytes[i] == '['))
                        depth++;
                else if (!in_string && depth > 0 && (bytes[i] == '}' || bytes[i] == ']'))
                        depth--;
                if (depth > ALD_JSON_MAX_DEPTH)
                        return true;
        }
        return false;
}

/* It quotes what it read, up to the middle of a character; and would have us set a flag. */
static char *describe(const json_error_t *error)
{
        if (json_error_code(error) == json_error_null_character)
                return g_strdup("a NUL in a string");
        return g_utf8_make_valid(error->text, -1);
}

static int refuse(int error, char **ret_error, char *reason)
{
        if (ret_error)
                *ret_error = reason;
        else
                g_free(reason);
        return error;
}

int ald_json_load(const char *bytes, size_t n, size_t max_bytes, json_t **ret, char **ret_error)
{
        g_autofree char *reason = NULL;
        json_error_t error;
        json_t *json;

        if (n > max_bytes)
                return refuse(-E2BIG, ret_error, g_strdup_printf("larger than %zu bytes", max_bytes));
        if (is_too_deep(bytes, n))
                return refuse(-EBADMSG, ret_error,
                        g_strdup_printf("nested deeper than %u levels", ALD_JSON_MAX_DEPTH));
        json = json_loadb(bytes, n, JSON_REJECT_DUPLICATES, &error);
        if (!json) {
                reason = describe(&error);
                return refuse(-EBADMSG, ret_error,
                        g_strdup_printf("line %d, column %d: %s", error.line, error.column, reason));
        }
        *ret = json;
        return 0;
}
