/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>

#include "probes/compute/answer.h"
#include "probes/compute/device-json.h"
#include "probes/compute/devices.h"
#include "probes/compute/measure-json.h"

#define DEVICES_MAX 256u

void ald_answer_clear(AldAnswer *answer)
{
        g_clear_pointer(&answer->devices, g_ptr_array_unref);
        ald_failure_clear(&answer->failure);
        json_decref(answer->source);
        *answer = (AldAnswer){};
}

static char *dump(json_t *object)
{
        char *text = json_dumps(object, JSON_COMPACT);

        json_decref(object);
        return text;
}

char *ald_answer_of_progress(AldPhase phase, const char *variant, double fraction)
{
        return dump(json_pack("{s:s, s:s*, s:f}", "phase", ald_phase_to_string(phase), "variant", variant,
                "fraction", isfinite(fraction) ? fraction : 0));
}

char *ald_answer_of_devices(const GPtrArray *devices)
{
        json_t *rows = json_array();

        for (guint i = 0; i < devices->len; i++)
                json_array_append_new(rows, ald_device_to_json(devices->pdata[i]));
        return dump(json_pack("{s:o}", "devices", rows));
}

char *ald_answer_of_measure(const AldMeasure *measure)
{
        return dump(json_pack("{s:o}", "measure", ald_measure_to_json(measure)));
}

char *ald_answer_of_failure(const AldFailure *failure)
{
        return dump(json_pack("{s:s, s:s}", "error", ald_failure_to_string(failure->kind), "message",
                failure->message ?: "no reason is known"));
}

static int parse_progress(const json_t *object, AldAnswer *answer)
{
        const char *name = json_string_value(json_object_get(object, "phase"));
        const json_t *fraction = json_object_get(object, "fraction");

        for (AldPhase phase = ALD_PHASE_BUILD; phase <= ALD_PHASE_MEASURE; phase++)
                if (g_strcmp0(name, ald_phase_to_string(phase)) == 0) {
                        answer->kind = ALD_ANSWER_PROGRESS;
                        answer->phase = phase;
                        answer->fraction = CLAMP(json_number_value(fraction), 0, 1);
                        answer->variant = ald_json_word(object, "variant");
                        return 0;
                }
        return -EBADMSG;
}

static int parse_devices(const json_t *rows, AldAnswer *answer)
{
        const json_t *row;
        size_t i;

        answer->kind = ALD_ANSWER_DEVICES;
        answer->devices = ald_devices_new();
        json_array_foreach(rows, i, row) {
                AldDevice *device = i < DEVICES_MAX ? ald_device_from_json(row) : NULL;

                if (!device)
                        return -EBADMSG;
                g_ptr_array_add(answer->devices, device);
        }
        return 0;
}

static int parse_failure(const json_t *object, AldAnswer *answer)
{
        const char *name = json_string_value(json_object_get(object, "error"));
        const char *message = json_string_value(json_object_get(object, "message"));

        answer->kind = ALD_ANSWER_FAILURE;
        for (AldFailureKind kind = 0; message && kind < _ALD_FAILURE_MAX; kind++)
                if (g_strcmp0(name, ald_failure_to_string(kind)) == 0) {
                        (void) ald_fail(&answer->failure, kind, "%s", message);
                        /* It may have words of a driver, and goes to terminals. */
                        for (char *at = answer->failure.message; *at; at++)
                                if (g_ascii_iscntrl(*at))
                                        *at = ' ';
                        return 0;
                }
        return -EBADMSG;
}

static int parse(const json_t *object, AldAnswer *answer)
{
        const json_t *devices = json_object_get(object, "devices"),
                     *measure = json_object_get(object, "measure");

        if (json_is_array(devices))
                return parse_devices(devices, answer);
        if (json_is_object(measure)) {
                answer->kind = ALD_ANSWER_MEASURE;
                return ald_measure_from_json(measure, &answer->measure);
        }
        return json_object_get(object, "error") ? parse_failure(object, answer)
                                                : parse_progress(object, answer);
}

int ald_answer_parse(const char *line, size_t length, AldAnswer *ret)
{
        g_auto(AldAnswer) answer = { .source = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL) };
        int r = parse(answer.source, &answer);

        if (r < 0)
                return r;
        *ret = answer;
        answer = (AldAnswer){};
        return 0;
}
