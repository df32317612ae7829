/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "services/link-probe/probe/probe-kind.h"

extern const AldProbeKind ald_probe_socket, ald_probe_rdma, ald_probe_compute, ald_probe_storage;

/* All kinds, NULL-terminated. */
extern const AldProbeKind *const ald_probe_kinds[];

#define ALD_PROBE_KINDS_MAX 8u

/* Sets which records of a node any of the kinds needs. */
void ald_probe_kinds_need(bool ret[static ALD_N_KINDS]);

/* Returns NULL if no probe measures a record of this name. */
const AldProbeKind *ald_probe_kind_of_name(const char *name);
