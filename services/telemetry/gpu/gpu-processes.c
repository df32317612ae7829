/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/telemetry/gpu/gpu-processes.h"

#include <string.h>

#include "record/record.h"
#include "services/telemetry/gpu/gpu-live.h"

static const AldGpu *card_of(const GPtrArray *gpus, const AldGpu *gpu)
{
        return gpu->parent ? ald_gpu_list_find(gpus, gpu->parent) : gpu;
}

/* Returns the device of the list that a row is about: a card, or an instance of it; NULL if it is
 * none. */
static AldGpu *find_gpu(const GPtrArray *gpus, const AldNvmlProcess *row)
{
        AldGpu *gpu = ald_gpu_list_find(gpus, row->device);
        const AldGpu *card = gpu ? card_of(gpus, gpu) : NULL;

        return card && card->has_nvml ? gpu : NULL;
}

/* Returns whether the driver knows the processes of a device. For a Tegra, NVML succeeds with 0 for
 * everything that it does not know. */
static bool are_known(const AldGpu *gpu, const AldNvmlDevice *row)
{
        bool is_tegra = !gpu->parent && gpu->pci_vendor == 0;

        return row && !row->error && row->compute_processes != ALD_ABSENT_UINT64 &&
               !(is_tegra && row->compute_processes == 0);
}

/* Makes the lists of all devices in the answer empty, or unknown. */
static void reset_lists(GPtrArray *gpus, const AldNvmlAnswer *answer)
{
        for (guint i = 0; i < gpus->len; i++) {
                AldGpu *gpu = gpus->pdata[i];
                const AldNvmlDevice *row = answer ? ald_rows_find(&answer->devices, gpu->id) : NULL;

                if (answer && !row)
                        continue;
                g_clear_pointer(&gpu->processes, g_array_unref);
                if (are_known(gpu, row))
                        gpu->processes = g_array_new(FALSE, FALSE, sizeof(AldGpuProcess));
        }
}

void ald_gpu_processes_apply(GPtrArray *gpus, const AldNvmlAnswer *answer)
{
        if (answer && answer->unlisted_processes == ALD_ABSENT_UINT64)
                return;
        reset_lists(gpus, answer);
        for (size_t i = 0; answer && i < answer->processes.n; i++) {
                const AldNvmlProcess *row = ald_rows_at(&answer->processes, i);
                AldGpu *gpu = find_gpu(gpus, row);

                if (gpu && gpu->processes)
                        g_array_append_val(
                                gpu->processes, ((AldGpuProcess){ gpu->id, (guint) row->pid,
                                                        row->computes == 1, row->memory_bytes, row->usage }));
        }
}

/* Returns whether a driver wakes its device to report what a process used of it. */
static bool wakes_for_clients(const char *driver)
{
        return g_strcmp0(driver, "xe") == 0;
}

static void add_target(const GPtrArray *gpus, const AldGpuKfd *kfd, const AldGpu *gpu, GArray *ret)
{
        const AldGpu *card = card_of(gpus, gpu);
        AldGpuTarget target = { .id = gpu->id,
                .parent = gpu->parent,
                .driver = gpu->driver,
                .functions = gpu->functions,
                .memory_bytes = gpu->nvml.memory_total_bytes != ALD_ABSENT_UINT64
                                        ? gpu->nvml.memory_total_bytes
                                        : gpu->sysfs.memory_total_bytes,
                .n_compute = gpu->live->nvml.compute_processes };
        bool is_asleep = card && card->live && card->live->state == ALD_GPU_POWER_ASLEEP;

        target.must_rest = wakes_for_clients(gpu->driver) && card && card->live &&
                           !ald_gpu_power_may_read(card->live->state);
        target.is_paused = target.must_rest && card->live->state == ALD_GPU_POWER_PAUSED;
        target.is_listed_fully = gpu->processes && !is_asleep;
        target.is_listed = target.is_listed_fully || ald_gpu_kfd_drives(kfd, gpu->id);
        g_array_append_val(ret, target);
}

void ald_gpu_processes_list(
        const GPtrArray *gpus, const AldGpuKfd *kfd, GArray *ret_targets, GArray *ret_processes)
{
        const GArray *queues = ald_gpu_kfd_holders(kfd);

        for (guint i = 0; i < gpus->len; i++) {
                const AldGpu *gpu = gpus->pdata[i];

                if (!gpu->live || !ald_gpu_is_shown(gpu))
                        continue;
                add_target(gpus, kfd, gpu, ret_targets);
                if (g_array_index(ret_targets, AldGpuTarget, ret_targets->len - 1).is_listed_fully)
                        g_array_append_vals(ret_processes, gpu->processes->data, gpu->processes->len);
        }
        for (guint i = 0; i < queues->len; i++) {
                const AldGpuKfdHolder *holder = &g_array_index(queues, AldGpuKfdHolder, i);
                const AldGpu *gpu = ald_gpu_list_find(gpus, holder->card);

                if (gpu)
                        g_array_append_val(
                                ret_processes, ((AldGpuProcess){ gpu->id, holder->process, holder->has_queues,
                                                       holder->memory_bytes, ALD_ABSENT_DOUBLE }));
        }
}
