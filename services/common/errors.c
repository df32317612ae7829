/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include <glib.h>
#include <systemd/sd-bus.h>

#include "services/common/errors.h"

static const sd_bus_error_map errors[] = {
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_NODE, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_KIND, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_AMBIGUOUS_NAME, ENOTUNIQ),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_STORED, EIO),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_SUBSCRIBED, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_JOINED, ENOTCONN),
        SD_BUS_ERROR_MAP(ALD_ERROR_NODE_ONLINE, EBUSY),
        SD_BUS_ERROR_MAP(ALD_ERROR_NOT_MIRRORED, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_INHIBITOR, ENOENT),
        SD_BUS_ERROR_MAP(ALD_ERROR_INHIBITED, EBUSY),
        SD_BUS_ERROR_MAP(ALD_ERROR_NO_SUCH_DEVICE, ENODEV),
        SD_BUS_ERROR_MAP(ALD_ERROR_BUSY, EADDRINUSE),
        SD_BUS_ERROR_MAP_END,
};

int ald_errors_register(void)
{
        return sd_bus_error_add_map(errors);
}

int ald_error_unreadable(int r, sd_bus_error *error)
{
        if (r != -EBADMSG)
                return r;
        return sd_bus_error_set(error, SD_BUS_ERROR_INVALID_ARGS,
                "A string contains control characters or is not valid UTF-8");
}

static void append_printable(GString *excerpt, const char *text, unsigned n_max)
{
        for (unsigned i = 0; *text && i < n_max; i++) {
                gunichar c = g_utf8_get_char_validated(text, -1);
                bool valid = c < (gunichar) -2;

                g_string_append_unichar(excerpt, valid && g_unichar_isprint(c) ? c : '?');
                text = valid ? g_utf8_next_char(text) : text + 1;
        }
}

char *ald_excerpt(const char *text)
{
        GString *excerpt = g_string_new(NULL);

        append_printable(excerpt, text, ALD_EXCERPT_MAX);
        return g_string_free(excerpt, FALSE);
}

char *ald_excerpt_ends(const char *text)
{
        GString *excerpt = g_string_new(NULL);
        size_t n = strlen(text);
        const char *tail = text + n - MIN(n, ALD_EXCERPT_MAX);

        if (n <= 2 * ALD_EXCERPT_MAX) {
                append_printable(excerpt, text, 2 * ALD_EXCERPT_MAX);
                return g_string_free(excerpt, FALSE);
        }
        /* Not in the middle of a character. */
        while ((*tail & 0xc0) == 0x80)
                tail++;
        append_printable(excerpt, text, ALD_EXCERPT_MAX);
        g_string_append(excerpt, "…");
        append_printable(excerpt, tail, ALD_EXCERPT_MAX);
        return g_string_free(excerpt, FALSE);
}
