/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "placement/plan/plan-progress.h"
#include "placement/plan/plan.h"

/* Limits on memory, since tables grow with the square of the candidates and several plans may be made at
 * once. */
#define ALD_PLAN_CANDIDATES_MAX 4096u
#define ALD_PLAN_TABLES_BYTES_MAX (400.0 * 1024 * 1024)

/* Which device is used if several of a node compute in the same memory. */
typedef enum AldPlanPreference {
        ALD_PLAN_PREFER_SPEED, /* the fastest one with room for a layer */
        ALD_PLAN_PREFER_ROOM,  /* the one that may use the most of the memory */
} AldPlanPreference;

/* The devices that could get a layer, and the costs of them and of the paths between their nodes. */
typedef struct AldPlanCandidates {
        const AldPlanCluster *cluster;
        const AldPlanRequest *request;
        AldPlanPreference preference;
        AldPlanProgress *progress;
        uint32_t n;
        uint32_t *devices; /* of each candidate: its index in the cluster */
        bool *required;
        uint32_t *pinned;         /* of each candidate: the layers that it gets; 0: any number */
        uint32_t *required_nodes; /* nodes of which any candidate is required, see find-steps.h */
        uint32_t n_required_nodes;
        double *layer_nsec, *head_nsec;
        uint32_t *places, n_places; /* of each node: its number among those with candidates and the client; or
                                       ALD_PLAN_NONE */
        bool *shares_host_name;     /* of each node of the cluster, see naming.h; or NULL */
        uint32_t *first_path, *next_path; /* linked lists of usable paths: the first one at [place of source *
                                             n_places + place of sink], and the one after each path */
        double activation_bytes;          /* that pass between layers in a step */
        AldPlanVerdict *verdicts;         /* of each device of the cluster; ALD_PLAN_TAKEN for candidates */
} AldPlanCandidates;

/* Finds the candidates. Returns -EINVAL and sets the refusal if the request cannot be met, such as by naming
 * a node or device that does not exist or cannot be used. */
int ald_plan_candidates_init(AldPlanCandidates *candidates, const AldPlanCluster *cluster,
        const AldPlanRequest *request, AldPlanPreference preference, AldPlanRefusal *ret_refusal);
void ald_plan_candidates_clear(AldPlanCandidates *candidates);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AldPlanCandidates, ald_plan_candidates_clear)

const AldPlanDevice *ald_plan_candidate_device(const AldPlanCandidates *candidates, uint32_t candidate);

/* Returns the entry of the request's split for the candidate, or NULL. */
const AldPlanPin *ald_plan_pin_of(const AldPlanCandidates *candidates, uint32_t candidate);

/* Returns the candidate of a device of the cluster, which must be one. */
uint32_t ald_plan_candidate_of(const AldPlanCandidates *candidates, uint32_t device);

/* Returns whether a path between two nodes is left out only because the engine's commands cannot name it, and
 * sets the cause in the verdict. */
bool ald_plan_has_unnamed_path(
        const AldPlanCandidates *candidates, uint32_t a, uint32_t b, AldPlanVerdict *verdict);

/* Sets ALD_PLAN_PATHS_UNNAMED for candidates on nodes whose name or address is why any path is left out. */
void ald_plan_judge_unnamed(AldPlanCandidates *candidates);

/* Returns whether a device of the node is a candidate. */
bool ald_plan_has_candidate(const AldPlanCandidates *candidates, uint32_t node);

/* Returns the free memory of the host; ALD_PLAN_ABSENT if unknown. */
uint64_t ald_plan_host_free_bytes(const AldPlanCluster *cluster, uint32_t node);

/* Returns whether the host has this much free memory: false if that is unknown, true if the cluster does not
 * list the processor. */
bool ald_plan_has_host_room(const AldPlanCluster *cluster, uint32_t node, uint64_t bytes);

/* Returns the index of a node, or ALD_PLAN_NONE. */
uint32_t ald_plan_node_find(const AldPlanCluster *cluster, const char *id);
