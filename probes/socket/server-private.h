/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/socket/door.h"
#include "probes/socket/exchange.h"
#include "probes/socket/receiving.h"
#include "probes/socket/rtt.h"
#include "probes/socket/server.h"

typedef enum AldServerState {
        ALD_SERVER_IDLE,
        ALD_SERVER_UPLOAD,
        ALD_SERVER_DOWNLOAD,
        ALD_SERVER_OVER,
} AldServerState;

typedef struct AldServer {
        const AldProbeOptions *options;
        AldChannel channel;
        AldDoor door;
        AldEcho echo;
        AldServerState state;
        unsigned begins;
        uint64_t deadline, effort_at;
        AldReceiving receiving; /* ALD_SERVER_UPLOAD */
        AldFlow sending;        /* ALD_SERVER_DOWNLOAD */
        AldServed *served;
        AldFailure *failure;
} AldServer;

/* Does what the client asks for. */
int ald_server_handle(AldServer *server, const AldMessage *message);

/* Tells the client of tokens for so many connections. */
int ald_server_give_tokens(AldServer *server, AldMessageType type, AldPurpose purpose, uint64_t count);

/* Ends the transfer under way, if there is one. */
void ald_server_end_transfer(AldServer *server);
