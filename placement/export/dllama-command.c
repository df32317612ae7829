/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "placement/export/export-header.h"
#include "placement/export/plan-formats.h"
#include "placement/export/star-address.h"
#include "placement/plan/export-words.h"

#define PORT 9999u
#define MODEL "<PATH/TO/MODEL.m>"
#define TOKENIZER "<PATH/TO/TOKENIZER.t>"

/* Checks that each node has an equal slice of each layer, and finds the root. */
static int check_slices(const AldExportPlan *plan, guint *ret_root, char **ret_reason)
{
        guint root = plan->n_stages;

        if ((plan->n_stages & (plan->n_stages - 1)) != 0)
                return ald_export_fail(-ENOTSUP, ret_reason,
                        "The plan has %u nodes; distributed-llama takes a power of two", plan->n_stages);
        for (guint i = 0; i < plan->n_stages; i++) {
                if (plan->stages[i].layers != plan->plan->layers)
                        return ald_export_fail(-ENOTSUP, ret_reason,
                                "Stage %u does not have all layers, as the nodes of distributed-llama do", i);
                for (guint k = 0; k < i; k++)
                        if (strcmp(plan->stages[i].node, plan->stages[k].node) == 0)
                                return ald_export_fail(-ENOTSUP, ret_reason, "%s has several stages",
                                        ald_export_stage_name(&plan->stages[i]));
                if (strcmp(plan->stages[i].node, plan->plan->client) == 0)
                        root = i;
        }
        if (root == plan->n_stages)
                return ald_export_fail(
                        -ENOTSUP, ret_reason, "The client has no stage, which the root has to have");
        *ret_root = root;
        return 0;
}

static int append_device(GString *out, const AldExportPlan *plan, guint stage, char **ret_reason)
{
        guint number;
        int r;

        g_string_append(out, " --nthreads \"$(nproc)\"");
        if (ald_export_is_processor(&plan->stages[stage]))
                return 0;
        r = ald_export_gpu_number(plan, &plan->stages[stage], false, &number, ret_reason);
        if (r >= 0)
                g_string_append_printf(out, " --gpu-index %u", number);
        return r;
}

static int append_workers(
        GString *out, const AldExportPlan *plan, guint root, GString *addresses, char **ret_reason)
{
        for (guint i = 0; i < plan->n_stages; i++) {
                const char *address;
                int r;

                if (i == root)
                        continue;
                r = ald_export_server_address(plan, i, &address, ret_reason);
                if (r < 0)
                        return r;
                g_string_append_printf(addresses, " %s:%u", address, PORT);
                g_string_append(out, "# On ");
                ald_export_append_safe(out, ald_export_stage_name(&plan->stages[i]));
                g_string_append_printf(out, ":\n#   dllama worker --host %s --port %u", address, PORT);
                r = append_device(out, plan, i, ret_reason);
                if (r < 0)
                        return r;
                g_string_append_c(out, '\n');
        }
        return 0;
}

static int write_dllama(const AldExportPlan *plan, GString *out, char **ret_reason)
{
        g_autoptr(GString) addresses = g_string_new(NULL);
        guint root = 0;
        int r = ald_export_check_client(plan, ret_reason);

        if (r >= 0)
                r = check_slices(plan, &root, ret_reason);
        if (r < 0)
                return r;
        ald_export_append_header(out, plan, "distributed-llama", "#");
        g_string_append(out,
                "#\n# Start the workers first. They reach each other at these addresses, and do not "
                "authenticate anyone:\n# only for networks that you trust.\n");
        r = append_workers(out, plan, root, addresses, ret_reason);
        if (r < 0)
                return r;
        g_string_append(out, "# On ");
        ald_export_append_safe(out, ald_export_stage_name(&plan->stages[root]));
        g_string_append(out, ", the root:\ndllama chat --model ");
        ald_export_append_word(out, plan->options->model ?: MODEL);
        g_string_append(out, " --tokenizer '" TOKENIZER "' \\\n  --buffer-float-type q80");
        r = append_device(out, plan, root, ret_reason);
        if (r >= 0 && plan->plan->context != ALD_ABSENT_UINT64 && plan->plan->context > 0)
                g_string_append_printf(out, " --max-seq-len %" PRIu64, plan->plan->context);
        if (r >= 0 && addresses->len > 0)
                g_string_append_printf(out, " \\\n  --workers%s", addresses->str);
        g_string_append_c(out, '\n');
        return r;
}

const AldExportFormat ald_dllama_format = {
        .name = "distributed-llama",
        .summary = "Commands for the workers and the root",
        .write = write_dllama,
        .is_run = true,
        .takes = ALD_EXPORT_MODEL,
};
