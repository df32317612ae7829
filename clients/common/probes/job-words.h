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

/* Returns true if the job is done, failed or canceled. */
bool ald_job_has_ended(const AldProbeJob *job);

/* Returns what the job is doing: "waiting: the peer is busy", "round trips over 192.0.2.2", "gemm trial",
 * "upload"… Safe text. */
char *ald_job_step(const AldProbeJob *job);

/* Returns the text of an Error, which may be NULL. Safe text. */
char *ald_job_reason(const char *error);

/* One path of a job: its ends and the results. */
typedef struct AldProbedPath {
        AldJobPathRow row;           /* strings belong to the JSON */
        AldSocketResult figures;     /* results of RDMA have the same names; absent if not measured */
        uint64_t message_bytes, mtu; /* only for RDMA */
        AldRecord *result;           /* owns the strings of the figures; NULL if there is none */
} AldProbedPath;

/* Reads a path, whose result is of this kind, from its row in Paths, or from Result with an Address; the path
 * must not outlive that JSON. */
void ald_probed_path_read(AldProbedPath *path, AldKind result, json_t *row);
void ald_probed_path_clear(AldProbedPath *path);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldProbedPath, ald_probed_path_clear)

/* Returns the ends of a path: "192.0.2.2", or "mlx5_0.1 → mlx5_1.1". Safe text. */
char *ald_probed_path_ends(const AldProbedPath *path);

/* Returns the results of a path to the node of this name, as AldFacts. */
GPtrArray *ald_probed_path_facts(const AldProbedPath *path, const char *name);
