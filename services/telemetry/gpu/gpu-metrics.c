/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <glib.h>

#include "record/field.h"
#include "record/throttle.h"
#include "services/telemetry/gpu/gpu-metrics.h"

#define HEADER_LENGTH 4u /* its length in two bytes, and its version */

/* The energy counts in units of 2^-16 J. */
#define MICROJOULES_PER_UNIT (1e6 / 65536)
#define HERTZ_PER_MHZ UINT64_C(1000000)

/* The firmware of some cards almost always claims that the hottest spot holds the clocks down. It does so
 * near its limit, which is above 100 °C. */
#define HOTSPOT_BIT (UINT64_C(1) << 36)
#define HOTSPOT_MIN 90u

/* The places of values in a version of the table, from its start; 0 if it lacks the value, or its unit is not
 * documented. */
typedef struct Layout {
        uint8_t format, content; /* the version */
        uint16_t energy;         /* uint64_t */
        uint16_t memory_clock;   /* uint16_t, in MHz */
        uint16_t video;          /* uint16_t each, in percent */
        uint16_t n_video;
        uint16_t hotspot;     /* uint16_t, in °C */
        uint16_t hbm;         /* uint16_t, in °C */
        uint16_t reasons;     /* uint64_t */
        uint16_t residencies; /* uint32_t each, in the order of `reasons_of_residencies` */
} Layout;

static const Layout layouts[] = {
        { 1, 1, .memory_clock = 58, .video = 20, .n_video = 1, .hbm = 88 },
        { 1, 2, .memory_clock = 58, .video = 20, .n_video = 1, .hbm = 88 },
        { 1, 3, .memory_clock = 58, .video = 20, .n_video = 1, .hotspot = 6, .hbm = 88, .reasons = 112 },
        { 1, 4, .energy = 24, .video = 16, .n_video = 4 },
        { 1, 5, .energy = 88, .video = 16, .n_video = 4 },
        { 1, 6, .energy = 88, .video = 16, .n_video = 4, .residencies = 108 },
        { 1, 7, .energy = 24, .residencies = 44 },
        { 1, 8, .energy = 24, .residencies = 44 },
        { 2, 1, .memory_clock = 80 },
        { 2, 2, .memory_clock = 80, .reasons = 120 },
        { 2, 3, .memory_clock = 80, .reasons = 120 },
        { 2, 4, .memory_clock = 80, .reasons = 120 },
        { 3, 0, .memory_clock = 186 },
};

static const AldThrottle reasons_of_residencies[ALD_GPU_RESIDENCIES] = {
        ALD_THROTTLE_HARDWARE,                    /* PROCHOT */
        ALD_THROTTLE_POWER, ALD_THROTTLE_THERMAL, /* the socket */
        ALD_THROTTLE_THERMAL,                     /* its regulators */
        ALD_THROTTLE_THERMAL,                     /* its memory */
};

/* Copies a value, which is in the byte order of the host. Returns false if the table ends before, or if the
 * value is all ones, which the driver writes for what it does not have. */
static bool read_value(const uint8_t *data, size_t length, size_t offset, void *ret, size_t size)
{
        static const uint8_t ones[sizeof(uint64_t)] = { 255, 255, 255, 255, 255, 255, 255, 255 };

        if (offset == 0 || offset + size > length)
                return false;
        memcpy(ret, data + offset, size);
        return memcmp(ret, ones, size) != 0;
}

#define READ(offset, ret) read_value(data, length, (offset), (ret), sizeof *(ret))

/* Returns the usage of the busiest engine. Cards with this kind of memory report 0 for engines that they do
 * not measure. */
static double read_video(const uint8_t *data, size_t length, const Layout *layout)
{
        double busiest = ALD_ABSENT_DOUBLE;
        uint16_t value;

        if (READ(layout->hbm, &value) && value != 0)
                return ALD_ABSENT_DOUBLE;
        for (size_t i = 0; i < layout->n_video; i++)
                if (READ(layout->video + i * sizeof value, &value) && value <= 100)
                        busiest = isnan(busiest) ? value : MAX(busiest, value);
        return busiest;
}

static void read_reasons(const uint8_t *data, size_t length, const Layout *layout, AldGpuMetrics *ret)
{
        uint16_t hotspot = 0;
        uint64_t bits;

        if (!READ(layout->reasons, &bits))
                return;
        if (layout->hotspot != 0 && (!READ(layout->hotspot, &hotspot) || hotspot < HOTSPOT_MIN))
                bits &= ~HOTSPOT_BIT;
        ret->reasons = ald_throttle_from_amdgpu(bits);
        ret->throttled = ret->reasons != 0;
}

static const Layout *find_layout(const uint8_t *data)
{
        for (size_t i = 0; i < G_N_ELEMENTS(layouts); i++)
                if (layouts[i].format == data[2] && layouts[i].content == data[3])
                        return &layouts[i];
        return NULL;
}

/* Returns the length that the version has at least. */
static size_t least_length(const Layout *layout)
{
        size_t ret = 0;

        ret = MAX(ret, layout->energy + sizeof(uint64_t));
        ret = MAX(ret, layout->memory_clock + sizeof(uint16_t));
        ret = MAX(ret, layout->reasons + sizeof(uint64_t));
        return MAX(ret, layout->residencies + ALD_GPU_RESIDENCIES * sizeof(uint32_t));
}

int ald_gpu_metrics_parse(const void *table, size_t length, AldGpuMetrics *ret)
{
        const uint8_t *data = table;
        const Layout *layout;
        uint16_t size, mhz;
        uint64_t energy;

        *ret = (AldGpuMetrics){
                .energy_micro_joules = ALD_ABSENT_UINT64,
                .memory_clock_hz = ALD_ABSENT_UINT64,
                .video_usage = ALD_ABSENT_DOUBLE,
                .throttled = ALD_ABSENT_BOOLEAN,
        };
        if (length < HEADER_LENGTH)
                return -EBADMSG;
        layout = find_layout(data);
        if (!layout)
                return -EOPNOTSUPP;
        memcpy(&size, data, sizeof size);
        length = MIN(length, size);
        if (length < least_length(layout))
                return -EBADMSG;
        if (READ(layout->energy, &energy) && energy <= ALD_INTEGER_MAX / 16)
                ret->energy_micro_joules = (uint64_t) ((double) energy * MICROJOULES_PER_UNIT);
        if (READ(layout->memory_clock, &mhz))
                ret->memory_clock_hz = mhz * HERTZ_PER_MHZ;
        ret->video_usage = read_video(data, length, layout);
        read_reasons(data, length, layout, ret);
        if (layout->residencies != 0) {
                memcpy(ret->residencies, data + layout->residencies, sizeof ret->residencies);
                ret->n_residencies = ALD_GPU_RESIDENCIES;
        }
        return 0;
}

unsigned ald_gpu_metrics_reasons_between(const AldGpuMetrics *before, const AldGpuMetrics *after)
{
        unsigned ret = 0;

        for (unsigned i = 0; i < MIN(before->n_residencies, after->n_residencies); i++)
                if (after->residencies[i] > before->residencies[i])
                        ret |= reasons_of_residencies[i];
        return ret;
}
