/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>

#include <glib.h>

#include "probes/common/arguments.h"

int ald_arguments_refuse(char **ret_error, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        *ret_error = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        return -EINVAL;
}

int ald_arguments_read(int argc, char **argv, const struct option *table, AldArgumentsSet set, void *options,
        char **ret_error)
{
        int option, r = 0;

        optind = 0;
        opterr = 0;
        while (r == 0 && (option = getopt_long(argc, argv, "h", table, NULL)) >= 0)
                r = option == '?' ? ald_arguments_refuse(ret_error, "unknown option, or missing argument: %s",
                                            argv[optind - 1])
                                  : set(options, option, ret_error);
        return r;
}

int ald_arguments_number(
        const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *ret, char **ret_error)
{
        guint64 value;

        if (!g_ascii_string_to_unsigned(text, 10, min, max, &value, NULL))
                return ald_arguments_refuse(ret_error,
                        "--%s: not a number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT ": %s", name,
                        min, max, text);
        *ret = value;
        return 0;
}

int ald_arguments_bytes(const char *name, const char *text, uint64_t *ret, char **ret_error)
{
        static const char units[] = "KMGT";
        size_t length = strlen(text);
        const char *unit = length > 0 ? strchr(units, g_ascii_toupper(text[length - 1])) : NULL;
        g_autofree char *digits = g_strndup(text, length - (unit ? 1 : 0));
        uint64_t factor = 1;

        for (const char *u = units; unit && u <= unit; u++)
                factor *= 1000;
        if (ald_arguments_number(name, digits, 1, ALD_ARGUMENTS_BYTES_MAX / factor, ret, ret_error) < 0)
                return -EINVAL;
        *ret *= factor;
        return 0;
}
