/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "probes/compute/answer.h"
#include "probes/compute/cards.h"
#include "probes/compute/devices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is listed, each has an id of its own. */
static void check_devices(GPtrArray *devices)
{
        g_autoptr(GPtrArray) cards = ald_cards_new();

        ald_cards_add(cards, "0000:01:00.0", 0x1002);
        ald_cards_add(cards, "soc:gpu", 0);
        ald_devices_match(devices, cards);
        for (guint i = 0; i < devices->len; i++)
                g_assert_true(ald_devices_find(devices, ((AldDevice *) devices->pdata[i])->id) ==
                              devices->pdata[i]);
}

/* What was read is written as it was meant. */
static void check_measure(const AldMeasure *measure)
{
        char *written = ald_answer_of_measure(measure);
        g_auto(AldAnswer) again = {};

        g_assert_true(isfinite(measure->meter.best) && measure->meter.best > 0 && measure->method);
        g_assert_cmpint(ald_answer_parse(written, strlen(written), &again), ==, 0);
        g_assert_cmpstr(again.measure.method, ==, measure->method);
        g_assert_cmpuint(again.measure.meter.flags, ==, measure->meter.flags);
        free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        g_auto(AldAnswer) answer = {};

        if (ald_answer_parse((const char *) data, size, &answer) < 0)
                return 0;
        switch (answer.kind) {
        case ALD_ANSWER_PROGRESS:
                g_assert_true(answer.fraction >= 0 && answer.fraction <= 1);
                break;
        case ALD_ANSWER_DEVICES:
                check_devices(answer.devices);
                break;
        case ALD_ANSWER_MEASURE:
                check_measure(&answer.measure);
                break;
        case ALD_ANSWER_FAILURE:
                g_assert_nonnull(answer.failure.message);
        }
        return 0;
}
