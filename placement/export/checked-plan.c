/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/export/checked-plan.h"
#include "placement/plan/kv-types.h"
#include "placement/plan/method.h"

int ald_export_fail(int error, char **ret_reason, const char *format, ...)
{
        va_list arguments;

        va_start(arguments, format);
        *ret_reason = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        return error;
}

const char *ald_export_stage_name(const AldPlanStageRow *stage)
{
        return stage->node_name ?: stage->host_name ?: stage->node;
}

bool ald_export_is_processor(const AldPlanStageRow *stage)
{
        return strcmp(stage->device, "cpu") == 0;
}

bool ald_export_vendor_is(const AldPlanStageRow *stage, const char *vendor)
{
        return stage->vendor && g_ascii_strncasecmp(stage->vendor, vendor, strlen(vendor)) == 0;
}

bool ald_export_hop_is(const AldPlanHopRow *hop, AldPlanHopRowKind kind)
{
        return g_strcmp0(hop->kind, ald_plan_hop_row_kind_to_string(kind)) == 0;
}

/* Hops of the plan itself have the alternative 0. */
const AldPlanHopRow *ald_export_find_hop(
        const AldExportPlan *plan, guint stage, const char *source, const char *sink)
{
        const GArray *hops = plan->report->hops;

        for (guint i = 0; i < hops->len; i++) {
                const AldPlanHopRow *hop = &g_array_index(hops, AldPlanHopRow, i);

                if (hop->alternative == 0 && hop->stage == stage && strcmp(hop->source, source) == 0 &&
                        strcmp(hop->sink, sink) == 0)
                        return hop;
        }
        return NULL;
}

/* Adds the card of a device if its id is less than that of the stage's device. The instances of a card, with
 * ids "CARD/…", count as one card. */
static void add_card(GHashTable *cards, const AldPlanStageRow *stage, bool of_vendor, const char *node,
        const char *device, const char *vendor)
{
        g_autofree char *card = NULL;

        if (g_strcmp0(node, stage->node) != 0 || !device || strcmp(device, "cpu") == 0 ||
                (of_vendor && g_strcmp0(vendor, stage->vendor) != 0))
                return;
        card = g_strndup(device, strcspn(device, "/"));
        if (strcmp(card, stage->device) < 0)
                g_hash_table_add(cards, g_steal_pointer(&card));
}

int ald_export_gpu_number(const AldExportPlan *plan, const AldPlanStageRow *stage, bool of_vendor, guint *ret,
        char **ret_reason)
{
        g_autoptr(GHashTable) cards = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        const GArray *left_out = plan->report->left_out;

        if (strchr(stage->device, '/'))
                return ald_export_fail(-ENOTSUP, ret_reason,
                        "%s on %s is a part of a GPU, which has no number", stage->device,
                        ald_export_stage_name(stage));
        for (guint i = 0; i < plan->n_stages; i++)
                add_card(cards, stage, of_vendor, plan->stages[i].node, plan->stages[i].device,
                        plan->stages[i].vendor);
        for (guint i = 0; i < left_out->len; i++) {
                const AldPlanLeftOutRow *row = &g_array_index(left_out, AldPlanLeftOutRow, i);

                add_card(cards, stage, of_vendor, row->node, row->device, row->vendor);
        }
        *ret = g_hash_table_size(cards);
        return 0;
}

bool ald_export_has_layers(const AldExportPlan *plan)
{
        return !plan->engine || plan->engine->method->has_layers;
}

/* Checks the stages of an all-reduce, which have no layers. */
static int check_ranks(const AldExportPlan *plan, char **ret_reason)
{
        for (guint i = 0; i < plan->n_stages; i++)
                if (!plan->stages[i].node || !plan->stages[i].device)
                        return ald_export_fail(
                                -ENODATA, ret_reason, "The plan is broken: stage %u is not valid", i);
        return plan->n_stages > 0
                       ? 0
                       : ald_export_fail(-ENODATA, ret_reason, "The plan is broken: it has no stage");
}

static int check_stages(const AldExportPlan *plan, char **ret_reason)
{
        uint64_t next = 0;

        for (guint i = 0; i < plan->n_stages; i++) {
                const AldPlanStageRow *stage = &plan->stages[i];
                /* Each slice of a model has all layers. */
                bool follows = stage->first_layer == next ||
                               (stage->first_layer == 0 && stage->layers == plan->plan->layers);

                if (!stage->node || !stage->device || stage->layers == ALD_ABSENT_UINT64 ||
                        stage->layers == 0 || !follows)
                        return ald_export_fail(
                                -ENODATA, ret_reason, "The plan is broken: stage %u is not valid", i);
                next = stage->first_layer + stage->layers;
        }
        if (plan->n_stages == 0 || next != plan->plan->layers)
                return ald_export_fail(
                        -ENODATA, ret_reason, "The plan is broken: its stages do not have all layers");
        return 0;
}

static int check_hops(const AldExportPlan *plan, char **ret_reason)
{
        const GArray *hops = plan->report->hops;

        for (guint i = 0; i < hops->len; i++) {
                const AldPlanHopRow *hop = &g_array_index(hops, AldPlanHopRow, i);

                if (hop->alternative == 0 &&
                        (hop->stage >= plan->n_stages || !hop->source || !hop->sink || !hop->kind))
                        return ald_export_fail(
                                -ENODATA, ret_reason, "The plan is broken: hop %u is not valid", i);
        }
        return 0;
}

static int check_type(const AldExportPlan *plan, const char *name, char **ret_reason)
{
        AldKvType type;

        if (!name || (ald_kv_type_from_name(name, &type) >= 0 && ald_plan_engine_keeps(plan->engine, type)))
                return 0;
        return ald_export_fail(-ENODATA, ret_reason,
                "The plan is broken: %s does not keep keys and values as \"%s\"", plan->plan->engine, name);
}

int ald_export_plan_read(const AldPlanReport *report, const AldPlanEngine *engine,
        const AldPlanExportOptions *options, AldExportPlan *ret, char **ret_reason)
{
        AldExportPlan plan = { .plan = &report->plan,
                .engine = engine,
                .stages = (const AldPlanStageRow *) report->stages->data,
                .n_stages = ald_plan_report_n_stages(report),
                .report = report,
                .options = options };
        int r;

        if (report->plan.problem)
                return ald_export_fail(-ENODATA, ret_reason, "There is no plan: %s",
                        report->plan.text ?: report->plan.problem);
        if (!report->plan.engine)
                return ald_export_fail(-ENODATA, ret_reason, "The plan is broken: it names no engine");
        r = ald_export_has_layers(&plan) ? check_stages(&plan, ret_reason) : check_ranks(&plan, ret_reason);
        if (r >= 0)
                r = check_hops(&plan, ret_reason);
        if (r >= 0)
                r = check_type(&plan, plan.plan->kv_type_k, ret_reason);
        if (r >= 0)
                r = check_type(&plan, plan.plan->kv_type_v, ret_reason);
        if (r >= 0)
                *ret = plan;
        return r;
}
