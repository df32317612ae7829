/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "services/link-probe/gate.h"

bool ald_gate_is_tls(const unsigned char *bytes, size_t n)
{
        /* A handshake record of any version. */
        return n >= 2 && bytes[0] == 0x16 && bytes[1] == 0x03;
}

bool ald_gate_is_rdma(const unsigned char *bytes, size_t n)
{
        return n >= ALD_GATE_RDMA_SIZE && memcmp(bytes, ALD_GATE_RDMA, ALD_GATE_RDMA_SIZE) == 0;
}
