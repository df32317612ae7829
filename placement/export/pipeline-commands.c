/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "placement/export/export-header.h"
#include "placement/export/memory-share.h"
#include "placement/export/plan-formats.h"
#include "placement/export/ring-nodes.h"
#include "placement/plan/export-words.h"

/*
 * Commands for vLLM, SGLang and torchrun: one for each node, whose rank is its place in the ring. Ranks fill
 * the nodes in that order (get_pp_indices() of vllm/distributed/utils.py, _calculate_rank_ranges() of
 * SGLang).
 */
#define SGLANG_PORT 5000u
#define TORCH_PORT 29500u
#define MODEL "<PATH/TO/MODEL>"
#define PROGRAM "<PATH/TO/PROGRAM.py>"

typedef struct Pipeline {
        const AldExportPlan *plan;
        const GArray *nodes; /* AldRingNode */
        const char *master;  /* NULL for one node */
} Pipeline;

typedef void (*AppendNotes)(GString *out, const Pipeline *pipeline);
typedef int (*AppendCommand)(GString *out, const Pipeline *pipeline, guint rank, char **ret_reason);

typedef struct PipelineFormat {
        const char *name;
        AppendNotes append_notes; /* notes on all commands; NULL if there are none */
        AppendCommand append;
} PipelineFormat;

static const AldRingNode *node_at(const Pipeline *pipeline, guint rank)
{
        return &g_array_index(pipeline->nodes, AldRingNode, rank);
}

static void append_partition(GString *out, const AldExportPlan *plan, const char *name)
{
        g_autoptr(GString) layers = g_string_new(NULL);

        for (guint i = 0; i < plan->n_stages; i++)
                g_string_append_printf(layers, "%s%" PRIu64, i > 0 ? "," : "", plan->stages[i].layers);
        ald_export_append_variable(out, name, layers->str);
}

static void append_limit(GString *out, const char *option, uint64_t value)
{
        if (value != ALD_ABSENT_UINT64 && value > 0)
                g_string_append_printf(out, " %s %" PRIu64, option, value);
}

static void append_share(GString *out, const char *option, double share)
{
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        if (!isnan(share))
                g_string_append_printf(
                        out, " %s %s", option, g_ascii_formatd(text, sizeof text, "%.6g", share));
}

/* Appends the type of keys and values. Both programs use that of the model, which has 16 bits: the other type
 * of 16 bits is refused, or misread by some versions of vLLM. */
static void append_kv_type(GString *out, const AldPlanRow *plan)
{
        if (plan->kv_type_k || plan->kv_type_v)
                g_string_append(out, " --kv-cache-dtype auto");
}

static double share_of_total(const AldRingNode *node)
{
        return ald_export_share_of_total(node->stage, node->n_stages);
}

/* Appends a warning that nobody has tried these commands yet. */
static void append_never_run(GString *out, const char *engine)
{
        g_string_append_printf(out,
                "# The options are those of the documentation of %s; such commands were never run with it.\n",
                engine);
}

/* Appends the bounds of the share of GPUs whose total memory is unknown, so that a reader can look it up and
 * divide. */
static void append_bounds(GString *out, const AldRingNode *node)
{
        for (guint i = 0; i < node->n_stages; i++) {
                const AldPlanStageRow *stage = &node->stage[i];

                if (stage->total_bytes == ALD_ABSENT_UINT64 && stage->needs_bytes != ALD_ABSENT_UINT64 &&
                        stage->free_bytes != ALD_ABSENT_UINT64 &&
                        stage->reserved_bytes <= MIN(stage->needs_bytes, stage->free_bytes))
                        g_string_append_printf(out,
                                "# On stage %u, it is between %" PRIu64 " and %" PRIu64
                                " bytes, of a total that is unknown here and that "
                                "torch.cuda.mem_get_info() returns.\n",
                                node->first_stage + i, stage->needs_bytes - stage->reserved_bytes,
                                stage->free_bytes - stage->reserved_bytes);
        }
}

/* Appends notes on the share of memory, as vLLM does not start if less is free. */
static void append_vllm_notes(GString *out, const Pipeline *pipeline)
{
        append_never_run(out, "vLLM");
        g_string_append(out,
                "# --gpu-memory-utilization is a share of the total memory of each GPU of the node: between "
                "what its stage needs and what is free there, both without the reserve; 0.9 if possible, "
                "else the middle.\n");
        for (guint rank = 0; rank < pipeline->nodes->len; rank++) {
                const AldRingNode *node = node_at(pipeline, rank);

                bool is_known = !isnan(share_of_total(node));

                if (is_known && !ald_export_is_total_guessed(node->stage, node->n_stages))
                        continue;
                g_string_append(out, is_known ? "# On " : "# No such share is known for all GPUs of ");
                ald_export_append_safe(out, ald_export_stage_name(node->stage));
                g_string_append(
                        out, is_known ? ", a total is unknown, and no less than what is free: the share is "
                                        "enough whatever it is, plus a quarter of what else is free.\n"
                                      : ": vLLM takes its default, and does not start where less is free.\n");
                append_bounds(out, node);
        }
}

static int append_vllm(GString *out, const Pipeline *pipeline, guint rank, char **ret_reason)
{
        const AldExportPlan *plan = pipeline->plan;
        const AldRingNode *node = node_at(pipeline, rank);
        int r = ald_ring_append_variables(out, plan, node, ret_reason);

        if (r < 0)
                return r;
        if (node->address)
                ald_export_append_variable(out, "VLLM_HOST_IP", node->address);
        append_partition(out, plan, "VLLM_PP_LAYER_PARTITION");
        g_string_append(out, "\\\n  vllm serve ");
        ald_export_append_word(out, plan->options->model ?: MODEL);
        g_string_append_printf(out, " --tensor-parallel-size 1 --pipeline-parallel-size %u", plan->n_stages);
        append_limit(out, "--max-model-len", plan->plan->context);
        append_limit(out, "--max-num-seqs", plan->plan->parallel);
        append_kv_type(out, plan->plan);
        append_share(out, "--gpu-memory-utilization", share_of_total(node));
        if (pipeline->master) {
                g_string_append_printf(
                        out, " \\\n  --nnodes %u --node-rank %u --master-addr ", pipeline->nodes->len, rank);
                ald_export_append_word(out, pipeline->master);
                g_string_append(out, rank > 0 ? " --headless" : "");
        }
        return 0;
}

static double share_of_free(const AldExportPlan *plan)
{
        return ald_export_share_of_free(plan->stages, plan->n_stages);
}

static void append_sglang_notes(GString *out, const Pipeline *pipeline)
{
        append_never_run(out, "SGLang");
        if (isnan(share_of_free(pipeline->plan)))
                g_string_append(out,
                        "# Without --mem-fraction-static: no share of the free memory is known that holds "
                        "weights, keys and values and leaves room for buffers on all GPUs.\n");
        else
                g_string_append(out,
                        "# --mem-fraction-static is a share of the least memory that is free on a GPU: the "
                        "middle between what weights, keys and values need and what buffers leave.\n");
}

static int append_sglang(GString *out, const Pipeline *pipeline, guint rank, char **ret_reason)
{
        const AldExportPlan *plan = pipeline->plan;
        int r = ald_ring_append_variables(out, plan, node_at(pipeline, rank), ret_reason);

        if (r < 0)
                return r;
        append_partition(out, plan, "SGLANG_PP_LAYER_PARTITION");
        g_string_append(out, "\\\n  python3 -m sglang.launch_server --model-path ");
        ald_export_append_word(out, plan->options->model ?: MODEL);
        g_string_append_printf(out, " --tp-size 1 --pp-size %u", plan->n_stages);
        append_limit(out, "--context-length", plan->plan->context);
        append_limit(out, "--max-running-requests", plan->plan->parallel);
        append_kv_type(out, plan->plan);
        append_share(out, "--mem-fraction-static", share_of_free(plan));
        if (pipeline->master) {
                g_autofree char *authority = ald_export_authority(pipeline->master);
                g_autofree char *init = g_strdup_printf("%s:%u", authority, SGLANG_PORT);

                g_string_append_printf(out, " \\\n  --nnodes %u --node-rank %u --dist-init-addr ",
                        pipeline->nodes->len, rank);
                ald_export_append_word(out, init);
        }
        return 0;
}

static int append_torchrun(GString *out, const Pipeline *pipeline, guint rank, char **ret_reason)
{
        const AldExportPlan *plan = pipeline->plan;
        const AldRingNode *node = node_at(pipeline, rank);
        int r = ald_ring_append_variables(out, plan, node, ret_reason);

        if (r < 0)
                return r;
        g_string_append_printf(out, "torchrun --nnodes %u --node_rank %u --nproc_per_node %u",
                pipeline->nodes->len, rank, node->n_stages);
        if (pipeline->master) {
                g_string_append(out, " --master_addr ");
                ald_export_append_word(out, pipeline->master);
                g_string_append_printf(out, " --master_port %u", TORCH_PORT);
        }
        g_string_append_c(out, ' ');
        ald_export_append_word(out, plan->options->program ?: PROGRAM);
        return 0;
}

static int append_nodes(GString *out, const Pipeline *pipeline, AppendCommand append, char **ret_reason)
{
        int r = 0;

        for (guint rank = 0; rank < pipeline->nodes->len && r >= 0; rank++) {
                const AldRingNode *node = node_at(pipeline, rank);

                g_string_append_printf(out, "# Node %u, ", rank);
                ald_export_append_safe(out, ald_export_stage_name(node->stage));
                g_string_append_printf(
                        out, ", ranks %u-%u:\n", node->first_stage, node->first_stage + node->n_stages - 1);
                r = append(out, pipeline, rank, ret_reason);
                g_string_append_c(out, '\n');
        }
        return r;
}

/* Checks that stages are spread evenly, for engines that divide them by the number of nodes. */
static int check_even(
        const AldExportPlan *plan, const PipelineFormat *format, const GArray *nodes, char **ret_reason)
{
        for (guint i = 0; plan->engine->nodes_even && i < nodes->len; i++) {
                const AldRingNode *node = &g_array_index(nodes, AldRingNode, i);

                if (node->n_stages * nodes->len != plan->n_stages)
                        return ald_export_fail(-ENOTSUP, ret_reason,
                                "%s has %u of %u stages; %s needs equally many on each of %u nodes",
                                ald_export_stage_name(node->stage), node->n_stages, plan->n_stages,
                                format->name, nodes->len);
        }
        return 0;
}

static int write_pipeline(
        const AldExportPlan *plan, const PipelineFormat *format, GString *out, char **ret_reason)
{
        g_autoptr(GArray) nodes = NULL;
        Pipeline pipeline = { .plan = plan };
        int r = ald_ring_nodes(plan, &nodes, ret_reason);

        if (r >= 0)
                r = check_even(plan, format, nodes, ret_reason);
        pipeline.nodes = nodes;
        if (r >= 0 && nodes->len > 1)
                r = ald_ring_master(node_at(&pipeline, 0), &pipeline.master, ret_reason);
        if (r < 0)
                return r;
        ald_export_append_header(out, plan, format->name, "#");
        g_string_append(out, "#\n# Run each command on its node.");
        if (nodes->len > 1)
                g_string_append(out, " All of them have to reach the first node; only the hops of the ring "
                                     "were compared.");
        g_string_append_c(out, '\n');
        if (format->append_notes)
                format->append_notes(out, &pipeline);
        return append_nodes(out, &pipeline, format->append, ret_reason);
}

static int write_vllm(const AldExportPlan *plan, GString *out, char **ret_reason)
{
        static const PipelineFormat format = { "vLLM", append_vllm_notes, append_vllm };

        return write_pipeline(plan, &format, out, ret_reason);
}

static int write_sglang(const AldExportPlan *plan, GString *out, char **ret_reason)
{
        static const PipelineFormat format = { "SGLang", append_sglang_notes, append_sglang };

        return write_pipeline(plan, &format, out, ret_reason);
}

static int write_torchrun(const AldExportPlan *plan, GString *out, char **ret_reason)
{
        static const PipelineFormat format = { "torchrun", NULL, append_torchrun };

        return write_pipeline(plan, &format, out, ret_reason);
}

const AldExportFormat ald_vllm_format = {
        .name = "vllm",
        .summary = "A command for each node, with the layers of each stage",
        .write = write_vllm,
        .is_run = true,
        .takes = ALD_EXPORT_MODEL,
};

const AldExportFormat ald_sglang_format = {
        .name = "sglang",
        .summary = "A command for each node, with the layers of each stage",
        .write = write_sglang,
        .is_run = true,
        .takes = ALD_EXPORT_MODEL,
};

const AldExportFormat ald_torchrun_format = {
        .name = "torchrun",
        .summary = "A command for each node, in the order of the ring",
        .write = write_torchrun,
        .is_run = true,
        .takes = ALD_EXPORT_PROGRAM,
};
