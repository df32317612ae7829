/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "placement/plan/method.h"
#include "placement/plan/model-files.h"
#include "placement/report/engine-builds.h"
#include "placement/report/export-limits.h"
#include "placement/report/loading.h"
#include "placement/report/plan-description.h"
#include "placement/report/sentences.h"

#define TERA 1e12

/* A report in the making, and what it describes. */
typedef struct Account {
        const AldPlanCluster *cluster;
        const AldPlanRequest *request;
        AldPlanReport *report;
} Account;

static const char *const problems[] = {
        [ALD_PLAN_NO_DEVICE] = "no-device",
        [ALD_PLAN_REQUIRED_UNUSABLE] = "required-unusable",
        [ALD_PLAN_TOO_LITTLE_MEMORY] = "too-little-memory",
        [ALD_PLAN_NO_SPLIT_FOUND] = "no-split-found",
        [ALD_PLAN_CLIENT_TOO_SMALL] = "too-little-memory",
        [ALD_PLAN_DEVICES_LIMITED] = "devices-limited",
        [ALD_PLAN_NODES_UNEVEN] = "nodes-uneven",
        [ALD_PLAN_PINS_UNEVEN] = "nodes-uneven",
        [ALD_PLAN_VENDORS_DIFFER] = "vendors-differ",
        [ALD_PLAN_TOO_MANY_DEVICES] = "too-many-devices",
        [ALD_PLAN_NOT_JOINED] = "not-joined",
        [ALD_PLAN_NO_RING_FOUND] = "no-ring-found",
        [ALD_PLAN_TIME_UP] = "time-up",
        [ALD_PLAN_NOT_NAMED] = "not-joined",
        [ALD_PLAN_CONTEXT_TOO_LONG] = "context-too-long",
        [ALD_PLAN_PINS_DO_NOT_ADD_UP] = "split-sum",
        [ALD_PLAN_PINNED_TOO_MANY] = "split-memory",
};

static const char *const reasons[] = {
        [ALD_PLAN_SAVES_TOO_LITTLE] = "saves-too-little",
        [ALD_PLAN_UNUSABLE] = "unusable",
        [ALD_PLAN_EXCLUDED] = "excluded",
        [ALD_PLAN_NOT_FOR_ENGINE] = "not-for-engine",
        [ALD_PLAN_SHARES_MEMORY] = "shares-memory",
        [ALD_PLAN_MEMORY_UNKNOWN] = "memory-unknown",
        [ALD_PLAN_DISBELIEVED] = "figures-disbelieved",
        [ALD_PLAN_BANDWIDTH_UNMEASURED] = "bandwidth-unmeasured",
        [ALD_PLAN_COMPUTE_UNMEASURED] = "compute-unmeasured",
        [ALD_PLAN_MEMORY_TOO_SMALL] = "memory-too-small",
        [ALD_PLAN_OTHER_VENDOR] = "other-vendor",
        [ALD_PLAN_NO_ROOM] = "no-room",
        [ALD_PLAN_BEYOND_DEVICES_MAX] = "beyond-limit",
        [ALD_PLAN_UNEVEN] = "uneven",
        [ALD_PLAN_PART_OF_GPU] = "part-of-gpu",
        [ALD_PLAN_NO_NAMED_PATH] = "no-path",
        [ALD_PLAN_PATHS_UNNAMED] = "no-path",
        [ALD_PLAN_NO_PATH] = "no-path",
        [ALD_PLAN_NOT_TRIED] = "not-tried",
};

static uint64_t to_whole(double value)
{
        return value <= (double) ALD_INTEGER_MAX ? (uint64_t) llround(fmax(value, 0)) : ALD_ABSENT_UINT64;
}

static uint64_t whole_bytes(uint64_t value)
{
        return value <= (uint64_t) ALD_INTEGER_MAX ? value : ALD_ABSENT_UINT64;
}

static int64_t to_whole_signed(double value)
{
        return fabs(value) <= (double) ALD_INTEGER_MAX ? llround(value) : ALD_ABSENT_INT64;
}

static const char *keep_text(AldPlanReport *report, char *text)
{
        if (text)
                g_ptr_array_add(report->owned, text);
        return text;
}

static const char *copy_text(AldPlanReport *report, const char *text)
{
        return keep_text(report, g_strdup(text));
}

static const char *const *copy_list(AldPlanReport *report, const char *const *list)
{
        size_t n = list ? g_strv_length((char **) list) : 0;
        const char **copied;

        if (n == 0)
                return NULL;
        copied = g_new0(const char *, n + 1);
        g_ptr_array_add(report->owned, copied);
        for (size_t i = 0; i < n; i++)
                copied[i] = copy_text(report, list[i]);
        return copied;
}

static void note_time(AldPlanReport *report, uint64_t usec)
{
        if (usec != ALD_ABSENT_UINT64 && usec != 0)
                report->plan.oldest_usec = MIN(report->plan.oldest_usec, usec);
}

/* Notes the time of the client's free memory, which it needs even if no stage is on its processor. */
static void note_host_of_client(const Account *account, uint32_t client)
{
        const AldPlanCluster *cluster = account->cluster;

        for (uint32_t i = 0; i < cluster->n_devices; i++)
                if (cluster->devices[i].node == client && cluster->devices[i].is_processor)
                        note_time(account->report, cluster->devices[i].free_usec);
}

static void set_figures(const Account *account, const AldPlanDevice *device, AldPlanStageRow *row)
{
        const AldComputeDevice *measured = device->measured;

        row->memory_bytes_per_second = to_whole(device->bytes_per_second);
        row->tflops = device->flops / TERA;
        row->total_bytes = device->total_bytes;
        row->free_bytes = device->free_bytes;
        row->free_usec = device->free_usec;
        row->free_assumed = device->is_free_assumed ? true : ALD_ABSENT_BOOLEAN;
        if (!measured)
                return;
        row->measured_usec = measured->measured_usec;
        row->flags = copy_list(account->report, measured->flags);
}

static const AldPlanMethod *method_of(const Account *account)
{
        return account->request->engine->method;
}

static void add_stage(const Account *account, const AldPlanStage *stage, uint32_t alternative)
{
        const AldPlanDevice *device = &account->cluster->devices[stage->device];
        const AldPlanNode *node = &account->cluster->nodes[device->node];
        AldPlanReport *report = account->report;
        AldPlanStageRow row = ALD_PLAN_STAGE_ROW_INIT;

        row.alternative = alternative;
        row.node = copy_text(report, node->id);
        row.node_name = copy_text(report, node->name);
        row.host_name = copy_text(report, node->host_name);
        row.device = copy_text(report, device->id);
        row.device_name = copy_text(report, device->name);
        row.vendor = copy_text(report, device->vendor);
        row.hop_nsec = to_whole(stage->hop_nsec);
        if (!method_of(account)->has_layers) {
                g_array_append_val(report->stages, row);
                return;
        }
        row.first_layer = stage->first_layer;
        row.layers = stage->layers;
        row.has_head = stage->has_head;
        row.needs_bytes = whole_bytes(stage->bytes);
        if (stage->weight_bytes > 0) {
                row.weight_bytes = stage->weight_bytes;
                row.kv_bytes = stage->kv_bytes;
                row.buffer_bytes = stage->buffer_bytes;
                row.reserved_bytes = stage->reserved_bytes;
        }
        row.nsec = to_whole(stage->nsec);
        row.limiter = stage->is_computing ? "compute" : "memory";
        if (stage->slices > 1)
                row.slices = stage->slices;
        set_figures(account, device, &row);
        if (alternative == 0) {
                note_time(report, row.free_usec);
                note_time(report, row.measured_usec);
        }
        g_array_append_val(report->stages, row);
}

/* One direction of a stage's transfers. */
typedef struct Transfer {
        uint32_t alternative, stage, source, sink, path;
        double bytes, nsec;
        const char *payload; /* NULL if there are several things */
} Transfer;

static void set_path(const Account *account, const AldPlanPath *path, AldPlanHopRow *row)
{
        const AldEdgeRow *edge = path->edge;
        AldPlanReport *report = account->report;

        row->kind = path->is_rdma ? "rdma" : "socket";
        row->rtt_nsec = to_whole(path->rtt_nsec);
        row->bits_per_second = to_whole(path->bits_per_second);
        row->source_address = copy_text(report, path->source_address);
        row->sink_address = copy_text(report, path->sink_address);
        if (path->disputed_bits_per_second > 0)
                row->disputed_bits_per_second = to_whole(path->disputed_bits_per_second);
        row->text = keep_text(report, ald_plan_path_sentence(path));
        if (!edge)
                return;
        row->source_port = copy_text(report, edge->source_port);
        row->sink_port = copy_text(report, edge->sink_port);
        row->measured_usec = edge->measured_usec;
        row->rtt_measured_usec = edge->rtt_measured_usec == ALD_ABSENT_UINT64 ? edge->measured_usec
                                                                              : edge->rtt_measured_usec;
        row->prober = copy_text(report, edge->prober);
}

static void add_hop(const Account *account, const Transfer *transfer)
{
        const AldPlanNode *source = &account->cluster->nodes[transfer->source];
        const AldPlanNode *sink = &account->cluster->nodes[transfer->sink];
        const AldPlanRequest *request = account->request;
        AldPlanReport *report = account->report;
        AldPlanHopRow row = ALD_PLAN_HOP_ROW_INIT;

        row.alternative = transfer->alternative;
        row.stage = transfer->stage;
        row.source = copy_text(report, source->id);
        row.source_name = copy_text(report, source->name);
        row.sink = copy_text(report, sink->id);
        row.sink_name = copy_text(report, sink->name);
        row.payload = copy_text(report, transfer->payload);
        /* Without the size of the vocabulary, the size of the result that passes back is unknown, and is not
         * charged. */
        if (g_strcmp0(transfer->payload, "logits") != 0 || request->workload->vocabulary > 0)
                row.bytes = to_whole(transfer->bytes);
        row.nsec = to_whole(transfer->nsec);
        if (transfer->source == transfer->sink) {
                row.kind = "inner";
        } else if (transfer->path != ALD_PLAN_NONE) {
                set_path(account, &account->cluster->paths[transfer->path], &row);
        } else {
                row.kind = "assumed";
                row.rtt_nsec = to_whole(request->assumed_rtt_nsec);
                row.bits_per_second = to_whole(request->assumed_bits_per_second);
        }
        if (transfer->alternative == 0) {
                note_time(report, row.measured_usec);
                note_time(report, row.rtt_measured_usec);
                report->plan.unmeasured += transfer->source != transfer->sink &&
                                           transfer->path == ALD_PLAN_NONE;
        }
        g_array_append_val(report->hops, row);
}

static uint32_t node_of(const Account *account, const AldPlanStage *stage)
{
        return account->cluster->devices[stage->device].node;
}

/* Returns the payload of the hop by which a step leaves the stage. */
static const char *result_of(const Account *account, const AldPlanStage *stage)
{
        const AldPlanMethod *method = method_of(account);

        return stage->has_head && method->result ? method->result : method->payload;
}

static void add_client_hops(
        const Account *account, const AldPlanSteps *steps, uint32_t index, uint32_t alternative)
{
        const AldPlanStage *stage = &steps->stages[index];
        const uint32_t node = node_of(account, stage);
        const char *forth = method_of(account)->payload;
        const Transfer to = { alternative, index, steps->client, node, stage->path_to, stage->bytes_to,
                stage->nsec_to, forth };
        const Transfer from = { alternative, index, node, steps->client, stage->path_from, stage->bytes_from,
                stage->nsec_from, result_of(account, stage) };
        const Transfer inner = { alternative, index, node, node, ALD_PLAN_NONE, stage->bytes_to,
                stage->nsec_to, forth };

        if (node == steps->client)
                return;
        if (index > 0 && node_of(account, stage - 1) == node) {
                add_hop(account, &inner);
                return;
        }
        add_hop(account, &to);
        add_hop(account, &from);
}

static void add_ring_hop(
        const Account *account, const AldPlanSteps *steps, uint32_t index, uint32_t alternative)
{
        const AldPlanStage *stage = &steps->stages[index];
        const AldPlanStage *next = &steps->stages[(index + 1) % steps->n_stages];
        const Transfer to = { alternative, index, node_of(account, stage), node_of(account, next),
                stage->path_to, stage->bytes_to, stage->nsec_to, result_of(account, stage) };

        if (steps->n_stages > 1)
                add_hop(account, &to);
}

static void add_steps(const Account *account, const AldPlanSteps *steps, uint32_t alternative)
{
        for (uint32_t i = 0; i < steps->n_stages; i++) {
                add_stage(account, &steps->stages[i], alternative);
                if (steps->client != ALD_PLAN_NONE)
                        add_client_hops(account, steps, i, alternative);
                else
                        add_ring_hop(account, steps, i, alternative);
        }
}

/* Returns the rate of tokens; an all-reduce has none, even if layers were stated. */
static double tokens_per_second(const Account *account, const AldPlanSteps *steps)
{
        return method_of(account)->has_layers ? ald_plan_tokens_per_second(account->request->workload, steps)
                                              : ALD_ABSENT_DOUBLE;
}

static void add_alternative(const Account *account, const AldPlanSteps *steps, uint32_t number, bool is_front)
{
        AldPlanAlternativeRow row = ALD_PLAN_ALTERNATIVE_ROW_INIT;

        row.number = number;
        row.step_nsec = to_whole(steps->nsec);
        row.steps_in_flight = steps->in_flight;
        row.busiest_nsec = to_whole(steps->busiest_nsec);
        row.tokens_per_second = tokens_per_second(account, steps);
        row.front = is_front;
        if (steps->client != ALD_PLAN_NONE) {
                row.client = copy_text(account->report, account->cluster->nodes[steps->client].id);
                row.client_name = copy_text(account->report, account->cluster->nodes[steps->client].name);
        }
        g_array_append_val(account->report->alternatives, row);
        add_steps(account, steps, number);
}

static void set_node(AldPlanReport *report, const AldPlanNode *node, AldPlanLeftOutRow *row)
{
        row->node = copy_text(report, node->id);
        row->node_name = copy_text(report, node->name);
}

static void add_left_out(const Account *account, uint32_t device, const AldPlanVerdict *verdict)
{
        const AldPlanDevice *of = &account->cluster->devices[device];
        AldPlanLeftOutRow row = ALD_PLAN_LEFT_OUT_ROW_INIT;

        set_node(account->report, &account->cluster->nodes[of->node], &row);
        row.device = copy_text(account->report, of->id);
        row.device_name = copy_text(account->report, of->name);
        row.vendor = copy_text(account->report, of->vendor);
        row.reason = reasons[verdict->reason];
        row.text = keep_text(account->report,
                ald_plan_verdict_sentence(account->cluster, account->request, device, verdict));
        if (verdict->reason == ALD_PLAN_SAVES_TOO_LITTLE) {
                row.costs_nsec = to_whole_signed(verdict->costs_nsec);
                row.saves_nsec = to_whole_signed(verdict->saves_nsec);
        }
        g_array_append_val(account->report->left_out, row);
}

static void add_empty_nodes(const Account *account)
{
        const AldPlanCluster *cluster = account->cluster;
        g_autofree bool *has_device = g_new0(bool, cluster->n_nodes);

        for (uint32_t i = 0; i < cluster->n_devices; i++)
                has_device[cluster->devices[i].node] = true;
        for (uint32_t i = 0; i < cluster->n_nodes; i++) {
                AldPlanLeftOutRow row = ALD_PLAN_LEFT_OUT_ROW_INIT;

                if (has_device[i])
                        continue;
                set_node(account->report, &cluster->nodes[i], &row);
                row.reason = cluster->nodes[i].unusable ? "unusable" : "no-device";
                row.text = keep_text(account->report, ald_plan_empty_node_sentence(&cluster->nodes[i]));
                g_array_append_val(account->report->left_out, row);
        }
}

static void add_all_left_out(const Account *account, const AldPlanVerdict *verdicts)
{
        for (uint32_t i = 0; verdicts && i < account->cluster->n_devices; i++)
                if (verdicts[i].reason != ALD_PLAN_TAKEN)
                        add_left_out(account, i, &verdicts[i]);
        add_empty_nodes(account);
}

static void add_sensitivity(
        const Account *account, const AldPlan *plan, const AldPlanSensitivity *sensitivity, bool is_rate)
{
        const AldPlanNode *node =
                &account->cluster->nodes[account->cluster->devices[sensitivity->device].node];
        const double nsec = is_rate ? sensitivity->rate_nsec : sensitivity->rtt_nsec;
        AldPlanSensitivityRow row = ALD_PLAN_SENSITIVITY_ROW_INIT;

        row.node = copy_text(account->report, node->id);
        row.node_name = copy_text(account->report, node->name);
        row.change = is_rate ? "rate" : "rtt";
        row.step_nsec = to_whole(nsec);
        row.text = keep_text(
                account->report, ald_plan_sensitivity_sentence(node, account->request, is_rate,
                                         ald_plan_goal_nsec(&plan->best, account->request->goal), nsec));
        g_array_append_val(account->report->sensitivities, row);
}

static void add_constants(const Account *account, const AldPlanOptions *options)
{
        for (AldPlanConstant i = 0; i < ALD_PLAN_N_CONSTANTS; i++) {
                AldPlanConstantRow row = ALD_PLAN_CONSTANT_ROW_INIT;

                if (isnan(account->request->constants.values[i]))
                        continue;
                row.name = ald_plan_constants[i].name;
                row.value = account->request->constants.values[i];
                row.source = ald_plan_constant_is_given(options, i) ? "options"
                                                                    : ald_plan_constants[i].source;
                g_array_append_val(account->report->constants, row);
        }
}

/* Returns whether a path from one stage's node to that of another was measured, at [from * n_stages + to]; to
 * be freed. */
static bool *list_measured(const Account *account, const AldPlanSteps *steps)
{
        const AldPlanCluster *cluster = account->cluster;
        g_autofree uint32_t *stages = g_new(uint32_t, cluster->n_nodes);
        bool *measured = g_new0(bool, (size_t) steps->n_stages * steps->n_stages);

        for (uint32_t i = 0; i < cluster->n_nodes; i++)
                stages[i] = ALD_PLAN_NONE;
        for (uint32_t i = 0; i < steps->n_stages; i++)
                stages[node_of(account, &steps->stages[i])] = i;
        for (uint32_t i = 0; i < cluster->n_paths; i++) {
                const AldPlanPath *path = &cluster->paths[i];
                uint32_t from = stages[path->source], to = stages[path->sink];

                if (from != ALD_PLAN_NONE && to != ALD_PLAN_NONE && !path->is_rdma)
                        measured[(size_t) from * steps->n_stages + to] = true;
        }
        return measured;
}

/* Returns how many paths are assumed if all stages use paths to each other, since hops only list those of the
 * client; else 0. */
static uint64_t count_assumed(const Account *account, const AldPlanSteps *steps)
{
        g_autofree bool *measured = NULL;
        uint64_t n = 0;

        if (!method_of(account)->has_layers || method_of(account)->spreads_layers)
                return 0;
        measured = list_measured(account, steps);
        for (uint32_t i = 0; i < steps->n_stages; i++)
                for (uint32_t j = 0; j < steps->n_stages; j++)
                        n += i != j && !measured[(size_t) i * steps->n_stages + j];
        return n;
}

static void set_plan(const Account *account, const AldPlan *plan)
{
        AldPlanRow *row = &account->report->plan;

        row->step_nsec = to_whole(plan->best.nsec);
        row->steps_in_flight = plan->best.in_flight;
        row->busiest_nsec = to_whole(plan->best.busiest_nsec);
        row->lower_nsec = to_whole(plan->best.lower_nsec);
        row->tokens_per_second = tokens_per_second(account, &plan->best);
        if (plan->best.client != ALD_PLAN_NONE) {
                row->client = copy_text(account->report, account->cluster->nodes[plan->best.client].id);
                row->client_name = copy_text(
                        account->report, account->cluster->nodes[plan->best.client].name);
                note_host_of_client(account, plan->best.client);
        }
        row->unmeasured = 0;
        add_steps(account, &plan->best, 0);
        row->unmeasured = MAX(row->unmeasured, count_assumed(account, &plan->best));
        if (row->unmeasured == 0)
                row->unmeasured = ALD_ABSENT_UINT64;
        for (uint32_t i = 0; i < plan->n_alternatives; i++)
                add_alternative(account, &plan->alternatives[i], i + 1, plan->is_front);
        for (uint32_t i = 0; i < plan->n_sensitivities; i++) {
                add_sensitivity(account, plan, &plan->sensitivities[i], true);
                add_sensitivity(account, plan, &plan->sensitivities[i], false);
        }
}

/* Returns whether results of an unknown size pass to the client. */
static bool lacks_vocabulary(const Account *account, const AldPlanSteps *best)
{
        if (!method_of(account)->is_client_apart || account->request->workload->vocabulary > 0)
                return false;
        for (uint32_t i = 0; i < best->n_stages; i++)
                if (best->stages[i].has_head && node_of(account, &best->stages[i]) != best->client)
                        return true;
        return false;
}

/* Adds the notes about a plan, or about a plan that could not be made. */
static void add_notes(const Account *account, const AldPlan *plan, const AldPlanRefusal *refusal)
{
        const AldPlanRequest *request = account->request;
        const char *text;
        char *limits = plan ? ald_plan_export_limits_sentence(account->cluster, request, &plan->best) : NULL;
        char *loading = plan ? ald_plan_loading_sentence(account->cluster, request, &plan->best) : NULL;
        char *other;

        if (ald_plan_engine_reading(request->engine, request->workload, &text) != ALD_MODEL_READ)
                ald_plan_report_add_note(account->report, g_strconcat(text, ".", NULL));
        if (plan && plan->is_stopped)
                ald_plan_report_add_note(account->report, g_strdup("Time was up: this is the best plan that "
                                                                   "was found until then, and not all was "
                                                                   "tried."));
        if (plan && lacks_vocabulary(account, &plan->best))
                ald_plan_report_add_note(
                        account->report, g_strdup("The size of the vocabulary is not known, so that "
                                                  "the results which pass to the client count as "
                                                  "nothing but the delay of their path."));
        other = plan ? ald_plan_builds_sentence(account->cluster, request, &plan->best)
                     : ald_plan_more_devices_sentence(account->cluster, request, refusal);
        if (other)
                ald_plan_report_add_note(account->report, other);
        if (limits)
                ald_plan_report_add_note(account->report, limits);
        if (loading)
                ald_plan_report_add_note(account->report, loading);
}

static void set_problem(const Account *account, const AldPlanRefusal *refusal)
{
        AldPlanRow *row = &account->report->plan;

        row->problem = problems[refusal->kind];
        row->text = keep_text(
                account->report, ald_plan_refusal_sentence(account->cluster, account->request, refusal));
        if (refusal->kind != ALD_PLAN_TOO_LITTLE_MEMORY && refusal->kind != ALD_PLAN_NO_SPLIT_FOUND &&
                refusal->kind != ALD_PLAN_CLIENT_TOO_SMALL && refusal->kind != ALD_PLAN_PINNED_TOO_MANY)
                return;
        row->needs_bytes = whole_bytes(refusal->needs_bytes);
        row->free_bytes = whole_bytes(refusal->free_bytes);
}

bool ald_plan_is_reported(const AldPlanRefusal *refusal)
{
        return refusal->kind < G_N_ELEMENTS(problems) && problems[refusal->kind];
}

AldPlanReport *ald_plan_describe(const AldPlanCluster *cluster, const AldPlanRequest *request,
        const AldPlanOptions *options, uint64_t revision, const AldPlan *plan, const AldPlanRefusal *refusal)
{
        AldPlanReport *report = ald_plan_report_new();
        const Account account = { cluster, request, report };

        report->plan.engine = request->engine->name;
        report->plan.layers = request->workload->layers;
        report->plan.draft_layers = request->workload->draft_layers;
        report->plan.parallel = request->workload->parallel;
        report->plan.context = request->workload->context;
        report->plan.kv_type_k = copy_text(report, request->workload->kv_type_k);
        report->plan.kv_type_v = copy_text(report, request->workload->kv_type_v);
        report->plan.revision = revision;
        if (plan)
                set_plan(&account, plan);
        else
                set_problem(&account, refusal);
        add_notes(&account, plan, refusal);
        add_all_left_out(&account, plan ? plan->verdicts : refusal->verdicts);
        add_constants(&account, options);
        return report;
}
