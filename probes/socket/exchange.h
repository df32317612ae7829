/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/channel.h"
#include "record/message.h"

/* Messages on the control connection: record/messages/socket-session.xml, which also shows their order. */

#define ALD_PROTOCOL_VERSION 2u

/* The kinds are those of the session, such as ALD_KIND_SOCKET_OPEN; fields is the struct of the kind. */
int ald_exchange_send(AldChannel *channel, AldKind kind, const void *fields);

/* Tells the other side why the session cannot go on. */
void ald_exchange_send_abort(AldChannel *channel, AldFailureKind reason, const char *text);

/* 1 with the next message, 0 if there is none yet. SocketAbort from the other side is a failure. */
int ald_exchange_try(AldChannel *channel, AldRecord **ret);

/* Waits for the next one until the deadline. */
int ald_exchange_receive(AldChannel *channel, uint64_t deadline, AldRecord **ret);

/* The same with the usual patience, for a message of this kind; any other is a failure. */
int ald_exchange_expect(AldChannel *channel, AldKind kind, AldRecord **ret);

/* Fails because of a message that has no place here. */
int ald_exchange_unexpected(AldChannel *channel, const AldRecord *message);

/* Reads a message of the session; errors are those of ald_message_parse_named(). */
int ald_exchange_parse(const char *text, size_t n, AldRecord **ret, char **ret_reason);
