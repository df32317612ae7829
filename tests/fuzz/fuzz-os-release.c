/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include <glib.h>

#include "services/identity/os-release.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *name = ald_os_release_parse((const char *) data, size);

        g_assert_true(!name || (*name && g_utf8_validate(name, -1, NULL)));
        return 0;
}
