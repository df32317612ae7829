/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include <glib.h>

#include "probes/compute/measure-json.h"

#define WORD_MAX 128u

static const char *const flag_names[] = { "busy", "unstable", "suspect", "reduced", "wall_clock" };

json_t *ald_flags_to_json(unsigned flags)
{
        json_t *words = json_array();

        for (size_t i = 0; i < G_N_ELEMENTS(flag_names); i++)
                if (flags & 1u << i)
                        json_array_append_new(words, json_string(flag_names[i]));
        return words;
}

static unsigned flags_from_json(const json_t *words)
{
        const json_t *word;
        unsigned flags = 0;
        size_t n;

        json_array_foreach(words, n, word)
                for (size_t i = 0; i < G_N_ELEMENTS(flag_names); i++)
                        if (g_strcmp0(json_string_value(word), flag_names[i]) == 0)
                                flags |= 1u << i;
        return flags;
}

static void set_word(json_t *object, const char *key, const char *word)
{
        if (word && *word)
                json_object_set_new(object, key, json_string(word));
}

json_t *ald_measure_to_json(const AldMeasure *measure)
{
        const AldMeter *meter = &measure->meter;
        json_t *object = json_object();

        /* A figure that is none is refused by jansson, and not there. */
        json_object_set_new(object, "best", json_real(meter->best));
        json_object_set_new(object, "mean", json_real(meter->mean));
        json_object_set_new(object, "median", json_real(meter->median));
        json_object_set_new(object, "interval", json_real(meter->interval));
        json_object_set_new(object, "seconds", json_real(meter->seconds));
        json_object_set_new(object, "windows", json_integer(meter->windows));
        json_object_set_new(object, "flags", ald_flags_to_json(meter->flags));
        if (meter->clock_hz > 0 && meter->clock_hz <= INT64_MAX)
                json_object_set_new(object, "clock", json_integer((json_int_t) meter->clock_hz));
        set_word(object, "throttle", meter->throttle);
        set_word(object, "method", measure->method);
        set_word(object, "precision", measure->precision);
        set_word(object, "accumulator", measure->accumulator);
        set_word(object, "refused", measure->refused);
        json_object_set_new(object, "fp16", json_boolean(measure->fp16_hardware));
        return object;
}

static bool get_real(const json_t *object, const char *key, double *ret)
{
        const json_t *value = json_object_get(object, key);

        *ret = json_number_value(value);
        return json_is_number(value) && isfinite(*ret) && *ret >= 0;
}

const char *ald_json_word(const json_t *object, const char *key)
{
        const char *word = json_string_value(json_object_get(object, key));

        if (!word || !*word || strlen(word) > WORD_MAX)
                return NULL;
        for (const char *at = word; *at; at++)
                if (!g_ascii_isprint(*at))
                        return NULL;
        return word;
}

int ald_measure_from_json(const json_t *object, AldMeasure *ret)
{
        AldMeasure measure = {};
        AldMeter *meter = &measure.meter;
        json_int_t clock = json_integer_value(json_object_get(object, "clock"));
        json_int_t windows = json_integer_value(json_object_get(object, "windows"));
        const char *throttle = ald_json_word(object, "throttle"), *refused = ald_json_word(object, "refused");

        if (!get_real(object, "best", &meter->best) || !get_real(object, "mean", &meter->mean) ||
                !get_real(object, "median", &meter->median) ||
                !get_real(object, "interval", &meter->interval) ||
                !get_real(object, "seconds", &meter->seconds) || meter->best == 0)
                return -EBADMSG;
        meter->windows = (unsigned) CLAMP(windows, 0, INT32_MAX);
        meter->flags = flags_from_json(json_object_get(object, "flags"));
        meter->clock_hz = clock > 0 ? (uint64_t) clock : 0;
        g_strlcpy(meter->throttle, throttle ?: "", sizeof meter->throttle);
        g_strlcpy(measure.refused, refused ?: "", sizeof measure.refused);
        measure.method = ald_json_word(object, "method");
        measure.precision = ald_json_word(object, "precision");
        measure.accumulator = ald_json_word(object, "accumulator");
        measure.fp16_hardware = json_is_true(json_object_get(object, "fp16"));
        if (!measure.method)
                return -EBADMSG;
        *ret = measure;
        return 0;
}
