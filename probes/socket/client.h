/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "probes/common/progress.h"
#include "probes/socket/options.h"
#include "probes/socket/result.h"

/* Measures towards the address. Takes tls. */
int ald_client_run(const AldSocketOptions *options, const AldAddress *to, const AldOrigin *origin, AldTls *tls,
        int stop, AldProgress *progress, AldResult *ret, AldFailure *failure);
