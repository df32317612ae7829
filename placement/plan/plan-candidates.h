/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-progress.h"
#include "placement/plan/plan.h"

/* More would take too much memory: tables grow with the square. Several plans may be made at once. */
#define ALD_PLAN_CANDIDATES_MAX 4096u
#define ALD_PLAN_TABLES_BYTES_MAX (400.0 * 1024 * 1024)

/* Which one is used of the devices of a node that compute in the same memory. */
typedef enum AldPlanPreference {
        ALD_PLAN_PREFER_SPEED, /* the fastest one with room for a layer */
        ALD_PLAN_PREFER_ROOM,  /* the one that may use the most of the memory */
} AldPlanPreference;

/* The devices that could get a layer, and what they and the paths between their nodes cost. */
typedef struct AldPlanCandidates {
        const AldPlanCluster *cluster;
        const AldPlanRequest *request;
        AldPlanPreference preference;
        AldPlanProgress *progress;
        uint32_t n;
        uint32_t *devices; /* indices in the cluster, of which each candidate is one */
        bool *required;
        uint32_t *pinned;                   /* layers that it gets; 0: any number */
        uint32_t *must_nodes, n_must_nodes; /* of which any candidate is required, see must.h */
        double *layer_nsec, *head_nsec;
        uint32_t *places,
                n_places;       /* of each node among those with candidates and the client; or ALD_PLAN_NONE
                                 */
        bool *shares_host_name; /* each node of the cluster, see naming.h; or NULL */
        uint32_t *first_path, *next_path; /* usable paths: of [place of source * n_places + place of sink],
                                             and after each path */
        double activation_bytes;          /* of a step */
        AldPlanVerdict *verdicts; /* of each device of the cluster: those of candidates are ALD_PLAN_TAKEN */
} AldPlanCandidates;

/* -EINVAL with the refusal: the request names no node or device, or one that cannot be used. */
int ald_plan_candidates_init(AldPlanCandidates *candidates, const AldPlanCluster *cluster,
        const AldPlanRequest *request, AldPlanPreference preference, AldPlanRefusal *ret_refusal);
void ald_plan_candidates_clear(AldPlanCandidates *candidates);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlanCandidates, ald_plan_candidates_clear)

const AldPlanDevice *ald_plan_candidate_device(const AldPlanCandidates *candidates, uint32_t candidate);

/* What the request says of it, or NULL. */
const AldPlanPin *ald_plan_pin_of(const AldPlanCandidates *candidates, uint32_t candidate);

/* The candidate that the device of the cluster is, which is one. */
uint32_t ald_plan_candidate_of(const AldPlanCandidates *candidates, uint32_t device);

/* Returns whether a path between two nodes is left out only because the engine's commands cannot name it, and
 * sets the verdict to why. */
bool ald_plan_has_unnamed_path(
        const AldPlanCandidates *candidates, uint32_t a, uint32_t b, AldPlanVerdict *verdict);

/* Gives candidates such a verdict whose name or address is the reason why any path is left out. */
void ald_plan_judge_unnamed(AldPlanCandidates *candidates);

/* Whether a device of the node is one. */
bool ald_plan_has_candidate(const AldPlanCandidates *candidates, uint32_t node);

/* Memory that is free on the host; ALD_PLAN_ABSENT: not known. */
uint64_t ald_plan_host_free_bytes(const AldPlanCluster *cluster, uint32_t node);

/* Whether that is as much as this. Not if it is unknown, unless the cluster does not state the processor. */
bool ald_plan_has_host_room(const AldPlanCluster *cluster, uint32_t node, uint64_t bytes);

/* The index of a node, or ALD_PLAN_NONE. */
uint32_t ald_plan_node_find(const AldPlanCluster *cluster, const char *id);
