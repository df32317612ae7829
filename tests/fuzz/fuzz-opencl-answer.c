/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include "record/message.h"
#include "services/telemetry/gpu/gpu-cpu.h"
#include "services/telemetry/gpu/opencl-match.h"
#include "services/telemetry/helper/helper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is answered, each row has an Id of its own, and the same answer again changes nothing. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(GPtrArray) gpus = ald_gpu_list_new();
        g_autoptr(AldRecord) record = NULL;
        AldGpu *radeon = ald_gpu_new("0000:03:00.0", "x", ALD_BACKEND_CLASS_GPU);
        const AldOpenclAnswer *answer;
        guint n;

        radeon->pci_vendor = 0x1002;
        radeon->vendor = g_strdup("AMD");
        g_ptr_array_add(gpus, radeon);
        g_ptr_array_add(gpus, ald_gpu_new(ALD_CPU_ID, NULL, ALD_BACKEND_CLASS_CPU));

        if (ald_message_parse(ALD_KIND_OPENCL_ANSWER, (const char *) data, size, ALD_CHILD_MESSAGE_MAX,
                    &record, NULL) < 0)
                return 0;
        answer = ald_record_as(record, OPENCL_ANSWER, AldOpenclAnswer);
        ald_opencl_match(answer, gpus);
        n = gpus->len;
        for (guint i = 0; i < n; i++)
                g_assert_true(ald_gpu_list_find(gpus, ((AldGpu *) gpus->pdata[i])->id) == gpus->pdata[i]);
        ald_opencl_match(answer, gpus);
        g_assert_cmpuint(gpus->len, ==, n);
        return 0;
}
