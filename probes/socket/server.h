/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "probes/common/failure.h"
#include "probes/socket/options.h"

/* The result of a session, for the program that runs the probe. */
typedef struct AldServed {
        char peer[ALD_PKI_ID_SIZE]; /* "" with a shared key */
        bool authenticated;
        bool refused;
        bool measured; /* it was completed */
        char *address; /* of the other side */
        char *interface;
        uint64_t received, sent; /* bytes of data */
        uint64_t upload;         /* bits/s of the upload, as evaluated here; 0: none */
} AldServed;

void ald_served_clear(AldServed *served);

/*
 * Serves one connection. lock: a file that sessions lock to run one at a time; -1: none.
 * Takes fd and tls. `served` is filled in as far as the session comes, and must be cleared in any case.
 */
int ald_server_run(const AldSocketOptions *options, int fd, AldTls *tls, int stop, int lock,
        AldServed *served, AldFailure *failure);
