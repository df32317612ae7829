/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <glib.h>

#include "placement/plan/cluster.h"
#include "placement/plan/constants.h"
#include "placement/plan/engine.h"
#include "placement/plan/layer-sizes.h"
#include "placement/plan/naming.h"
#include "placement/plan/plan-pins.h"
#include "placement/plan/workload.h"

typedef struct AldPlanRequest {
        const AldPlanEngine *engine;
        const AldPlanWorkload *workload;
        const AldPlanLayerSizes *sizes; /* of the workload; NULL: its layers are alike */
        const char *const *must;    /* devices as "node/device" that get a layer, or nodes of which one does;
                                       NULL:    none */
        const char *const *without; /* those that get none; NULL: none */
        const char *client; /* the node that runs the client of the engine; NULL: the best one of those with a
                        device that could be used */
        uint32_t devices_max; /* that may be used; 0: all */
        uint32_t nodes_max;   /* whose devices may be used; 0: all */
        AldPlanOptionsGoal goal;
        const AldPlanPin *pins; /* the devices that get layers, and how many; NULL: that is to be found */
        uint32_t n_pins;
        /* Between nodes without a path that was measured; NAN: they are not joined. */
        double assumed_rtt_nsec, assumed_bits_per_second;
        AldPlanConstants constants;
        /* Called often, by the thread that makes the plan, with a fraction from 0 to 1 that never falls;
         * false gives the plan up. NULL: it is not. */
        bool (*proceed)(double fraction, void *userdata);
        /* Called as often once there is a plan, or while it is looked for why there is none; true: the best
         * plan that was found is returned, or ALD_PLAN_TIME_UP. NULL: it is not. */
        bool (*is_late)(void *userdata);
        void *userdata;
} AldPlanRequest;

/* The stages of a plan in the order of the layers. */
typedef struct AldPlanStage {
        uint32_t device; /* index in the cluster */
        uint32_t first_layer, layers;
        uint32_t slices; /* that each layer is cut into, of which the stage has one; 0 or 1: it is not */
        bool has_head;   /* of a ring, the last one; of a star, any: the first, too, if that is the client's
                            processor,   whose layers come first */
        uint64_t bytes;  /* that it needs: the sum of these, which are 0 for slices, where only the sum is
                            known */
        uint64_t weight_bytes, kv_bytes, buffer_bytes, reserved_bytes;
        double nsec;     /* of its layers, and of the head */
        double hop_nsec; /* star: to its node and back, and what the server takes, or from the stage before
                            on the same node; 0 on the node of the client;
                            ring: to the next stage, or of tokens from the last one to the first; slices: its
                            share, as if the others were not slower */
        uint32_t path_to,
                path_from; /* star and slices: from the client and back; ring: path_to is to the next stage.
                              Index in the cluster, or ALD_PLAN_NONE: on one node, or assumed */
        double bytes_to, bytes_from; /* that pass on these in a step */
        double nsec_to, nsec_from;   /* that this takes */
        bool is_computing;           /* its layers take longer to be computed than to be read */
} AldPlanStage;

typedef struct AldPlanSteps {
        AldPlanStage *stages;
        uint32_t n_stages;
        uint32_t client;      /* index of a node; ALD_PLAN_NONE: the engine has none */
        double nsec;          /* of a step */
        uint32_t in_flight;   /* steps under way at once, among which the requests are divided */
        double hops_nsec;     /* of the transfers, which are a part of it */
        double busiest_nsec;  /* of the stage, or the path of a ring, that a step occupies the longest */
        double interval_nsec; /* in which each request gets a token: nsec, or in_flight times busiest_nsec */
        double lower_nsec; /* no plan has a shorter one; if it equals interval_nsec, that is proven to be the
                              least */
} AldPlanSteps;

void ald_plan_steps_clear(AldPlanSteps *steps);

/* What is to be short for this goal: interval_nsec for throughput, else nsec. */
double ald_plan_goal_nsec(const AldPlanSteps *steps, AldPlanOptionsGoal goal);

/* The steps that are under way in that time. */
uint32_t ald_plan_goal_in_flight(const AldPlanSteps *steps, AldPlanOptionsGoal goal);

/* Tokens of all requests together; NAN if there are no layers. */
double ald_plan_tokens_per_second(const AldPlanWorkload *workload, const AldPlanSteps *steps);

typedef enum AldPlanReason {
        ALD_PLAN_TAKEN,
        ALD_PLAN_SAVES_TOO_LITTLE, /* costs_nsec and saves_nsec say how much */
        ALD_PLAN_UNUSABLE,         /* as AldPlanNode says */
        ALD_PLAN_EXCLUDED,         /* by the request */
        ALD_PLAN_NOT_FOR_ENGINE,   /* a processor, or a GPU */
        ALD_PLAN_SHARES_MEMORY, /* with a device of its node that is faster, must be used, or may use more of
                                   it if the model fits only then */
        ALD_PLAN_MEMORY_UNKNOWN,
        ALD_PLAN_DISBELIEVED, /* other measurements contradict a figure */
        ALD_PLAN_BANDWIDTH_UNMEASURED,
        ALD_PLAN_COMPUTE_UNMEASURED,
        ALD_PLAN_MEMORY_TOO_SMALL, /* for one layer */
        ALD_PLAN_OTHER_VENDOR,     /* than the GPUs of the plan, for an engine that takes those of one only */
        ALD_PLAN_NO_ROOM,          /* for a layer beside what it would hold, or no layer is left for it */
        ALD_PLAN_BEYOND_DEVICES_MAX, /* the others are needed for their memory */
        ALD_PLAN_UNEVEN,        /* with it, nodes would not have equally many stages, as the engine needs */
        ALD_PLAN_PART_OF_GPU,   /* which the commands for the engine cannot name */
        ALD_PLAN_NO_NAMED_PATH, /* as the next one, but those that were measured have names or addresses that
                                   the commands for the engine cannot have */
        ALD_PLAN_PATHS_UNNAMED, /* the same if there is no plan: it may not be the only cause */
        ALD_PLAN_NO_PATH,       /* to and from the client, or the stages of a ring, that was ever measured */
        ALD_PLAN_NOT_TRIED,     /* as the plan was stopped before */
} AldPlanReason;

/* Of each device of the cluster. */
typedef struct AldPlanVerdict {
        AldPlanReason reason;
        /* Of ALD_PLAN_SAVES_TOO_LITTLE: by how much transfers would grow and layers shrink if it were added
         * to the plan: in the best way; of a ring of many stages, in their order, see ald_plan_make(). NAN if
         * the goal is throughput and several steps are under way, or for ranks or slices of a large plan. */
        double costs_nsec, saves_nsec;
        AldPlanUnnamed unnamed; /* of ALD_PLAN_NO_NAMED_PATH and ALD_PLAN_PATHS_UNNAMED: why */
        uint32_t unnamed_node;  /* whose name or address it is */
} AldPlanVerdict;

/* What ald_plan_goal_nsec() of the best steps would be if the paths to and from a node of the plan were
 * better, and all else as it is. */
typedef struct AldPlanSensitivity {
        uint32_t device;  /* the first one of the node that has a stage */
        double rate_nsec; /* with ten times the rate */
        double rtt_nsec;  /* with a tenth of the round trip */
} AldPlanSensitivity;

#define ALD_PLAN_ALTERNATIVES_MAX 3u

typedef struct AldPlan {
        AldPlanSteps best;                                    /* the least that was found; see lower_nsec */
        AldPlanSteps alternatives[ALD_PLAN_ALTERNATIVES_MAX]; /* with other devices or another client */
        uint32_t n_alternatives;
        bool is_front;   /* the alternatives give more tokens per second, in longer steps */
        bool is_stopped; /* as time was up: not all was tried */
        AldPlanVerdict *verdicts;
        AldPlanSensitivity *sensitivities; /* of each node with a stage whose hops take time */
        uint32_t n_sensitivities;
} AldPlan;

/* Why there is no plan. */
typedef enum AldPlanRefusalKind {
        ALD_PLAN_NO_SUCH_NODE,      /* text: as it was given */
        ALD_PLAN_NO_CLIENT,         /* the engine has none; text: as it was given */
        ALD_PLAN_NO_DEVICE,         /* none can be used at all; the verdicts say why */
        ALD_PLAN_REQUIRED_UNUSABLE, /* text: what must be used, and cannot; NULL: n_devices must be, of which
                                       n_together can be */
        ALD_PLAN_TOO_LITTLE_MEMORY, /* needs_bytes, and what the usable devices have free */
        ALD_PLAN_NO_SPLIT_FOUND,    /* they may have enough, but no order of devices and cut of the layers was
                                       found; needs_bytes and free_bytes as above */
        ALD_PLAN_CLIENT_TOO_SMALL,  /* text: the node that runs the client, or of those that may the one with
                                       the most free memory; needs_bytes and free_bytes are of its host,
                                       ALD_PLAN_ABSENT if it is unknown; or the root of slices */
        ALD_PLAN_DEVICES_LIMITED,   /* there is one with more devices or nodes than the request or the engine
                                       allows, but none was found with as few */
        ALD_PLAN_NODES_UNEVEN,      /* a plan would need more GPUs of one node than of another one */
        ALD_PLAN_VENDORS_DIFFER,    /* a plan would need GPUs of several vendors */
        ALD_PLAN_TOO_MANY_DEVICES,  /* n_devices that could be used, which is more than are planned with */
        ALD_PLAN_NOT_JOINED,        /* they have enough, but no paths join as many as it takes */
        ALD_PLAN_NO_RING_FOUND,     /* the paths may join as many, but no ring was found among n_devices */
        ALD_PLAN_TIME_UP,           /* none was found, and is_late() before the reason was */
        ALD_PLAN_NOT_NAMED,         /* the same, but paths do whose names or addresses the commands for the
                                       engine cannot have */
        ALD_PLAN_CONTEXT_TOO_LONG,  /* that of all requests together, for the engine */
        ALD_PLAN_NO_SPLIT,          /* the engine has none */
        ALD_PLAN_PINNED_TWICE,      /* text: the device */
        ALD_PLAN_PINS_UNEVEN,       /* they are on more GPUs of one node than of another one */
        ALD_PLAN_PINS_DO_NOT_ADD_UP, /* to the layers of the workload, but to pinned_layers */
        ALD_PLAN_PINNED_TOO_MANY,    /* text: the device; needs_bytes and free_bytes are of this device */
} AldPlanRefusalKind;

typedef struct AldPlanRefusal {
        AldPlanRefusalKind kind;
        const char *text;                 /* of the request, or of the cluster; or NULL */
        uint64_t needs_bytes, free_bytes; /* free_bytes: of all usable devices, less what they keep free */
        uint64_t pinned_layers;
        uint32_t n_devices;       /* usable ones */
        uint32_t n_together;      /* of those that must be used, how many can be in one plan */
        AldPlanVerdict *verdicts; /* as in a plan, to be freed with g_free(); NULL: there are none */
} AldPlanRefusal;

/*
 * The work is bounded, to a few seconds for 1000 devices, and so some is less than exact; how much that is
 * depends on the numbers of devices and stages alone.
 * - The best steps: exact unless lower_nsec is less than nsec. With nodes_max it may be if there are more
 * than 16 devices in a ring, or hundreds in a star; and if of devices that compute in the same memory the
 * fastest may use less of it than another one: then either the fastest ones of all nodes are used, or those
 * with the most room.
 *   The same if the engine takes as many GPUs of each node as of the others, where those of a node differ.
 * - Where nodes of several devices must be used, exact for 64 choices of one of each; else the fastest ones
 * are.
 * - Verdicts: exact for stars. For rings in which the stages and one more are more than 16, or fewer if there
 *   are many devices to judge, a device is put where it costs least among the stages in their order. For
 *   slices on more than 128 nodes, it takes the place of a stage. For many more slices, and for ranks if
 *   devices times stages are more than 256, what it costs is not looked for.
 * - Alternatives and sensitivities of rings of more than 16 devices are not exact.
 * - Alternatives: the best without each stage. In stars of more than 128 nodes, with the same client; in
 * rings of more than 16 devices, if these times the stages are more than 256, only without those that have
 * the fewest layers; for slices on more than 128 nodes, only without six stages.
 * - Sensitivities: exact for stars. For such rings, ranks and slices, of the stages as they are, which is the
 *   most that a step would take.
 *
 * The best plan for the goal: deterministic unless is_late() stops it, so that equal input has an equal plan.
 * Fails with -EINVAL and the problem, or with -ECANCELED and nothing if the request gives it up. The cluster
 * and the request must outlive the plan.
 */
int ald_plan_make(const AldPlanCluster *cluster, const AldPlanRequest *request, AldPlan **ret,
        AldPlanRefusal *ret_refusal);
void ald_plan_free(AldPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPlan, ald_plan_free)
