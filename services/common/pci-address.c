/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "services/common/pci-address.h"

static bool skip_hex(const char **text, unsigned least, unsigned most)
{
        unsigned n = 0;

        while (n < most && g_ascii_isxdigit(**text)) {
                (*text)++;
                n++;
        }
        return n >= least;
}

static bool skip_char(const char **text, char c)
{
        if (**text != c)
                return false;
        (*text)++;
        return true;
}

bool ald_gpu_is_pci_address(const char *text)
{
        return skip_hex(&text, 4, 8) && skip_char(&text, ':') && skip_hex(&text, 2, 2) &&
               skip_char(&text, ':') && skip_hex(&text, 2, 2) && skip_char(&text, '.') &&
               skip_hex(&text, 1, 1) && *text == '\0';
}
