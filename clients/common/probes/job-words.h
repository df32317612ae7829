/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "clients/common/tone.h"
#include "record/record.h"

/*
 * Describes a job of org.alidade.LinkProbe1. The service may be of another version, so any property may be
 * absent. Does not use the bus.
 */

/* Whether it is done, failed or canceled. */
bool ald_job_has_ended(const AldProbeJob *job);

/* "waiting: the peer is busy", "round trips over 192.0.2.2", "gemm trial", "upload"… Safe text. */
char *ald_job_step(const AldProbeJob *job);

/* The text of an Error, which may be NULL. Safe text. */
char *ald_job_reason(const char *error);

/* One path of a job: its ends, and what was measured. */
typedef struct AldProbedPath {
        AldJobPathRow row;           /* strings belong to the JSON */
        AldSocketResult figures;     /* those of RDMA have the same names; absent if it was not measured */
        uint64_t message_bytes, mtu; /* of RDMA alone */
        AldRecord *result;           /* to which the figures belong; NULL: none */
} AldProbedPath;

/* Reads a path, whose result is of this kind, from its row in Paths, or from Result with an Address; the path
 * must not outlive that. */
void ald_probed_path_read(AldProbedPath *path, AldKind result, json_t *row);
void ald_probed_path_clear(AldProbedPath *path);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldProbedPath, ald_probed_path_clear)

/* The ends of a path: "192.0.2.2", or "mlx5_0.1 → mlx5_1.1". Safe text. */
char *ald_probed_path_ends(const AldProbedPath *path);

/* What was measured over a path to the node of this name, as AldFacts. */
GPtrArray *ald_probed_path_facts(const AldProbedPath *path, const char *name);
