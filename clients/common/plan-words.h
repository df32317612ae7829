/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/report/report.h"

/* A plan in words. Texts from other machines are made safe; free all texts with g_free(). */

/* "alpha", else the first digits of the id. */
char *ald_plan_words_node(const char *name, const char *id);

/* "alpha/0000:01:00.0" */
char *ald_plan_words_device(const AldPlanStageRow *stage);

/* "0–39": its layers, counted from 0. */
char *ald_plan_words_layers(const AldPlanStageRow *stage);

/* "61.2 ms a token, 16.3 tokens/s": of all requests together. */
char *ald_plan_words_speed(double step_nsec, double tokens_per_second);

/* "proven to be the best", or by how much the best possible one could take less. */
char *ald_plan_words_certainty(const AldPlanRow *plan);

/* "alpha/0000:01:00.0 40, beta/cpu 8": the stages of an alternative, or of the plan if it is 0. */
char *ald_plan_words_stages(const AldPlanReport *report, uint64_t alternative);

/* "alpha → beta" */
char *ald_plan_words_hop(const AldPlanHopRow *hop);

/* "socket eth0 → eth1, 192.0.2.2" */
char *ald_plan_words_path(const AldPlanHopRow *hop);
