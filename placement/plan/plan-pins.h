/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include <glib.h>

#define ALD_PLAN_PIN_LAYERS_MAX 1024u /* as for Layers of PlanWorkload */

/* The number of layers that a device gets: an entry of Split of Plan() in org.alidade.Placement1. */
typedef struct AldPlanPin {
        char *device; /* "node/device" */
        uint32_t layers;
} AldPlanPin;

/* Parses "node/device=layers". Returns -EINVAL if the text does not have this form, or the number is out of
 * range. */
int ald_plan_pin_parse(const char *text, AldPlanPin *ret);
void ald_plan_pin_clear(AldPlanPin *pin);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlanPin, ald_plan_pin_clear)
