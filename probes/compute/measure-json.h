/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "probes/compute/measure.h"

/* The words of flags. */
json_t *ald_flags_to_json(unsigned flags);

/* A text that may be shown on a terminal; NULL where it is not there, empty, long or odd. */
const char *ald_json_word(const json_t *object, const char *key);

/*
 * What one process tells another of a measurement, and back: the texts are then those of the object.
 * -EBADMSG where it makes no sense.
 */
json_t *ald_measure_to_json(const AldMeasure *measure);
int ald_measure_from_json(const json_t *object, AldMeasure *ret);
