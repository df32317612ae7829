/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "record/record.h"

/* Estimates of the bytes that probes of a path send and receive, both directions together. */

/* Estimates a full measurement from the last result in the row, which may be NULL, else from the speed of the
 * slower end (absent: unknown) and the greatest rate that was measured over its interface (0: unknown), both
 * in bits per second. */
uint64_t ald_probe_bytes(const AldLinkSocket *row, uint64_t speed, uint64_t rate);

/* Estimates a full measurement over RDMA from the last result, else from the rate of the slower port, absent
 * if it is unknown. */
uint64_t ald_rdma_probe_bytes(const AldLinkRdma *row, uint64_t rate);

/* Returns ChangeBytes of a row at this time, CLOCK_REALTIME in µs. */
uint64_t ald_change_bytes_at(const AldLinkSocket *row, uint64_t realtime);

/* Estimates a spot check of a path whose full measurement takes `probe_bytes`. */
uint64_t ald_spot_bytes(uint64_t probe_bytes);
