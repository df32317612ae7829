/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/socket/client.h"
#include "probes/socket/exchange.h"
#include "probes/socket/receiving.h"
#include "probes/socket/rtt.h"
#include "probes/socket/spot.h"
#include "probes/socket/traffic.h"

typedef struct AldClient {
        const AldProbeOptions *options;
        AldOrigin origin;
        AldAddress local, peer; /* of the control connection, and of where data connections go */
        AldChannel channel;
        AldProgress *progress;
        AldFailure *failure;
        AldResult *result;
        AldMessage welcome;
        bool zerocopy;
        int rtt_fd; /* -1: none */
        AldRtt rtt; /* the one under way */
        AldSpot spot;
        GArray *loaded; /* AldRttSample: all of those under load */
} AldClient;

/* Connects with a token; a blocking connection. */
int ald_client_connect(AldClient *client, const char *token, int *ret_fd);

/* Asks for tokens and waits for them; other messages of a transfer that is not over yet are skipped. */
int ald_client_ask_tokens(AldClient *client, AldPurpose purpose, unsigned count, AldMessage *ret);

int ald_client_begin(AldClient *client, AldPurpose purpose);

/* How long a transfer may take at most, on either side's word. */
uint64_t ald_client_nsec_max(const AldClient *client);
uint64_t ald_client_bytes_max(const AldClient *client);
unsigned ald_client_streams_max(const AldClient *client);

/* Waits so long, or for a message or a signal. */
int ald_client_wait(AldClient *client, uint64_t nsec);

/* Round trips while a transfer goes on; now: as ald_rtt_finish(). */
void ald_client_begin_loaded(AldClient *client);
void ald_client_end_loaded(AldClient *client, bool now);

/* Whether the peer supports this revision of the protocol. */
bool ald_client_peer_knows(const AldClient *client, uint64_t revision);

/* The connections beside those that carry data. */
AldTrafficSockets ald_client_sockets(const AldClient *client);

/* Makes a spot check of both directions; a missing rate is not an error. */
int ald_client_check_spots(AldClient *client);

int ald_client_upload(AldClient *client);
int ald_client_download(AldClient *client);
