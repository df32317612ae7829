/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/memory/buffer-size.h"
#include "probes/compute/memory/pattern.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#define CACHES_MIN 8u     /* times the size of the caches */
#define CACHES_ENOUGH 16u /* at most a sixteenth may then come from them */
#define CACHES_MAX 32u    /* a cache that keeps part of its contents has an effect up to here */
#define FREE_PART 4u      /* all buffers take at most one part in this many of the free memory, */
#define MEMORY_PART 8u    /* or, if that is unknown, of all memory */
#define LARGEST (8 * GIB) /* words are counted in 32 bits */

/* Returns the largest size of 2^n patterns that is not larger; 0 if there is none. */
static uint64_t round_down(uint64_t bytes)
{
        uint64_t size = ALD_PATTERN_BYTES;

        if (bytes < size)
                return 0;
        while (size <= bytes / 2)
                size *= 2;
        return size;
}

static uint64_t round_up(uint64_t bytes)
{
        uint64_t size = round_down(bytes);

        return size == 0 ? ALD_PATTERN_BYTES : size < bytes ? size * 2 : size;
}

/* Returns the factor by which buffers may grow. The fastest memory needs the largest buffers, lest one pass
 * through them be too short. */
static uint64_t growth_factor(const AldOpenclTarget *device)
{
        return device->type == ALD_LISTED_DEVICE_TYPE_CPU ? 4 : 16;
}

/* Returns the least size to start with. It exceeds all caches on the market, since some drivers report only
 * one of several caches, as those of NVIDIA report that of the compute units. */
static uint64_t least_start(const AldOpenclTarget *device)
{
        return device->type == ALD_LISTED_DEVICE_TYPE_CPU ? 256 * MIB : 512 * MIB;
}

uint64_t ald_buffers_most(const AldOpenclTarget *device, uint64_t available)
{
        if (available == 0)
                return device->listed.memory_total_bytes / MEMORY_PART;
        return MAX(MIN(available, device->listed.memory_total_bytes > 0 ? device->listed.memory_total_bytes
                                                                        : available) /
                           FREE_PART,
                1);
}

AldBufferSizes ald_buffer_sizes(const AldOpenclTarget *device, uint64_t available, bool copies)
{
        uint64_t start = MIN(round_up(MAX(device->cache_bytes * CACHES_MIN, least_start(device))), LARGEST);
        uint64_t most = MIN(
                MAX(round_up(device->cache_bytes * CACHES_MAX), growth_factor(device) * start), LARGEST);
        uint64_t enough = MIN(MAX(round_up(device->cache_bytes * CACHES_ENOUGH), start), LARGEST);
        uint64_t memory = ald_buffers_most(device, available) ?: most;

        memory /= copies ? 2 : 1;
        if (device->allocation_max > 0)
                memory = MIN(memory, device->allocation_max);
        memory = round_down(memory);
        return (AldBufferSizes){
                .start = MIN(start, memory),
                .limit = MIN(most, memory),
                .wants = memory < enough,
        };
}

/* A driver may keep a counterpart of the host's buffer on the device, so only half of the memory counts. */
uint64_t ald_transfer_size(const AldOpenclTarget *device, uint64_t available, uint64_t host_available)
{
        uint64_t most = ald_buffers_most(device, available), size = ALD_TRANSFER_BYTES;

        if (most > 0)
                size = MIN(size, most / 2);
        if (host_available > 0)
                size = MIN(size, host_available / FREE_PART);
        if (device->allocation_max > 0)
                size = MIN(size, device->allocation_max);
        return round_down(size);
}
