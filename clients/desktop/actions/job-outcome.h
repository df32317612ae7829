/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "clients/common/probes/job-run.h"

/* Returns the outcome of a job of org.alidade.LinkProbe1 in one sentence: "alder → birch: 9.41 Gb/s up, 9.40
 * Gb/s down, RTT/2 18.2 µs". The subject is what was measured, as safe text. Returns safe text, to be freed.
 */
char *ald_job_outcome(const AldProbeWords *words, const char *subject, const AldProbeJob *job, json_t *json);
