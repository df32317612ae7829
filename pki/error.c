/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>

#include <glib.h>
#include <openssl/err.h>

#include "pki/error.h"

#define MAX_TOLD 3u

static char *reason_of(unsigned long code, const char *data, int flags)
{
        const char *reason = ERR_SYSTEM_ERROR(code) ? g_strerror(ERR_GET_REASON(code))
                                                    : ERR_reason_error_string(code);
        g_autofree char *text = NULL;

        if (!reason)
                reason = "unknown reason";
        if (data && *data && (flags & ERR_TXT_STRING))
                text = g_strdup_printf("%s (%s)", reason, data);
        return g_strdelimit(g_utf8_make_valid(text ? text : reason, -1), "\r\n\t", ' ');
}

char *ald_pki_take_openssl_error(void)
{
        g_autoptr(GPtrArray) reasons = g_ptr_array_new_with_free_func(g_free);
        const char *data;
        unsigned long code;
        int flags;

        while ((code = ERR_get_error_all(NULL, NULL, NULL, &data, &flags))) {
                g_autofree char *reason = reason_of(code, data, flags);

                if (reasons->len < MAX_TOLD &&
                        !g_ptr_array_find_with_equal_func(reasons, reason, g_str_equal, NULL))
                        g_ptr_array_add(reasons, g_steal_pointer(&reason));
        }
        if (reasons->len == 0)
                return g_strdup("unknown reason");
        g_ptr_array_add(reasons, NULL);
        return g_strjoinv(", ", (char **) reasons->pdata);
}

int ald_pki_openssl_failed(int code, const char *what, char **ret_error)
{
        g_autofree char *reason = ald_pki_take_openssl_error();

        if (ret_error)
                *ret_error = g_strdup_printf("%s: %s", what, reason);
        return code;
}

int ald_pki_refuse(int code, char **ret_error, const char *format, ...)
{
        va_list arguments;

        ERR_clear_error();
        if (ret_error) {
                va_start(arguments, format);
                *ret_error = g_strdup_vprintf(format, arguments);
                va_end(arguments);
        }
        return code;
}
