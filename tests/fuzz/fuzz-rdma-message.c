/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "probes/rdma/gid.h"
#include "probes/rdma/rdma-session.h"
#include "record/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A message that was parsed and formatted is the same when it is parsed again. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        /* Of exactly its size, so that a sanitizer sees what reads beyond. */
        g_autofree char *exact = g_memdup2(data, size), *written = NULL, *reason = NULL;
        g_autoptr(AldRecord) message = NULL, again = NULL;
        AldGids gids;

        if (size == 0 || ald_protocol_parse(&ald_rdma_protocol, exact, size, &message, &reason) < 0)
                return 0;
        if (message->kind == ALD_KIND_RDMA_OFFER)
                (void) ald_gid_rows_read(&ald_record_as(message, RDMA_OFFER, AldRdmaOffer)->gids, &gids);
        written = ald_message_format_named(message->kind, ald_record_fields(message));
        g_assert_cmpint(ald_message_parse_named(
                                &message->kind, 1, written, strlen(written), ALD_RECORD_MAX, &again, NULL),
                ==, 0);
        g_assert_cmpint(ald_record_compare(message, again), ==, 0);
        return 0;
}
