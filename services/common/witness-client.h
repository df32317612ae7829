/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"
#include "services/common/back-off.h"

/*
 * Asks alidade-witness, which reads what needs a capability in a process of its own; alidade-witness(8) lists
 * its units. A message is one packet of a SOCK_SEQPACKET socket: the JSON object of a kind of
 * record/messages/witness.xml. Nothing here blocks, since the witness may hang: the main loop waits for its
 * answer until a deadline. After a failure nothing is asked for a pause, which doubles each time.
 */
typedef struct AldWitnessClient AldWitnessClient;

#define ALD_WITNESS_DIRECTORY "/run/alidade/witness"

/* Maximum sizes of messages in bytes. An answer fits the smallest usual buffer of a socket. */
#define ALD_WITNESS_REQUEST_MAX (16u * 1024)
#define ALD_WITNESS_ANSWER_MAX (192u * 1024)

typedef struct AldWitnessTiming {
        unsigned answer_msec; /* from a request to its answer, including the start of the witness */
        AldBackOffDelays pause;
} AldWitnessTiming;

/* Handles an answer. NULL: the witness has failed, so its earlier answers no longer hold. It must not free
 * the client. */
typedef void (*AldWitnessAnswered)(const AldRecord *answer, void *userdata);

/* Creates a client without connecting. The name is that of the socket: "processes" or "counters"; `answer` is
 * the kind of its answers. The socket is in ALIDADE_WITNESS_DIRECTORY of the environment, else in
 * ALD_WITNESS_DIRECTORY. Without timing, the usual one holds. Name and timing must outlive the client. */
AldWitnessClient *ald_witness_client_new(const char *name, AldKind answer, const AldWitnessTiming *timing,
        AldWitnessAnswered answered, void *userdata);
void ald_witness_client_free(AldWitnessClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldWitnessClient, ald_witness_client_free)

/*
 * Sends a request, a struct of this kind, and connects before if need be. Returns -EBUSY while an answer is
 * awaited and -EAGAIN during the pause after a failure; other errors have been reported like any failure.
 */
int ald_witness_client_ask(AldWitnessClient *client, AldKind kind, const void *request);

/* Returns why the witness fails at present; NULL if it has not been asked or works. */
const char *ald_witness_client_reason(const AldWitnessClient *client);
