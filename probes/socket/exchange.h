/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "probes/common/channel.h"
#include "probes/socket/message.h"

/* Messages on the control connection. */

int ald_exchange_send(AldChannel *channel, const AldMessage *message);

/* 1 with the next message, 0 where there is none yet. An abort or a refusal by the other side is a failure.
 */
int ald_exchange_try(AldChannel *channel, AldMessage *ret);

/* Waits for the next one until the deadline. */
int ald_exchange_receive(AldChannel *channel, uint64_t deadline, AldMessage *ret);

/* The same with the usual patience; another type than this is a failure. */
int ald_exchange_expect(AldChannel *channel, AldMessageType type, AldMessage *ret);

/* What came has no place here. */
int ald_exchange_unexpected(AldChannel *channel, const AldMessage *message);
