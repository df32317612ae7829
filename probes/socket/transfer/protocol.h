/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/channel.h"

/* The messages of a session. record/messages/socket-session.xml describes them in order. */
extern const AldProtocol ald_socket_protocol;
