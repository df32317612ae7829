/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/tls.h"
#include "probes/common/failure.h"
#include "probes/common/frame.h"

#define ALD_CHANNEL_PATIENCE (5 * ALD_NSEC_PER_SEC) /* of each step on the control connection */

/* The control connection: messages over TLS. Whatever fails is told in *failure, which the caller lends. */
typedef struct AldChannel {
        int fd; /* non-blocking */
        int stop;
        AldTls *tls;
        SSL *ssl;
        AldFailure *failure;
        AldFrameReader reader;
        unsigned heard;             /* messages */
        bool ready;                 /* hands were shaken */
        char peer[ALD_PKI_ID_SIZE]; /* the node id in its certificate; "" with a shared key */
} AldChannel;

/* Takes tls and fd, also where it fails. */
int ald_channel_open(AldChannel *channel, int fd, AldTls *tls, bool server, int stop, AldFailure *failure);

/* Says good-bye, as far as that needs no waiting. */
void ald_channel_close(AldChannel *channel);

/* Messages. What was read is to be freed by g_free(). */
int ald_channel_send_text(AldChannel *channel, const char *text);

/* 1 with the next message, 0 where there is none yet. */
int ald_channel_try_text(AldChannel *channel, char **ret);

/* Waits for the next one until the deadline. */
int ald_channel_receive_text(AldChannel *channel, uint64_t deadline, char **ret);
