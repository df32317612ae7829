/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/link-probe/net/first-bytes.h"

bool ald_first_bytes_are_tls(const unsigned char *bytes, size_t n)
{
        /* A handshake record of any version. */
        return n >= 2 && bytes[0] == 0x16 && bytes[1] == 0x03;
}

bool ald_first_bytes_are_rdma(const unsigned char *bytes, size_t n)
{
        return n >= ALD_FIRST_BYTES_RDMA_SIZE &&
               memcmp(bytes, ALD_FIRST_BYTES_RDMA, ALD_FIRST_BYTES_RDMA_SIZE) == 0;
}
