/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "probes/compute/run/answer.h"
#include "record/message.h"

int ald_answer_parse(const char *line, size_t length, AldRecord **ret)
{
        static const AldKind kinds[] = { ALD_KIND_COMPUTE_STEP, ALD_KIND_COMPUTE_MEASURE,
                ALD_KIND_DEVICE_LIST, ALD_KIND_PROBE_FAILURE };

        int r = ald_message_parse_named(
                kinds, G_N_ELEMENTS(kinds), line, length, ALD_ANSWER_LINE_MAX, ret, NULL);

        return r == -ENOENT ? -EBADMSG : r;
}

char *ald_answer_of_devices(const GPtrArray *devices)
{
        g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(AldListedDevice));
        GStringChunk *ids = g_string_chunk_new(256);
        AldDeviceList list = ALD_DEVICE_LIST_INIT;
        char *text;

        for (guint i = 0; i < devices->len; i++) {
                AldListedDevice row = ((const AldOpenclTarget *) devices->pdata[i])->listed;
                char id[16];

                g_snprintf(id, sizeof id, "%04u", i);
                row.id = g_string_chunk_insert(ids, id);
                g_array_append_val(rows, row);
        }
        list.devices.items = rows->data;
        list.devices.n = rows->len;
        text = ald_message_format_named(ALD_KIND_DEVICE_LIST, &list);
        g_string_chunk_free(ids);
        return text;
}

char *ald_answer_of_measure(const AldMeasure *measure)
{
        g_auto(GStrv) reasons = g_strsplit(measure->meter.throttle, " ", -1);
        g_auto(GStrv) refused = g_strsplit(measure->refused, " ", -1);
        AldComputeMeasure message = ALD_COMPUTE_MEASURE_INIT;
        const char *flags[ALD_N_FLAGS + 1];

        ald_flags_to_words(measure->meter.flags, flags);
        message.best = measure->meter.best;
        message.median = measure->meter.median;
        message.interval = measure->meter.interval;
        message.method = measure->method;
        message.precision = measure->precision;
        message.accumulator = measure->accumulator;
        message.fp16_hardware = measure->fp16_hardware;
        if (measure->meter.clock_hz > 0)
                message.clock_hz = measure->meter.clock_hz;
        if (measure->meter.theoretical > 0)
                message.theoretical = measure->meter.theoretical;
        if (measure->meter.power_limit > 0)
                message.power_limit_micro_watts = measure->meter.power_limit;
        message.throttle_reasons = (const char *const *) reasons;
        message.refused_methods = (const char *const *) refused;
        message.flags = flags;
        return ald_message_format_named(ALD_KIND_COMPUTE_MEASURE, &message);
}

char *ald_answer_of_failure(const AldFailure *failure)
{
        g_autofree char *message = ald_message_text(failure->message ?: "unknown reason");
        const AldProbeFailure fields = { .error = ald_failure_to_string(failure->kind), .message = message };

        return ald_message_format_named(ALD_KIND_PROBE_FAILURE, &fields);
}

int ald_answer_fail(const AldRecord *answer, AldFailure *failure)
{
        const AldProbeFailure *message;
        int kind;

        if (answer->kind != ALD_KIND_PROBE_FAILURE)
                return 0;
        message = ald_record_as(answer, PROBE_FAILURE, AldProbeFailure);
        kind = ald_failure_from_string(message->error);
        if (kind >= 0)
                return ald_fail(failure, (AldFailureKind) kind, "%s", message->message ?: message->error);
        return ald_fail(
                failure, ALD_FAILURE_CRASHED, "the process sent an unknown error: %s", message->error);
}
