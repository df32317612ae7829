/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <sched.h>

#include "probes/common/small-files.h"
#include "probes/compute/clock/clocks-private.h"

#define CLOCK_HZ_MAX UINT64_C(100000000000)
#define READ_MAX 16u /* processors, evenly spread, since reading one takes up to 20 µs */

typedef struct Cpu {
        char *root;
        unsigned processors[READ_MAX];
        unsigned n;
        uint64_t throttles; /* number of events so far */
} Cpu;

static bool read_processor_file(const Cpu *cpu, unsigned i, const char *file, uint64_t *ret)
{
        g_autofree char *path = g_strdup_printf("sys/devices/system/cpu/cpu%u/%s", cpu->processors[i], file);

        return ald_file_number(cpu->root, path, ret);
}

static uint64_t count_throttles(const Cpu *cpu)
{
        uint64_t sum = 0, count;

        for (unsigned i = 0; i < cpu->n; i++) {
                if (read_processor_file(cpu, i, "thermal_throttle/core_throttle_count", &count))
                        sum += count;
                if (read_processor_file(cpu, i, "thermal_throttle/package_throttle_count", &count))
                        sum += count;
        }
        return sum;
}

/* Opens the processors that we may run on. */
void *ald_clocks_cpu_open(const char *root)
{
        Cpu *cpu = g_new0(Cpu, 1);
        unsigned all, seen = 0;
        cpu_set_t set;

        cpu->root = g_strdup(root);
        CPU_ZERO(&set);
        (void) sched_getaffinity(0, sizeof set, &set);
        all = (unsigned) CPU_COUNT(&set);
        for (unsigned i = 0; i < CPU_SETSIZE && cpu->n < READ_MAX; i++)
                if (CPU_ISSET(i, &set) && seen++ * MIN(all, READ_MAX) / all >= cpu->n)
                        cpu->processors[cpu->n++] = i;
        cpu->throttles = count_throttles(cpu);
        return cpu;
}

static void read_cpu(void *data, AldClockReading *ret)
{
        Cpu *cpu = data;
        uint64_t sum = 0, n = 0, khz, throttles = count_throttles(cpu);

        for (unsigned i = 0; i < cpu->n; i++)
                if (read_processor_file(cpu, i, "cpufreq/scaling_cur_freq", &khz) &&
                        khz <= CLOCK_HZ_MAX / 1000) {
                        sum += khz * 1000;
                        n++;
                }
        ret->hz = n > 0 ? sum / n : 0;
        if (throttles > cpu->throttles)
                ret->reasons |= ALD_THROTTLE_THERMAL;
        cpu->throttles = throttles;
}

static void close_cpu(void *data)
{
        Cpu *cpu = data;

        g_free(cpu->root);
        g_free(cpu);
}

/* There is no usage here, since contention.h measures how much of the processors others use. */
const AldClockSource ald_clocks_cpu = { .close = close_cpu, .read = read_cpu };
