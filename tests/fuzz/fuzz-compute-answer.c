/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "probes/compute/opencl/cards.h"
#include "probes/compute/opencl/devices.h"
#include "probes/compute/run/answer.h"
#include "record/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is listed, each has an id of its own. */
static void check_devices(AldRecord *list)
{
        g_autoptr(GPtrArray) cards = ald_cards_new(), devices = ald_devices_new();

        ald_cards_add(cards, "0000:01:00.0", 0x1002);
        ald_cards_add(cards, "soc:gpu", 0);
        for (size_t i = 0; i < ald_record_as(list, DEVICE_LIST, AldDeviceList)->devices.n; i++)
                g_ptr_array_add(devices, ald_opencl_target_of_list(list, i));
        ald_devices_match(devices, cards);
        for (guint i = 0; i < devices->len; i++)
                g_assert_true(ald_devices_find(devices, ((AldOpenclTarget *) devices->pdata[i])->listed.id) ==
                              devices->pdata[i]);
}

/* What was read is written as it was meant. */
static void check_measure(const AldComputeMeasure *measure)
{
        g_autofree char *written = ald_message_format_named(ALD_KIND_COMPUTE_MEASURE, measure);
        g_autoptr(AldRecord) again = NULL;
        const AldComputeMeasure *read;

        g_assert_true(isfinite(measure->best) && measure->best > 0 && measure->method);
        g_assert_cmpint(ald_answer_parse(written, strlen(written), &again), ==, 0);
        read = ald_record_as(again, COMPUTE_MEASURE, AldComputeMeasure);
        g_assert_cmpstr(read->method, ==, measure->method);
        g_assert_cmpuint(ald_flags_from_words(read->flags), ==, ald_flags_from_words(measure->flags));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_autoptr(AldRecord) answer = NULL;
        AldFailure failure = {};

        if (ald_answer_parse((const char *) data, size, &answer) < 0)
                return 0;
        if (answer->kind == ALD_KIND_DEVICE_LIST)
                check_devices(answer);
        else if (answer->kind == ALD_KIND_COMPUTE_MEASURE)
                check_measure(ald_record_as(answer, COMPUTE_MEASURE, AldComputeMeasure));
        else if (ald_answer_fail(answer, &failure) < 0)
                g_assert_nonnull(failure.message);
        else
                g_assert_cmpint(ald_compute_step_phase_from_string(
                                        ald_record_as(answer, COMPUTE_STEP, AldComputeStep)->phase),
                        >=, 0);
        ald_failure_clear(&failure);
        return 0;
}
