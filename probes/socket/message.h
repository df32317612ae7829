/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <net/if.h>

#include "probes/common/optional.h"
#include "probes/socket/limiter.h"
#include "probes/socket/token.h"

/*
 * What the two sides of a session say to each other, as JSON: one flat object a message. Pure.
 *
 *   server                          client
 *   welcome, or refusal
 *                                   open (rtt, scope)
 *   tokens, or refusal                                      … data connections, each with its token
 *                                   begin (upload)
 *   more*, verdict                  effort*                 the server judges
 *                                   begin (download)
 *   effort*                         stop                    the client judges
 *   sent
 *                                   open (spot-upload)
 *   tokens, spot                                            the server judges
 *                                   open (spot-download)
 *   tokens                                                  the client judges
 *                                   bye
 *   abort                           abort                   at any time
 *
 * The revision counts what was added to the version: from 1 on there are spot checks, and a verdict may say
 * why there is no rate; from 2 on the first message of the client says how much it will measure, and whether
 * somebody asked for it, so that the server may refuse that. Both sides say theirs; of a peer that does not,
 * nothing of this is expected: a client that does not say what it wants is one by hand that measures all, and
 * an older server skips it.
 */

#define ALD_PROTOCOL_VERSION 1u
#define ALD_PROTOCOL_REVISION 2u
#define ALD_MESSAGE_TEXT_SIZE 256u
#define ALD_MESSAGE_WORD_SIZE 17u
#define ALD_MESSAGE_TOKENS_MAX 8u

typedef enum AldMessageType {
        ALD_MESSAGE_WELCOME,
        ALD_MESSAGE_REFUSAL,
        ALD_MESSAGE_OPEN,
        ALD_MESSAGE_TOKENS,
        ALD_MESSAGE_BEGIN,
        ALD_MESSAGE_EFFORT,
        ALD_MESSAGE_MORE,
        ALD_MESSAGE_VERDICT,
        ALD_MESSAGE_STOP,
        ALD_MESSAGE_SENT,
        ALD_MESSAGE_BYE,
        ALD_MESSAGE_ABORT,
        ALD_MESSAGE_SPOT,
        _ALD_MESSAGE_MAX,
} AldMessageType;

const char *ald_message_type_to_string(AldMessageType type);

/* Only the members of its type count. */
typedef struct AldMessage {
        AldMessageType type;
        uint64_t version, port;      /* welcome: where data connections go */
        AldOptional revision;        /* welcome, begin */
        char interface[IF_NAMESIZE]; /* welcome: where the server receives, "" where it does not know */
        uint64_t streams;            /* welcome: at most; verdict: how many there were */
        uint64_t msec, bytes;        /* welcome, begin: at most; verdict, sent: what came, what went */
        uint64_t purpose;            /* AldPurpose */
        uint64_t count;              /* open */
        AldOptional scope;           /* the first open: AldProbeScope; round trips are all one */
        AldOptional automatic;       /* the same: 1 where nobody asked for it */
        AldOptional overdue;         /* the same: 1 where its figures are too old to wait for less traffic */
        AldOptional streams_max;     /* begin: of the client */
        uint64_t min_rtt;            /* begin: ns */
        uint64_t bits_per_second, mean, nsec, bins; /* verdict, spot; 0 bits/s: there is no rate */
        uint64_t interval;                          /* verdict: 0 where it is unknown */
        AldOptional spread;                         /* verdict: of the bins, in ppm of their mean */
        AldOptional other; /* verdict, sent: bits/s at the server's interface that were not the transfer's */
        uint64_t limiter;  /* verdict: AldLimiter */
        uint64_t retransmits;
        AldEffort effort;
        uint64_t reason;                        /* refusal, abort: AldFailureKind */
        char text[ALD_MESSAGE_TEXT_SIZE];       /* refusal, abort; verdict, spot: why there is no rate */
        char congestion[ALD_MESSAGE_WORD_SIZE]; /* sent: the algorithm, maybe "" */
        size_t n_tokens;
        char tokens[ALD_MESSAGE_TOKENS_MAX][ALD_TOKEN_SIZE + 1];
} AldMessage;

/* To be freed by g_free(). Text that is too long or not printable is made so. */
char *ald_message_write(const AldMessage *message);

/*
 * Keys that are not known are skipped, since a newer peer may send them. -EBADMSG for what is no JSON object,
 * has no known type, lacks a key or has a value of another type; -ERANGE for a value out of its range. *ret
 * is untouched then, and *ret_key (maybe NULL) names the key, NULL where it is no single one.
 */
int ald_message_read(const char *bytes, size_t n, AldMessage *ret, const char **ret_key);
