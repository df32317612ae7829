/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probes/compute/clock/clocks-private.h"

struct AldClocks {
        const AldClockSource *source; /* NULL if there is none */
        void *data;
        bool instance; /* a MIG instance of the card that the source describes */
};

void ald_throttle_to_string(unsigned reasons, char *ret, size_t size)
{
        g_autofree char *text = g_strjoinv(" ", (char **) ald_throttle_words(reasons));

        g_strlcpy(ret, text, size);
}

AldClocks *ald_clocks_open(const char *root, const AldOpenclTarget *device)
{
        AldClocks *clocks = g_new0(AldClocks, 1);

        clocks->instance = ald_opencl_target_is_instance(device);
        if (device->type == ALD_LISTED_DEVICE_TYPE_CPU) {
                clocks->source = &ald_clocks_cpu;
                clocks->data = ald_clocks_cpu_open(root);
                return clocks;
        }
        if (device->vendor == ALD_VENDOR_NVIDIA) {
                clocks->source = &ald_clocks_nvml;
                clocks->data = ald_clocks_nvml_open(device);
        }
        if (!clocks->data) {
                clocks->source = &ald_clocks_sysfs;
                clocks->data = ald_clocks_sysfs_open(root, device);
        }
        return clocks;
}

void ald_clocks_close(AldClocks *clocks)
{
        if (clocks && clocks->data)
                clocks->source->close(clocks->data);
        g_free(clocks);
}

void ald_clocks_read(AldClocks *clocks, AldClockReading *ret)
{
        *ret = (AldClockReading){};
        if (clocks->data)
                clocks->source->read(clocks->data, ret);
}

/* Returns whether the figures describe the device. Those of the whole card do not describe an instance. */
static bool knows_figures(const AldClocks *clocks)
{
        return clocks->data && !clocks->instance;
}

int ald_clocks_usage(AldClocks *clocks)
{
        return knows_figures(clocks) && clocks->source->usage ? clocks->source->usage(clocks->data) : -1;
}

int ald_clocks_processes(AldClocks *clocks)
{
        return knows_figures(clocks) && clocks->source->processes ? clocks->source->processes(clocks->data)
                                                                  : -1;
}

uint64_t ald_clocks_memory_free(AldClocks *clocks)
{
        return knows_figures(clocks) && clocks->source->memory_free
                       ? clocks->source->memory_free(clocks->data)
                       : 0;
}

double ald_clocks_memory_peak(AldClocks *clocks)
{
        return knows_figures(clocks) && clocks->source->memory_peak
                       ? clocks->source->memory_peak(clocks->data)
                       : 0;
}

uint64_t ald_clocks_power_limit(AldClocks *clocks)
{
        return knows_figures(clocks) && clocks->source->power_limit
                       ? clocks->source->power_limit(clocks->data)
                       : 0;
}
