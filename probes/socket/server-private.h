/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/socket/door.h"
#include "probes/socket/exchange.h"
#include "probes/socket/receiving.h"
#include "probes/socket/rtt.h"
#include "probes/socket/server.h"
#include "probes/socket/spot.h"
#include "probes/socket/traffic.h"

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
        unsigned begins, spots;
        uint64_t deadline;
        AldReceiving receiving; /* ALD_SERVER_UPLOAD */
        AldFlow sending;        /* ALD_SERVER_DOWNLOAD */
        AldTraffic traffic;     /* both */
        AldSpot spot;
        bool peer_takes_reasons; /* of the transfer under way */
        bool admitted;           /* it is known what is to be measured, which may be */
        AldProbeScope scope;     /* then: how much at the most */
        AldServed *served;
        AldFailure *failure;
} AldServer;

/* Whether the client may measure what its first message requests; if not, sends it the reason. */
int ald_server_admit(AldServer *server, const AldMessage *first);

/* Does what the client asks for. */
int ald_server_handle(AldServer *server, const AldMessage *message);

/* Tells the client of tokens for so many connections. */
int ald_server_give_tokens(AldServer *server, AldMessageType type, AldPurpose purpose, uint64_t count);

/* What others moved at this interface during the transfer under way. */
AldOptional ald_server_other_traffic(const AldServer *server);

/* Ends the spot check under way, if there is one, and counts what it moved. */
void ald_server_end_spot(AldServer *server);

/* Ends the transfer under way, if there is one. */
void ald_server_end_transfer(AldServer *server);
