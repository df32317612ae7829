/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/socket/door.h"
#include "probes/socket/protocol.h"
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
        const AldSocketOptions *options;
        AldChannel channel;
        AldDoor door;
        AldEcho echo;
        AldServerState state;
        unsigned begins, spots;
        uint64_t deadline;
        AldReceiving receiving;      /* ALD_SERVER_UPLOAD */
        AldFlow sending;             /* ALD_SERVER_DOWNLOAD */
        AldInterfaceTraffic traffic; /* both */
        AldSpot spot;
        bool admitted;       /* the first message has said what is to be measured */
        AldSocketScope scope; /* then: how much at most */
        AldServed *served;
        AldFailure *failure;
} AldServer;

/* Refuses to measure: sends the reason, and returns the failure. */
int ald_server_refuse(AldServer *server, AldFailureKind kind, const char *why);

/* Does what the client requests, if it may. */
int ald_server_handle(AldServer *server, const AldRecord *message);

#define ALD_SERVER_TOKENS_MAX 8u /* in one message */

typedef struct AldServerTokens {
        char texts[ALD_SERVER_TOKENS_MAX][ALD_TOKEN_SIZE + 1];
        const char *list[ALD_SERVER_TOKENS_MAX + 1];
} AldServerTokens;

static inline bool ald_server_is_spot(AldSocketOpenPurpose purpose)
{
        return purpose == ALD_SOCKET_OPEN_PURPOSE_SPOT_UPLOAD ||
               purpose == ALD_SOCKET_OPEN_PURPOSE_SPOT_DOWNLOAD;
}

/* Issues tokens for at most ALD_SERVER_TOKENS_MAX connections. */
int ald_server_issue_tokens(
        AldServer *server, AldSocketOpenPurpose purpose, uint64_t count, AldServerTokens *ret);

/* Other traffic at this interface during the transfer under way. */
AldOptional ald_server_other_traffic(const AldServer *server);

/* Ends the spot check under way, if there is one, and counts what it moved. */
void ald_server_end_spot(AldServer *server);

/* Ends the transfer under way, if there is one. */
void ald_server_end_transfer(AldServer *server);
