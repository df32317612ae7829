/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <string.h>

#include <glib.h>

#include "services/common/owner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Control groups, which anybody names. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autofree char *path = g_strndup((const char *) data, size);
        AldOwner owner;

        ald_owner_parse(path, &owner);
        g_assert_cmpuint(owner.kind, <, ALD_HOLDER_OWNER_KIND_N);
        for (const char *c = owner.name; *c; c++)
                g_assert_true(g_ascii_isgraph(*c));
        g_assert_true((*owner.name != '\0') == (owner.kind != ALD_HOLDER_OWNER_KIND_NONE &&
                                                       owner.kind != ALD_HOLDER_OWNER_KIND_SESSION));
        return 0;
}
