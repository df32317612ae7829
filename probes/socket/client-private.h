/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/socket/client.h"
#include "probes/socket/protocol.h"
#include "probes/socket/receiving.h"
#include "probes/socket/rtt.h"
#include "probes/socket/spot.h"
#include "probes/socket/traffic.h"

typedef struct AldClient {
        const AldSocketOptions *options;
        AldOrigin origin;
        AldAddress local, peer; /* of the control connection, and of where data connections go */
        AldChannel channel;
        AldProgress *progress;
        AldFailure *failure;
        AldResult *result;
        AldRecord *welcome_record;
        const AldSocketWelcome *welcome;
        bool zerocopy;
        int rtt_fd; /* -1: none */
        AldRtt rtt; /* the one under way */
        AldSpot spot;
        GArray *loaded; /* AldRttSample: all of those under load */
} AldClient;

/* Connects with a token from the other side; a blocking connection. */
int ald_client_connect(AldClient *client, const char *token, int *ret_fd);

/* Requests tokens and waits for SocketTokens with as many. */
int ald_client_ask_tokens(AldClient *client, AldSocketOpenPurpose purpose, unsigned count, AldRecord **ret);

/* Waits for an answer of this kind, and skips SocketEffort before it. */
int ald_client_expect_after_efforts(AldClient *client, AldKind kind, AldRecord **ret);

int ald_client_begin(AldClient *client, AldSocketBeginDirection direction);

/* The limits of a transfer: the lower of both sides'. */
uint64_t ald_client_nsec_max(const AldClient *client);
uint64_t ald_client_bytes_max(const AldClient *client);
unsigned ald_client_streams_max(const AldClient *client);

/* Waits for this time, a message or a signal. */
int ald_client_wait(AldClient *client, uint64_t nsec);

/* Measures round trips during a transfer; now: as ald_rtt_finish(). */
void ald_client_begin_loaded(AldClient *client);
void ald_client_end_loaded(AldClient *client, bool now);

/* The connections beside those that carry data. */
AldTrafficSockets ald_client_sockets(const AldClient *client);

/* Makes a spot check of both directions; a missing rate is not an error. */
int ald_client_check_spots(AldClient *client);

int ald_client_upload(AldClient *client);
int ald_client_download(AldClient *client);
