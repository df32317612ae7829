/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/tls.h"
#include "probes/common/failure.h"
#include "probes/common/frame.h"

#define ALD_CHANNEL_PATIENCE (5 * ALD_NSEC_PER_SEC) /* of each step on the control connection */

typedef struct AldProtocol AldProtocol; /* see exchange.h */

/* The control connection: messages over TLS. Failures are reported in *failure, which the caller owns. */
typedef struct AldChannel {
        int fd; /* non-blocking */
        int stop;
        AldTls *tls;
        SSL *ssl;
        const AldProtocol *protocol;
        AldFailure *failure;
        AldFrameReader reader;
        unsigned heard;             /* messages */
        bool ready;                 /* the handshake is complete */
        char peer[ALD_PKI_ID_SIZE]; /* the node id in its certificate; "" with a shared key */
} AldChannel;

/* Takes ownership of tls and fd, even if it fails. */
int ald_channel_open(AldChannel *channel, const AldProtocol *protocol, int fd, AldTls *tls, bool server,
        int stop, AldFailure *failure);

/* Closes TLS properly, as far as that does not block. */
void ald_channel_close(AldChannel *channel);

/* Messages. Free received ones with g_free(). */
int ald_channel_send_text(AldChannel *channel, const char *text);

/* Returns 1 with the next message, 0 if there is none yet. */
int ald_channel_try_text(AldChannel *channel, char **ret);

/* Waits for the next one until the deadline. */
int ald_channel_receive_text(AldChannel *channel, uint64_t deadline, char **ret);
