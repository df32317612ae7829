/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "placement/report/plan-report.h"

#define ALD_PLAN_REPORT_BYTES_MAX (16u * 1024 * 1024)

/* Returns a new reference to {"Plan": {…}, "Stages": [{…}, …], …}: as on the bus, without absent fields. */
json_t *ald_plan_report_to_json(const AldPlanReport *report);

/*
 * Reads such a text, which need not be trusted; unknown keys are skipped. Returns -EBADMSG if it is not JSON,
 * a field has a wrong type or range, or "Plan" or a list is missing, and -E2BIG if it is larger than
 * ALD_PLAN_REPORT_BYTES_MAX. On error, *ret_error is a message without the name of the file; free it with
 * g_free().
 */
int ald_plan_report_from_text(const char *bytes, size_t n, AldPlanReport **ret, char **ret_error);
