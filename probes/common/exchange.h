/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/channel.h"
#include "record/message.h"

/* Messages on the control connection. Each is a frame: the name of its kind and its fields. */

/* What one version of a program understands, ProbeAbort included. The first message of each side has a field
 * Version; that message keeps its name and its required fields in all versions. */
struct AldProtocol {
        unsigned version;
        const AldKind *kinds;
        size_t n_kinds;
};

/* Sends a message of the protocol; fields is the struct of the kind. */
int ald_exchange_send(AldChannel *channel, AldKind kind, const void *fields);

/* Tells the other side why the session cannot go on. */
void ald_exchange_send_abort(AldChannel *channel, AldFailureKind reason, const char *text);

/* 1 with the next message, 0 if there is none yet. ProbeAbort from the other side is a failure. */
int ald_exchange_try(AldChannel *channel, AldRecord **ret);

/* Waits for the next one until the deadline. */
int ald_exchange_receive(AldChannel *channel, uint64_t deadline, AldRecord **ret);

/* The same for a message of this kind; any other is a failure. ret may be NULL. */
int ald_exchange_expect(AldChannel *channel, uint64_t deadline, AldKind kind, AldRecord **ret);

/* Fails because of a message that has no place here. */
int ald_exchange_unexpected(AldChannel *channel, const AldRecord *message);

/* Fails if the other side speaks another version of the protocol. */
int ald_exchange_check_version(AldChannel *channel, uint64_t version);

/* Reads a message; errors are those of ald_message_parse_named(). */
int ald_exchange_parse(
        const AldProtocol *protocol, const char *text, size_t n, AldRecord **ret, char **ret_reason);
