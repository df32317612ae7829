/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/*
 * Describes a job of org.alidade.LinkProbe1, given as an object with the known properties. The service may be
 * of another version, so they may be invalid. Does not use the bus or a terminal.
 */

typedef enum AldProbeJobState {
        ALD_PROBE_JOB_UNKNOWN,
        ALD_PROBE_JOB_WAITING,
        ALD_PROBE_JOB_RUNNING,
        ALD_PROBE_JOB_DONE,
        ALD_PROBE_JOB_FAILED,
        ALD_PROBE_JOB_CANCELED,
} AldProbeJobState;

AldProbeJobState ald_job_state(const json_t *job);
bool ald_job_has_ended(const json_t *job);

/* "waiting: the peer is busy", "round trips over 192.0.2.2", "gemm trial", "upload"… Safe text. */
char *ald_job_step(const json_t *job);

/* One line with a bar, as wide as the columns allow. The name is safe text. */
char *ald_job_progress(const json_t *job, const char *name, unsigned columns);

/* The reason why it failed. Safe text. */
char *ald_job_reason(const json_t *job);

/* The ends of one path: "192.0.2.2", or "mlx5_0.1 → mlx5_1.1". Safe text. */
char *ald_job_way(const json_t *path);

/* What was measured over one path, one entry per line. */
void ald_job_describe_path(GString *out, const json_t *path, const char *name, unsigned columns);
