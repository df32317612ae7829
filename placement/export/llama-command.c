/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "placement/export/export-header.h"
#include "placement/export/plan-formats.h"
#include "placement/export/star-address.h"
#include "placement/model/model-needs.h"
#include "placement/plan/export-words.h"

/*
 * The rules of llama.cpp (load_tensors() of llama-model.cpp, ggml-rpc.cpp): with -ngl N, the last N of the
 * layers and the output go to the devices, in the order of --device and in proportion to --tensor-split;
 * earlier layers stay on the processors of the client. The output counts as one more layer of the last
 * device, and so does each block for drafts, even though it is not loaded. RPC<k> numbers the devices of all
 * servers in the order of --rpc, and those of a server in the order of its -d, which takes a list since the
 * same version (pull request 16276). By default, llama-server also keeps prompts in up to 8 GiB of the
 * client's memory, for which plans have no room; versions that know -fit also know --cache-ram.
 */
#define PORT 50052u
#define MODEL "<PATH/TO/MODEL.gguf>"

/* The options of the commands, built up stage by stage. */
typedef struct LlamaCommand {
        const AldExportPlan *plan;
        GString *servers; /* comments */
        GString *rpc, *device, *split;
        guint n_devices, n_rpc;
        uint64_t layers; /* on devices */
        uint64_t at_end; /* what else counts as layers of the last device */
        bool orders_gpus;
        bool shares_server; /* several devices of a node share a server */
        int head;           /* the stage with the head, or -1 */
} LlamaCommand;

static void llama_command_clear(LlamaCommand *command)
{
        g_string_free(command->servers, true);
        g_string_free(command->rpc, true);
        g_string_free(command->device, true);
        g_string_free(command->split, true);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LlamaCommand, llama_command_clear)

/* Returns the backend that the options name, else the usual one of the vendor. Processors need none. */
static const AldEngineBackend *find_backend(const AldExportPlan *plan, const AldPlanStageRow *stage)
{
        const char *option = plan->options->backend;

        for (const AldEngineBackend *backend = plan->engine->backends; backend && backend->option; backend++)
                if (option ? strcmp(backend->option, option) == 0
                           : !backend->usual || ald_export_vendor_is(stage, backend->usual))
                        return backend;
        return NULL;
}

/* Sets the name that a backend gives to a GPU of the machine, such as "CUDA0". */
static int name_device(
        const AldExportPlan *plan, const AldPlanStageRow *stage, char **ret_name, char **ret_reason)
{
        const char *option = plan->options->backend;
        const AldEngineBackend *backend = find_backend(plan, stage);
        guint number;
        int r;

        if (ald_export_is_processor(stage)) {
                *ret_name = g_strdup("CPU");
                return 0;
        }
        if (!backend || (backend->vendor && stage->vendor && !ald_export_vendor_is(stage, backend->vendor)))
                return ald_export_fail(-ENOTSUP, ret_reason,
                        "The plan uses the %s GPU %s on %s, which the backend %s does not drive",
                        stage->vendor ?: "unknown", stage->device, ald_export_stage_name(stage),
                        option ?: "of its build");
        r = ald_export_gpu_number(plan, stage, backend->usual != NULL, &number, ret_reason);
        if (r >= 0)
                *ret_name = g_strdup_printf("%s%u", backend->name, number);
        return r;
}

/* Returns whether the device is one of CUDA, which by default numbers the fastest GPU first. */
static bool is_cuda(const char *name)
{
        return g_str_has_prefix(name, "CUDA");
}

static void append_item(GString *list, const char *item)
{
        if (list->len > 0)
                g_string_append_c(list, ',');
        g_string_append(list, item);
}

static guint first_on_node(const AldExportPlan *plan, guint index)
{
        guint first = 0;

        while (strcmp(plan->stages[first].node, plan->stages[index].node) != 0)
                first++;
        return first;
}

/* Returns the number k of RPC<k>, which counts the devices of the first server, then those of the next. */
static guint rpc_number(const AldExportPlan *plan, guint index)
{
        guint server = first_on_node(plan, index), number = 0;

        for (guint i = 0; i < plan->n_stages; i++) {
                guint first = first_on_node(plan, i);

                number += strcmp(plan->stages[i].node, plan->plan->client) != 0 &&
                          (first < server || (first == server && i < index));
        }
        return number;
}

/* The devices of a node that the plan uses, by the names of the server and of the client. */
typedef struct ServerDevices {
        GString *names, *numbers;
        guint n;
        bool has_processor, orders_gpus;
} ServerDevices;

static void server_devices_clear(ServerDevices *devices)
{
        g_string_free(devices->names, true);
        g_string_free(devices->numbers, true);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ServerDevices, server_devices_clear)

static int find_devices(const AldExportPlan *plan, guint first, ServerDevices *devices, char **ret_reason)
{
        for (guint i = first; i < plan->n_stages; i++) {
                g_autofree char *name = NULL;
                int r;

                if (first_on_node(plan, i) != first)
                        continue;
                r = name_device(plan, &plan->stages[i], &name, ret_reason);
                if (r < 0)
                        return r;
                append_item(devices->names, name);
                if (devices->n++ > 0)
                        g_string_append(devices->numbers, ", ");
                g_string_append_printf(devices->numbers, "RPC%u", rpc_number(plan, i));
                devices->has_processor |= ald_export_is_processor(&plan->stages[i]);
                devices->orders_gpus |= is_cuda(name);
        }
        return 0;
}

/* Adds one server for all devices of a node, so that activations pass from one to the next within it. */
static int add_server(LlamaCommand *command, guint index, char **ret_reason)
{
        g_auto(ServerDevices) devices = { .names = g_string_new(NULL), .numbers = g_string_new(NULL) };
        g_autofree char *endpoint = NULL;
        const char *address;
        int r = ald_export_server_address(command->plan, index, &address, ret_reason);

        if (r >= 0)
                r = find_devices(command->plan, index, &devices, ret_reason);
        if (r < 0)
                return r;
        endpoint = g_strdup_printf("%s:%u", address, PORT);
        g_string_append(command->servers, "# On ");
        ald_export_append_safe(command->servers, ald_export_stage_name(&command->plan->stages[index]));
        g_string_append_printf(command->servers, " (%s):\n#   %sggml-rpc-server -H %s -p %u%s -d %s\n",
                devices.numbers->str, devices.orders_gpus ? "CUDA_DEVICE_ORDER=PCI_BUS_ID " : "", address,
                PORT, devices.has_processor ? " -t \"$(nproc)\"" : "", devices.names->str);
        append_item(command->rpc, endpoint);
        command->n_rpc += devices.n;
        command->shares_server |= devices.n > 1;
        return 0;
}

static int add_stage(LlamaCommand *command, guint index, char **ret_reason)
{
        const AldPlanStageRow *stage = &command->plan->stages[index];
        bool is_local = strcmp(stage->node, command->plan->plan->client) == 0;
        g_autofree char *name = NULL, *layers = NULL;
        int r;

        if (stage->has_head == 1)
                command->head = (int) index;
        if (is_local && ald_export_is_processor(stage))
                return index == 0 ? 0
                                  : ald_export_fail(-ENOTSUP, ret_reason,
                                            "llama.cpp computes the first layers on the processors of "
                                            "the client, not those of stage %u",
                                            index);
        r = name_device(command->plan, stage, &name, ret_reason);
        if (r >= 0 && !is_local && first_on_node(command->plan, index) == index)
                r = add_server(command, index, ret_reason);
        if (r < 0)
                return r;
        if (is_local) {
                command->orders_gpus |= is_cuda(name);
        } else {
                g_free(name);
                name = g_strdup_printf("RPC%u", rpc_number(command->plan, index));
        }
        append_item(command->device, name);
        command->n_devices++;
        command->layers += stage->layers;
        layers = g_strdup_printf(
                "%" PRIu64, stage->layers + (index + 1 == command->plan->n_stages ? command->at_end : 0));
        append_item(command->split, layers);
        return 0;
}

/* Checks that the head is on the last device, or apart from it on the processors of the client. */
static int check_head(const LlamaCommand *command, bool *ret_apart, char **ret_reason)
{
        const AldExportPlan *plan = command->plan;
        bool first_is_client = command->n_devices < plan->n_stages;
        uint32_t most = plan->engine->devices_max;

        if (most > 0 && command->n_devices > most)
                return ald_export_fail(-ENOTSUP, ret_reason,
                        "The plan has %u devices; llama.cpp takes %u at most", command->n_devices, most);
        if (command->head < 0 || (guint) command->head + 1 == plan->n_stages) {
                *ret_apart = false;
                return 0;
        }
        if (command->head > 0 || !first_is_client)
                return ald_export_fail(-ENOTSUP, ret_reason,
                        "The head is on stage %d; llama.cpp computes it on the last device, or on the "
                        "processors of the client",
                        command->head);
        *ret_apart = true;
        return 0;
}

static void append_devices(GString *out, const LlamaCommand *command)
{
        if (command->n_devices == 0) {
                g_string_append(out, " \\\n  --device none -ngl 0");
                return;
        }
        if (command->n_rpc > 0)
                g_string_append_printf(out, " \\\n  --rpc %s", command->rpc->str);
        g_string_append_printf(out, " \\\n  --device %s \\\n  --tensor-split %s -ngl %" PRIu64,
                command->device->str, command->split->str, command->layers + command->at_end);
}

static void append_notes(GString *out, const LlamaCommand *command, bool head_is_apart)
{
        g_string_append(out, "#\n");
        if (command->n_rpc > 0) {
                g_string_append(out,
                        "# Start the servers first. They do not authenticate clients: only for networks "
                        "that you trust.\n");
                g_string_append(out, command->servers->str);
                if (command->n_rpc > 1)
                        g_string_append_printf(out, "# RPC0 to RPC%u are the devices in the order of --rpc",
                                command->n_rpc - 1);
                else
                        g_string_append(out, "# RPC0 is the device of --rpc");
                g_string_append_printf(out, ", since llama.cpp of October 2025%s.\n",
                        command->shares_server ? "; older servers have one device" : "");
        }
        g_string_append(out,
                "# The plan leaves no memory for a cache of prompts; --cache-ram sets its size in MiB.\n");
        if (command->n_devices > 0)
                g_string_append(out,
                        "# GPUs are numbered in the order of their ids; --list-devices after --rpc shows "
                        "their names.\n");
        if (head_is_apart)
                g_string_append(out, "# -ot leaves the head on this machine, even if it is the embedding.\n");
        g_string_append(out, "# On ");
        ald_export_append_safe(out, command->plan->plan->client_name ?: command->plan->plan->client);
        g_string_append(out, ", the client:\n");
}

static void append_command(GString *out, const LlamaCommand *command, bool head_is_apart)
{
        const AldPlanRow *plan = command->plan->plan;

        if (command->orders_gpus)
                g_string_append(out, "CUDA_DEVICE_ORDER=PCI_BUS_ID \\\n  ");
        g_string_append(out, "llama-server --model ");
        ald_export_append_word(out, command->plan->options->model ?: MODEL);
        append_devices(out, command);
        g_string_append_printf(out, " \\\n  -fit off --cache-ram 0 -c %" PRIu64 " -np %" PRIu64,
                plan->context * plan->parallel, plan->parallel);
        if (plan->kv_type_k)
                g_string_append_printf(out, " -ctk %s", plan->kv_type_k);
        if (plan->kv_type_v)
                g_string_append_printf(out, " -ctv %s", plan->kv_type_v);
        /* A head that is the embedding is loaded once more under that name. The embedding itself is on the
         * client's processors in any case. */
        if (head_is_apart)
                g_string_append(out, " \\\n  -ot '^(output|token_embd)\\.weight$=CPU'");
        g_string_append_c(out, '\n');
}

/* Checks the context, which without -c would be the one that the model was trained for. */
static int check_context(const AldExportPlan *plan, char **ret_reason)
{
        uint64_t context = plan->plan->context, parallel = plan->plan->parallel;
        uint64_t most = plan->engine->context_max ?: UINT64_MAX;

        if (parallel == ALD_ABSENT_UINT64 || parallel == 0 || context == ALD_ABSENT_UINT64 || context == 0 ||
                context > most / parallel)
                return ald_export_fail(
                        -ENOTSUP, ret_reason, "The plan has no context that llama.cpp could be given");
        return 0;
}

/* Counts what else counts as layers of the last device: the output, and blocks for drafts. */
static int count_at_end(const AldPlanRow *plan, uint64_t *ret, char **ret_reason)
{
        uint64_t drafts = plan->draft_layers == ALD_ABSENT_UINT64 ? 0 : plan->draft_layers;

        if (drafts > ALD_LLM_LAYERS_MAX)
                return ald_export_fail(
                        -ENODATA, ret_reason, "The plan is broken: it has too many blocks for drafts");
        *ret = drafts + 1;
        return 0;
}

static int write_llama(const AldExportPlan *plan, GString *out, char **ret_reason)
{
        g_auto(LlamaCommand) command = { .plan = plan,
                .servers = g_string_new(NULL),
                .rpc = g_string_new(NULL),
                .device = g_string_new(NULL),
                .split = g_string_new(NULL),
                .head = -1 };
        bool head_is_apart = false;
        int r = ald_export_check_client(plan, ret_reason);

        if (r >= 0)
                r = check_context(plan, ret_reason);
        if (r >= 0)
                r = count_at_end(plan->plan, &command.at_end, ret_reason);
        for (guint i = 0; i < plan->n_stages && r >= 0; i++)
                r = add_stage(&command, i, ret_reason);
        if (r >= 0)
                r = check_head(&command, &head_is_apart, ret_reason);
        if (r < 0)
                return r;
        ald_export_append_header(out, plan, "llama.cpp", "#");
        append_notes(out, &command, head_is_apart);
        append_command(out, &command, head_is_apart);
        return 0;
}

const AldExportFormat ald_llama_format = {
        .name = "llama.cpp",
        .summary = "Commands for llama-server and its ggml-rpc-servers",
        .write = write_llama,
        .is_run = true,
        .takes = ALD_EXPORT_MODEL | ALD_EXPORT_BACKEND,
};
