/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include <glib.h>

#include "services/link-probe/link/transport.h"

/* RDMA uses the same wires, so a lock on links covers it, too. */
const AldTransportInfo ald_transports[ALD_TRANSPORT_N] = {
        [ALD_TRANSPORT_SOCKET] = { "alidade-probe-socket", ALD_KIND_LINK_SOCKET, ALD_KIND_SOCKET_RESULT,
                ALD_INHIBIT_LINK, "links" },
        [ALD_TRANSPORT_RDMA] = { "alidade-probe-rdma", ALD_KIND_LINK_RDMA, ALD_KIND_RDMA_RESULT,
                ALD_INHIBIT_LINK | ALD_INHIBIT_RDMA, "links over RDMA" },
};

int ald_transport_of_kind(const char *name)
{
        for (AldTransport i = 0; i < ALD_TRANSPORT_N; i++)
                if (g_str_equal(ald_kinds[ald_transports[i].kind].name, name))
                        return (int) i;
        return -EINVAL;
}
