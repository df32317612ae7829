/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include "services/telemetry/gpu-cpu.h"
#include "services/telemetry/opencl-answer.h"
#include "services/telemetry/opencl-match.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is told, each row has an Id of its own, and telling it again changes nothing. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(GPtrArray) gpus = ald_gpu_list_new(), devices = NULL;
        AldGpu *radeon = ald_gpu_new("0000:03:00.0", "x", ALD_BACKEND_CLASS_GPU);
        guint n;

        radeon->pci_vendor = 0x1002;
        radeon->vendor = g_strdup("AMD");
        g_ptr_array_add(gpus, radeon);
        g_ptr_array_add(gpus, ald_gpu_new(ALD_CPU_ID, NULL, ALD_BACKEND_CLASS_CPU));

        if (ald_opencl_answer_parse((const char *) data, size, &devices) < 0)
                return 0;
        ald_opencl_match(devices, gpus);
        n = gpus->len;
        for (guint i = 0; i < n; i++)
                g_assert_true(ald_gpu_list_find(gpus, ((AldGpu *) gpus->pdata[i])->id) == gpus->pdata[i]);
        ald_opencl_match(devices, gpus);
        g_assert_cmpuint(gpus->len, ==, n);
        return 0;
}
