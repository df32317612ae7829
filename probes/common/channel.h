/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "pki/tls.h"
#include "probes/common/failure.h"
#include "probes/common/frame.h"
#include "record/message.h"

#define ALD_CHANNEL_TIMEOUT (5 * ALD_NSEC_PER_SEC) /* of each step on the control connection */

/* The messages that one version of a program understands, including ProbeAbort. The first message of each
 * side has a field Version; that message keeps its name and its required fields in all versions. */
typedef struct AldProtocol {
        unsigned version;
        const AldKind *kinds;
        size_t n_kinds;
} AldProtocol;

/* The control connection: messages over TLS, each a frame with the name of its kind and its fields. Failures
 * are reported in *failure, which the caller owns. */
typedef struct AldChannel {
        int fd; /* non-blocking */
        int stop;
        AldTls *tls;
        SSL *ssl;
        const AldProtocol *protocol;
        AldFailure *failure;
        AldFrameReader reader;
        unsigned n_received;        /* messages */
        bool ready;                 /* the handshake is complete */
        char peer[ALD_PKI_ID_SIZE]; /* the node id in its certificate; "" with a shared key */
} AldChannel;

/* Takes ownership of tls and fd, even if it fails. */
int ald_channel_open(AldChannel *channel, const AldProtocol *protocol, int fd, AldTls *tls, bool server,
        int stop, AldFailure *failure);

/* Closes TLS properly, as far as that does not block. */
void ald_channel_close(AldChannel *channel);

/* Sends a message of the protocol; fields is the struct of the kind. */
int ald_channel_send(AldChannel *channel, AldKind kind, const void *fields);

/* Reports to the other side why the session cannot go on. */
void ald_channel_send_abort(AldChannel *channel, AldFailureKind reason, const char *text);

/* Returns 1 with the next message, 0 if there is none yet. ProbeAbort from the other side is a failure. */
int ald_channel_try(AldChannel *channel, AldRecord **ret);

/* Waits for the next message until the deadline. Returns 1, or a negative errno. */
int ald_channel_receive(AldChannel *channel, uint64_t deadline, AldRecord **ret);

/* Waits for a message of this kind; any other is a failure. Returns 0, or a negative errno. ret may be
 * NULL. */
int ald_channel_expect(AldChannel *channel, uint64_t deadline, AldKind kind, AldRecord **ret);

/* Fails because of a message that arrived out of turn. */
int ald_channel_unexpected(AldChannel *channel, const AldRecord *message);

/* Fails if the other side speaks another version of the protocol. */
int ald_channel_check_version(AldChannel *channel, uint64_t version);

/* Parses a message; errors are those of ald_message_parse_named(). */
int ald_protocol_parse(
        const AldProtocol *protocol, const char *text, size_t n, AldRecord **ret, char **ret_reason);

/* Sends a frame as it is, which the other side may refuse. */
int ald_channel_send_text(AldChannel *channel, const char *text);
