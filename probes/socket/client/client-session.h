/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/socket/client/socket-client.h"
#include "probes/socket/transfer/protocol.h"
#include "probes/socket/transfer/rtt.h"
#include "probes/socket/transfer/spot-check.h"
#include "probes/socket/transfer/stream-receiver.h"
#include "probes/socket/transfer/traffic.h"

typedef struct AldSocketClient {
        const AldSocketOptions *options;
        AldOrigin origin;
        AldAddress local, peer; /* of the control connection; peer with the port of data connections */
        AldChannel channel;
        AldProgress *progress;
        AldFailure *failure;
        AldSocketMeasurement *result;
        AldRecord *welcome_record;
        const AldSocketWelcome *welcome;
        bool zerocopy;
        int rtt_fd; /* -1: none */
        AldRtt rtt; /* the measurement of round trips under way */
        AldSpotCheck spot;
        AldInterfaceTraffic quiet; /* traffic before this probe loads the interface */
        AldOptional before;        /* the rate of `quiet`, once it has ended */
        GArray *loaded;            /* of AldRttSample: all those under load */
        uint64_t loaded_since;
} AldSocketClient;

/* Opens a data connection, which is blocking, with a token from the other side. */
int ald_socket_client_connect(AldSocketClient *client, const char *token, int *ret_fd);

/* Requests tokens and waits for SocketTokens with this number of them. */
int ald_socket_client_request_tokens(
        AldSocketClient *client, AldSocketOpenPurpose purpose, unsigned count, AldRecord **ret);

/* Waits for an answer of this kind, and skips SocketEffort before it. */
int ald_socket_client_expect_after_efforts(AldSocketClient *client, AldKind kind, AldRecord **ret);

int ald_socket_client_begin(AldSocketClient *client, AldSocketBeginDirection direction);

/* These return the limits of a transfer, the lower ones of both sides. */
uint64_t ald_socket_client_nsec_max(const AldSocketClient *client);
uint64_t ald_socket_client_bytes_max(const AldSocketClient *client);
unsigned ald_socket_client_streams_max(const AldSocketClient *client);

/* Waits for this time, or until a message or a signal arrives. */
int ald_socket_client_wait(AldSocketClient *client, uint64_t nsec);

/* These measure round trips during a transfer; `now` is that of ald_rtt_finish(). */
void ald_socket_client_begin_loaded(AldSocketClient *client);
void ald_socket_client_end_loaded(AldSocketClient *client, bool now);

/* Returns the connections of the session, with those of the group, which may be NULL. */
AldTrafficSockets ald_socket_client_sockets(const AldSocketClient *client, AldStreamGroup *group);
