/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "placement/report/plan-report.h"

/* Describes a plan in words. Texts from other machines are made safe; free all texts with g_free(). */

/* Returns "alpha", the name, else the first digits of the id. */
char *ald_plan_words_node(const char *name, const char *id);

/* Returns "alpha/0000:01:00.0". */
char *ald_plan_words_device(const AldPlanStageRow *stage);

/* Returns the layers of the stage, counted from 0: "0–39". */
char *ald_plan_words_layers(const AldPlanStageRow *stage);

/* Returns "61.2 ms a token, 16.3 tokens/s": the tokens are those of all requests together. */
char *ald_plan_words_speed(const AldPlanRow *plan);

/* Returns "proven to be the best", or how much less time the best possible plan might take. */
char *ald_plan_words_certainty(const AldPlanRow *plan);

/* Returns "alpha/cpu: measured beside other work, …" for the devices of the plan that were measured so; NULL
 * if there are none. */
char *ald_plan_words_disturbed(const AldPlanReport *report);

/* Returns "alpha/0000:03:00.0: all memory is taken as free, …" for the devices of the plan whose memory use
 * is unknown; NULL if there are none. */
char *ald_plan_words_assumed_free(const AldPlanReport *report);

/* Returns "alpha/0000:01:00.0 40, beta/cpu 8": the stages of an alternative, or of the plan if `alternative`
 * is 0. */
char *ald_plan_words_stages(const AldPlanReport *report, uint64_t alternative);

/* Returns "alpha → beta". */
char *ald_plan_words_hop(const AldPlanHopRow *hop);

/* Returns "socket eth0 → eth1, 192.0.2.2". */
char *ald_plan_words_path(const AldPlanHopRow *hop);

/* Returns what passes the hop, such as "activations", or NULL if that has no word. */
char *ald_plan_words_payload(const AldPlanHopRow *hop);

/* Returns what is placed, and for which requests: "Example (llama), 32 layers, 11.1 GiB; context 4096; 1
 * request". */
char *ald_plan_words_request(const AldPlanRow *plan, const char *title);

/* Returns "61.2 ms: alpha/cpu 40, beta/cpu 8; client gamma". */
char *ald_plan_words_alternative(const AldPlanReport *report, const AldPlanAlternativeRow *row);

/* Returns "alpha/cpu", or "alpha" if the node has no known device. */
char *ald_plan_words_left_out(const AldPlanLeftOutRow *row);

/* Returns the reason in short, such as "no path". */
char *ald_plan_words_reason(const AldPlanLeftOutRow *row);

/* Returns why there is no plan, as a heading: "Too Little Memory". */
char *ald_plan_words_problem(const AldPlanRow *plan);

/* Returns "limited by memory bandwidth", or NULL. */
char *ald_plan_words_limiter(const AldPlanStageRow *stage);

/* Returns true if faster paths would change enough to be mentioned. */
bool ald_plan_is_notable(const AldPlanReport *report, const AldPlanSensitivityRow *row);
