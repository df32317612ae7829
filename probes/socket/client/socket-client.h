/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "probes/common/probe-progress.h"
#include "probes/socket/transfer/socket-options.h"
#include "probes/socket/transfer/socket-result.h"

/* Measures the path to the address, and takes ownership of tls. The result is filled in as far as the
 * measurement gets. */
int ald_socket_client_run(const AldSocketOptions *options, const AldAddress *to, const AldOrigin *origin,
        AldTls *tls, int stop, AldProgress *progress, AldSocketMeasurement *result, AldFailure *failure);
