/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "placement/report/plan-report.h"

/* A plan in words. Texts from other machines are made safe; free all texts with g_free(). */

/* "alpha", else the first digits of the id. */
char *ald_plan_words_node(const char *name, const char *id);

/* "alpha/0000:01:00.0" */
char *ald_plan_words_device(const AldPlanStageRow *stage);

/* "0–39": its layers, counted from 0. */
char *ald_plan_words_layers(const AldPlanStageRow *stage);

/* "61.2 ms a token, 16.3 tokens/s": the tokens are those of all requests together. */
char *ald_plan_words_speed(const AldPlanRow *plan);

/* "proven to be the best", or by how much the best possible one could take less. */
char *ald_plan_words_certainty(const AldPlanRow *plan);

/* "alpha/cpu: measured beside other work, …": devices of the plan whose figures are; NULL: none. */
char *ald_plan_words_disturbed(const AldPlanReport *report);

/* "alpha/0000:03:00.0: all memory is taken as free, …": devices of the plan whose use is unknown; NULL: none.
 */
char *ald_plan_words_assumed_free(const AldPlanReport *report);

/* "alpha/0000:01:00.0 40, beta/cpu 8": the stages of an alternative, or of the plan if it is 0. */
char *ald_plan_words_stages(const AldPlanReport *report, uint64_t alternative);

/* "alpha → beta" */
char *ald_plan_words_hop(const AldPlanHopRow *hop);

/* "socket eth0 → eth1, 192.0.2.2" */
char *ald_plan_words_path(const AldPlanHopRow *hop);

/* "activations": what passes, or NULL if that has no word. */
char *ald_plan_words_payload(const AldPlanHopRow *hop);

/* What is placed, and for what: "Example (llama), 32 layers, 11.1 GiB; context 4096; 1 request". */
char *ald_plan_words_request(const AldPlanRow *plan, const char *title);

/* "61.2 ms: alpha/cpu 40, beta/cpu 8; client gamma" */
char *ald_plan_words_alternative(const AldPlanReport *report, const AldPlanAlternativeRow *row);

/* "alpha/cpu", or "alpha" if the node has no device that is known. */
char *ald_plan_words_left_out(const AldPlanLeftOutRow *row);

/* "no path": its reason in short. */
char *ald_plan_words_reason(const AldPlanLeftOutRow *row);

/* "Too Little Memory": why there is no plan, as a heading. */
char *ald_plan_words_problem(const AldPlanRow *plan);

/* "limited by memory bandwidth", or NULL. */
char *ald_plan_words_limiter(const AldPlanStageRow *stage);

/* Whether faster paths would change enough to be mentioned. */
bool ald_plan_is_notable(const AldPlanReport *report, const AldPlanSensitivityRow *row);
