/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/rdma/ping.h"

/* The bytes are those that each machine understands, whatever its byte order. */
static void test_bytes(void)
{
        static const uint8_t bytes[ALD_PING_SIZE] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd,
                0xef, [14] = 0x08, [15] = 0x98 };
        const AldPing ping = { UINT64_C(0x0123456789abcdef), 2200 };
        uint8_t written[ALD_PING_SIZE];
        AldPing read;

        ald_ping_write(&ping, written);
        g_assert_cmpmem(written, sizeof written, bytes, sizeof bytes);
        read = ald_ping_read(bytes);
        g_assert_cmpuint(read.nonce, ==, ping.nonce);
        g_assert_cmpuint(read.number, ==, ping.number);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/rdma/ping/bytes", test_bytes);
        return g_test_run();
}
