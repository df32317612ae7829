/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "services/common/witness-client.h"
#include "services/telemetry/gpu/counter-source.h"

struct AldCounterSource {
        AldWitnessClient *witness;
        AldRecord *answer; /* NULL while there is none */
        int64_t asked_usec;
        bool is_working; /* at the last answer, an engine was busy */
};

static void on_answer(const AldRecord *record, void *userdata)
{
        AldCounterSource *source = userdata;
        const AldCountersAnswer *answer = ald_record_as(record, COUNTERS_ANSWER, AldCountersAnswer);

        g_clear_pointer(&source->answer, ald_record_unref);
        source->answer = record ? ald_record_ref((AldRecord *) record) : NULL;
        source->is_working = false;
        for (size_t i = 0; answer && i < answer->devices.n; i++)
                source->is_working |= ((const AldCountedDevice *) ald_rows_at(&answer->devices, i))->usage >
                                      0;
}

AldCounterSource *ald_counter_source_new(void)
{
        AldCounterSource *source = g_new0(AldCounterSource, 1);

        source->witness = ald_witness_client_new(
                "counters", ALD_KIND_COUNTERS_ANSWER, NULL, on_answer, source);
        return source;
}

void ald_counter_source_free(AldCounterSource *source)
{
        if (!source)
                return;
        ald_witness_client_free(source->witness);
        g_clear_pointer(&source->answer, ald_record_unref);
        g_free(source);
}

void ald_counter_source_ask(AldCounterSource *source, const char *const *ids, int64_t now_usec)
{
        const AldCountersRequest request = { .ids = ids };
        bool is_due = source->is_working || source->asked_usec == 0 ||
                      now_usec >= source->asked_usec + ALD_COUNTERS_IDLE_EVERY_USEC;

        if (!*ids) /* Figures from before a device slept do not hold once it wakes. */
                on_answer(NULL, source);
        else if (is_due && ald_witness_client_ask(source->witness, ALD_KIND_COUNTERS_REQUEST, &request) >= 0)
                source->asked_usec = now_usec;
}

void ald_counter_source_complete(const AldCounterSource *source, AldDevice *device)
{
        const AldCountersAnswer *answer = ald_record_as(source->answer, COUNTERS_ANSWER, AldCountersAnswer);
        const AldCountedDevice *counted = answer ? ald_rows_find(&answer->devices, device->id) : NULL;

        if (!counted)
                return;
        if (device->memory_used_bytes == ALD_ABSENT_UINT64)
                device->memory_used_bytes = counted->memory_used_bytes;
        if (isnan(device->usage))
                device->usage = counted->usage;
}

const char *ald_counter_source_reason(const AldCounterSource *source)
{
        return ald_witness_client_reason(source->witness);
}
