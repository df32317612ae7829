/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/common/frame.h"
#include "probes/rdma/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was read is written as it was meant, in one frame: reading it again gives the same. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        /* Of exactly its size, so that a sanitizer sees what reads beyond. */
        g_autofree char *text = g_strndup((const char *) data, size);
        g_autofree char *exact = g_strdup(text), *written = NULL, *twice = NULL;
        AldRdmaMessage message, again;

        if (ald_rdma_message_read(exact, &message) < 0)
                return 0;
        written = ald_rdma_message_write(&message);
        g_assert_cmpuint(strlen(written), <=, ALD_FRAME_MAX);
        g_assert_cmpint(ald_rdma_message_read(written, &again), ==, 0);
        twice = ald_rdma_message_write(&again);
        g_assert_cmpstr(written, ==, twice);
        return 0;
}
