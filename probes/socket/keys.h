/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "pki/tls.h"
#include "probes/common/failure.h"
#include "probes/socket/options.h"

/* What we show the other side and judge it by, of the files in the options. */
int ald_keys_load(const AldProbeOptions *options, bool server, AldTls **ret, AldFailure *failure);
