/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "probes/socket/transfer/protocol.h"

static const AldKind kinds[] = {
        ALD_KIND_SOCKET_WELCOME,
        ALD_KIND_SOCKET_OPEN,
        ALD_KIND_SOCKET_TOKENS,
        ALD_KIND_SOCKET_MORE,
        ALD_KIND_SOCKET_BEGIN,
        ALD_KIND_SOCKET_EFFORT,
        ALD_KIND_SOCKET_VERDICT,
        ALD_KIND_SOCKET_NO_RATE,
        ALD_KIND_SOCKET_STOP,
        ALD_KIND_SOCKET_SENT,
        ALD_KIND_SOCKET_SPOT_RESULT,
        ALD_KIND_SOCKET_BYE,
        ALD_KIND_PROBE_ABORT,
};

const AldProtocol ald_socket_protocol = { .version = 2, .kinds = kinds, .n_kinds = G_N_ELEMENTS(kinds) };
