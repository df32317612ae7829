/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "state/link/probe-bytes.h"

#define USEC_PER_HOUR (UINT64_C(3600) * 1000 * 1000)

/* The longest time for which a full measurement transfers in each direction. */
#define TRANSFER_SECONDS 1.5

/* A spot check lasts 10 ms each way, plus some time until it has begun. */
#define SPOT_SECONDS 0.012

static uint64_t sum_of_directions(uint64_t rate, uint64_t other)
{
        if (rate == ALD_ABSENT_UINT64)
                return other == ALD_ABSENT_UINT64 ? 0 : 2 * other;
        return other == ALD_ABSENT_UINT64 ? 2 * rate : rate + other;
}

static uint64_t bytes_at(uint64_t bits_per_second)
{
        return (uint64_t) ((double) bits_per_second / 8 * TRANSFER_SECONDS);
}

static bool has_another_speed(const AldLinkSocket *row)
{
        return g_strcmp0(row->changed, ald_link_socket_changed_to_string(ALD_LINK_SOCKET_CHANGED_SPEED)) == 0;
}

uint64_t ald_probe_bytes(const AldLinkSocket *row, uint64_t speed, uint64_t rate)
{
        uint64_t measured = 0;

        if (row)
                measured = sum_of_directions(row->upload.bits_per_second, row->download.bits_per_second);
        /* A port that has become slow cannot transfer as much as before. */
        if (measured > 0 && has_another_speed(row) && speed > 0)
                measured = MIN(measured, sum_of_directions(speed, speed));
        if (measured > 0)
                return bytes_at(measured);
        if (rate > 0)
                speed = MIN(speed, rate);
        return bytes_at(sum_of_directions(speed, speed));
}

uint64_t ald_rdma_probe_bytes(const AldLinkRdma *row, uint64_t rate)
{
        uint64_t measured = row ? sum_of_directions(
                                          row->upload.bits_per_second, row->download.bits_per_second)
                                : 0;

        return bytes_at(measured > 0 ? measured : sum_of_directions(rate, rate));
}

uint64_t ald_change_bytes_at(const AldLinkSocket *row, uint64_t realtime)
{
        uint64_t age;

        if (row->change_bytes == ALD_ABSENT_UINT64 || row->attempted_usec == ALD_ABSENT_UINT64)
                return 0;
        /* The bytes must not grow if the clock was set back. */
        age = realtime > row->attempted_usec ? realtime - row->attempted_usec : 0;
        return (uint64_t) ((double) row->change_bytes * exp(-(double) age / (double) USEC_PER_HOUR));
}

uint64_t ald_spot_bytes(uint64_t probe_bytes)
{
        return (uint64_t) ((double) probe_bytes / TRANSFER_SECONDS * SPOT_SECONDS);
}
