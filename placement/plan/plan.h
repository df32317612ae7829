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
        const AldPlanLayerSizes *sizes; /* of the workload; NULL if its layers are alike */
        const char *const *required; /* devices as "node/device" that must get a layer, or nodes of which one
                                        must; NULL if none */
        const char *const *without;  /* devices or nodes that must not get any; NULL if none */
        const char *client; /* the node that runs the client of the engine; NULL: the best node with a usable
                               device */
        uint32_t devices_max; /* most that may be used; 0: all */
        uint32_t nodes_max;   /* most nodes whose devices may be used; 0: all */
        AldPlanOptionsGoal goal;
        const AldPlanPin *pins; /* the devices that get layers, and how many; NULL: to be found */
        uint32_t n_pins;
        /* Figures of paths between nodes without a measured path; NAN if such nodes are not joined. */
        double assumed_rtt_nsec, assumed_bits_per_second;
        AldPlanConstants constants;
        /* Called often, by the thread that makes the plan, with a fraction from 0 to 1 that never falls;
         * returning false gives the plan up. May be NULL. */
        bool (*proceed)(double fraction, void *userdata);
        /* Called as often once there is a plan, or while the reason for having none is sought; returning true
         * ends the work with the best plan so far, or with ALD_PLAN_TIME_UP. May be NULL. */
        bool (*is_late)(void *userdata);
        void *userdata;
} AldPlanRequest;

/* The stages of a plan in the order of the layers. */
typedef struct AldPlanStage {
        uint32_t device; /* index in the cluster */
        uint32_t first_layer, layers;
        uint32_t slices; /* number of slices of each layer, of which the stage has one; 0 or 1: layers are
                            whole */
        bool has_head;  /* it has the head: in a ring, the last stage; in a star, any stage, even the first if
                           that is the client's processor, whose layers come first */
        uint64_t bytes; /* that it needs: the sum of the next four, which are 0 for slices, of which only the
                           sum is known */
        uint64_t weight_bytes, kv_bytes, buffer_bytes, reserved_bytes;
        double nsec;     /* of its layers, and of the head */
        double hop_nsec; /* star: to its node and back, and the server's time, or from the previous stage on
                            the same node; 0 on the node of the client. Ring: to the next stage, or of tokens
                            from the last stage to the first. Slices: its share if the others were not slower
                          */
        uint32_t path_to, path_from; /* star and slices: from the client and back; ring: path_to leads to the
                                        next stage. Index in the cluster, or ALD_PLAN_NONE within a node or
                                        for an assumed path */
        double bytes_to, bytes_from; /* that pass on these paths in a step */
        double nsec_to, nsec_from;   /* time of these transfers */
        bool is_computing;           /* computing its layers takes longer than reading them */
} AldPlanStage;

typedef struct AldPlanSteps {
        AldPlanStage *stages;
        uint32_t n_stages;
        uint32_t client;      /* index of a node; ALD_PLAN_NONE if the engine has no client */
        double nsec;          /* of a step */
        uint32_t in_flight;   /* steps under way at once, among which the requests are divided */
        double hops_nsec;     /* the part of nsec that transfers take */
        double busiest_nsec;  /* of the stage, or the path of a ring, that a step occupies longest */
        double interval_nsec; /* time in which each request gets a token: nsec, or in_flight times
                                 busiest_nsec */
        double lower_nsec; /* lower bound on interval_nsec of any plan; if equal, the plan is proven to be the
                              best */
} AldPlanSteps;

void ald_plan_steps_clear(AldPlanSteps *steps);

/* Returns the time that the goal minimizes: interval_nsec for throughput, else nsec. */
double ald_plan_goal_nsec(const AldPlanSteps *steps, AldPlanOptionsGoal goal);

/* Returns the number of steps that are under way in that time. */
uint32_t ald_plan_steps_in_flight(const AldPlanSteps *steps, AldPlanOptionsGoal goal);

/* Returns the rate of tokens of all requests together; NAN if there are no layers. */
double ald_plan_tokens_per_second(const AldPlanWorkload *workload, const AldPlanSteps *steps);

typedef enum AldPlanReason {
        ALD_PLAN_TAKEN,
        ALD_PLAN_SAVES_TOO_LITTLE, /* see costs_nsec and saves_nsec */
        ALD_PLAN_UNUSABLE,         /* see AldPlanNode */
        ALD_PLAN_EXCLUDED,         /* excluded by the request */
        ALD_PLAN_NOT_FOR_ENGINE,   /* the engine does not use processors, or GPUs */
        ALD_PLAN_SHARES_MEMORY, /* with a device of its node that is faster, or required, or may use more of
                                   that memory if the model fits only then */
        ALD_PLAN_MEMORY_UNKNOWN,
        ALD_PLAN_DISBELIEVED, /* other measurements contradict a figure */
        ALD_PLAN_BANDWIDTH_UNMEASURED,
        ALD_PLAN_COMPUTE_UNMEASURED,
        ALD_PLAN_MEMORY_TOO_SMALL, /* its memory is too small for one layer */
        ALD_PLAN_OTHER_VENDOR,     /* than the GPUs of the plan, for an engine that needs a single vendor */
        ALD_PLAN_NO_ROOM, /* for a layer beside what else it would hold, or no layer is left for it */
        ALD_PLAN_BEYOND_DEVICES_MAX, /* the others are needed for their memory */
        ALD_PLAN_UNEVEN,        /* nodes would not have equally many stages with it, as the engine needs */
        ALD_PLAN_PART_OF_GPU,   /* a part of a GPU, which the commands for the engine cannot name */
        ALD_PLAN_NO_NAMED_PATH, /* as ALD_PLAN_NO_PATH, but there are measured paths whose names or addresses
                                   the commands for the engine cannot contain */
        ALD_PLAN_PATHS_UNNAMED, /* the same if there is no plan; it may not be the only cause */
        ALD_PLAN_NO_PATH,   /* no path to and from the client, or the stages of a ring, was ever measured */
        ALD_PLAN_NOT_TRIED, /* the plan was stopped before */
} AldPlanReason;

/* The verdict on a device of the cluster. */
typedef struct AldPlanVerdict {
        AldPlanReason reason;
        /* For ALD_PLAN_SAVES_TOO_LITTLE: how much longer transfers and how much shorter layers would take if
         * the device were added to the plan in the best way; to a ring of many stages, in their order, see
         * placement/search/plan-make.h. NAN if the goal is throughput and several steps are under way, or for
         * ranks or slices of a large plan. */
        double costs_nsec, saves_nsec;
        AldPlanUnnamed unnamed; /* cause of ALD_PLAN_NO_NAMED_PATH and ALD_PLAN_PATHS_UNNAMED */
        uint32_t unnamed_node;  /* the node whose name or address is the cause */
} AldPlanVerdict;

/* ald_plan_goal_nsec() of the best steps if the paths to and from a node of the plan were better, and all
 * else the same. */
typedef struct AldPlanSensitivity {
        uint32_t device;  /* the first device of the node that has a stage */
        double rate_nsec; /* time with ten times the rate */
        double rtt_nsec;  /* time with a tenth of the round trip */
} AldPlanSensitivity;

#define ALD_PLAN_ALTERNATIVES_MAX 3u

typedef struct AldPlan {
        AldPlanSteps best;                                    /* the best that was found; see lower_nsec */
        AldPlanSteps alternatives[ALD_PLAN_ALTERNATIVES_MAX]; /* plans with other devices or another client */
        uint32_t n_alternatives;
        bool is_front;   /* the alternatives yield more tokens per second, with longer steps */
        bool is_stopped; /* time was up before everything was tried */
        AldPlanVerdict *verdicts;
        AldPlanSensitivity *sensitivities; /* one for each node with a stage whose hops take time */
        uint32_t n_sensitivities;
} AldPlan;

/* The reason why there is no plan. */
typedef enum AldPlanRefusalKind {
        ALD_PLAN_NO_SUCH_NODE,      /* text: the name as given */
        ALD_PLAN_NO_CLIENT,         /* the engine has no client; text: the name as given */
        ALD_PLAN_NO_DEVICE,         /* no device can be used; the verdicts contain the reasons */
        ALD_PLAN_REQUIRED_UNUSABLE, /* text: the required node or device that cannot be used; NULL: of
                                       n_devices that are required, only n_together can be used together */
        ALD_PLAN_TOO_LITTLE_MEMORY, /* see needs_bytes and free_bytes, which is that of the usable devices */
        ALD_PLAN_NO_SPLIT_FOUND,    /* memory may suffice, but no order of devices and cut of the layers was
                                       found; needs_bytes and free_bytes as above */
        ALD_PLAN_CLIENT_TOO_SMALL,  /* text: the node of the client or the root of slices, or of the possible
                                       nodes the one with the most free memory; needs_bytes and free_bytes are
                                       those of its host, ALD_PLAN_ABSENT if unknown */
        ALD_PLAN_DEVICES_LIMITED,   /* a plan exists with more devices or nodes than the request or the engine
                                       allows, but none was found within the limit */
        ALD_PLAN_NODES_UNEVEN,      /* a plan would need more GPUs of one node than of another */
        ALD_PLAN_VENDORS_DIFFER,    /* a plan would need GPUs of several vendors */
        ALD_PLAN_TOO_MANY_DEVICES,  /* n_devices could be used, which is more than a plan is made with */
        ALD_PLAN_NOT_JOINED,        /* memory suffices, but no paths join enough devices */
        ALD_PLAN_NO_RING_FOUND, /* the paths may join enough devices, but no ring was found among n_devices */
        ALD_PLAN_TIME_UP,       /* no plan was found, and time was up before the reason was */
        ALD_PLAN_NOT_NAMED, /* as ALD_PLAN_NOT_JOINED, but paths exist whose names or addresses the commands
                               for the engine cannot contain */
        ALD_PLAN_CONTEXT_TOO_LONG,   /* the context of all requests together exceeds that of the engine */
        ALD_PLAN_NO_SPLIT,           /* the engine does not split layers */
        ALD_PLAN_PINNED_TWICE,       /* text: the device */
        ALD_PLAN_PINS_UNEVEN,        /* more GPUs of one node are pinned than of another */
        ALD_PLAN_PINS_DO_NOT_ADD_UP, /* the sum is pinned_layers instead of the layers of the workload */
        ALD_PLAN_PINNED_TOO_MANY, /* text: the device; needs_bytes and free_bytes are those of this device */
} AldPlanRefusalKind;

typedef struct AldPlanRefusal {
        AldPlanRefusalKind kind;
        const char *text; /* of the request, or of the cluster; or NULL */
        /* free_bytes: of all usable devices, less what is reserved on them. */
        uint64_t needs_bytes, free_bytes;
        uint64_t pinned_layers;
        uint32_t n_devices;       /* usable ones */
        uint32_t n_together;      /* required devices that can be in one plan */
        AldPlanVerdict *verdicts; /* as in a plan, free with g_free(); NULL if there are none */
} AldPlanRefusal;

void ald_plan_free(AldPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AldPlan, ald_plan_free)
