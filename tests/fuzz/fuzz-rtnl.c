/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "record/record.h"
#include "services/telemetry/network/network-merge.h"
#include "services/telemetry/network/network-sync.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static GLogWriterOutput be_silent(GLogLevelFlags flags, const GLogField *fields, gsize n, gpointer userdata)
{
        return G_LOG_WRITER_HANDLED;
}

/* What the socket's owner does, without a socket. */
static void act(AldNetworkSync *sync, unsigned todo)
{
        _Alignas(8) char request[ALD_NETWORK_SYNC_REQUEST_MAX];

        if (todo & ALD_NETWORK_SYNC_AGAIN)
                ald_network_sync_begin(sync);
        if (todo & (ALD_NETWORK_SYNC_AGAIN | ALD_NETWORK_SYNC_ASK))
                ald_network_sync_request(sync, request);
}

/* Whatever the kernel said, it makes a record, or one left out for its size. */
static void merge(const AldLinks *links)
{
        static const AldManaged nothing;
        g_autoptr(AldNetworkRows) rows = ald_network_merge(links, &nothing);
        g_autoptr(AldRecord) record = NULL;

        g_assert_cmpint(ald_record_new(ALD_KIND_NETWORK, ald_network_rows_fields(rows), &record), ==, 0);
}

/* The input is a row of datagrams, each after its length in two bytes, the low one first. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(AldLinks) links = ald_links_new();
        g_autoptr(AldNetworkSync) sync = ald_network_sync_new(links);
        static gsize once;

        if (g_once_init_enter(&once)) {
                g_log_set_writer_func(be_silent, NULL, NULL);
                g_once_init_leave(&once, 1);
        }
        act(sync, ALD_NETWORK_SYNC_AGAIN);
        while (size >= 2) {
                size_t length = MIN(data[0] | (size_t) data[1] << 8, size - 2);
                /* Of just this size, so that a sanitizer sees a read beyond it. */
                g_autofree void *datagram = g_malloc(MAX(length, 1));

                memcpy(datagram, data + 2, length);
                act(sync, ald_network_sync_feed(sync, datagram, length));
                data += 2 + length;
                size -= 2 + length;
        }
        merge(links);
        return 0;
}
