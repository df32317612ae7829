/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <string.h>

#include "services/common/firmware-text.h"
#include "services/identity/dmi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input is the files of sys/class/dmi/id one after the other, a line each. */
static char *next_file(const char **data, size_t *size)
{
        const char *newline = *size > 0 ? memchr(*data, '\n', *size) : NULL;
        size_t n = newline ? (size_t) (newline - *data) : *size;
        char *text = n > 0 ? ald_firmware_text_normalize(*data, n) : NULL;

        *data += n + (newline != NULL);
        *size -= n + (newline != NULL);
        return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *rest = (const char *) data;
        g_auto(AldDmi) dmi = { 0 };
        const char *vendor, *model;

        dmi.sys_vendor = next_file(&rest, &size);
        dmi.product_name = next_file(&rest, &size);
        dmi.product_version = next_file(&rest, &size);
        dmi.board_vendor = next_file(&rest, &size);
        dmi.board_name = next_file(&rest, &size);
        vendor = ald_dmi_vendor(&dmi);
        model = ald_dmi_model(&dmi);
        g_assert_true(!vendor || g_utf8_validate(vendor, -1, NULL));
        g_assert_true(!model || g_utf8_validate(model, -1, NULL));
        return 0;
}
