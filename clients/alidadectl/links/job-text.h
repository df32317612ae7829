/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "clients/common/probes/job-words.h"

/* Describes a job of org.alidade.LinkProbe1 for a terminal, without using the terminal. */

/* Returns one line with a bar, as wide as the columns allow. The name is safe text. */
char *ald_job_progress(const AldProbeJob *job, const char *name, unsigned columns);

/* Appends the results of a path, one entry per line. */
void ald_probed_path_describe(GString *out, const AldProbedPath *path, const char *name, unsigned columns);
