/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "placement/report/plan-report.h"

#define ALD_PLAN_REPORT_BYTES_MAX (16u * 1024 * 1024)

/* {"Plan": {…}, "Stages": [{…}, …], …}: as on the bus, without absent fields. A new reference. */
json_t *ald_plan_report_to_json(const AldPlanReport *report);

/*
 * Reads such a text, which need not be trusted: unknown keys are skipped. On error, *ret_error is a message
 * without the name of the file, to be freed with g_free(): -EBADMSG, it is not JSON, a field has a wrong type
 * or range, or "Plan" is missing; -E2BIG, it is larger than ALD_PLAN_REPORT_BYTES_MAX.
 */
int ald_plan_report_from_text(const char *bytes, size_t n, AldPlanReport **ret, char **ret_error);
