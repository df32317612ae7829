/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>

#include "placement/export/checked-plan.h"
#include "placement/plan/kv-types.h"
#include "placement/plan/method.h"
#include "placement/plan/model-files.h"
#include "placement/report/plan-description.h"
#include "tests/unit/placement/plan-cases.h"

/*
 * An engine that nothing knows but its row, which is here in place of the table of engines, and the format of
 * its commands: it is planned for, described, chosen, listed and exported.
 */

static int write_pipes(const AldExportPlan *plan, GString *out, char **ret_reason)
{
        if (plan->n_stages > 9)
                return ald_export_fail(-ENOTSUP, ret_reason, "pipes takes 9 stages");
        for (guint i = 0; i < plan->n_stages; i++)
                g_string_append_printf(out, "pipes %s --layers %" PRIu64 "+%" PRIu64 "\n",
                        plan->stages[i].node, plan->stages[i].first_layer, plan->stages[i].layers);
        return 0;
}

static const AldExportFormat pipes_format = {
        .name = "pipes",
        .summary = "A command for each stage",
        .write = write_pipes,
        .takes = ALD_EXPORT_MODEL,
};

const AldPlanEngine ald_plan_engines[] = {
        {
                .name = "pipes",
                .method = &ald_ring_method,
                .takes_gpus = true,
                .kv_types = ALD_KV_BIT(ALD_KV_BF16),
                .gguf = { ALD_MODEL_REFUSED, "pipes does not read GGUF" },
                .formats = { &pipes_format },
        },
        {},
};

static const char golden[] = "pipes n1 --layers 0+3\n"
                             "pipes n0 --layers 3+3\n";

static AldPlanReport *report_of(const PlanCase *made)
{
        const AldPlanOptions options = ALD_PLAN_OPTIONS_INIT;
        g_autoptr(AldPlan) plan = plan_case_plan(made);

        return ald_plan_describe(&made->cluster, &made->request, &options, 1, plan, NULL);
}

static void test_planned_and_exported(void)
{
        const AldPlanExportOptions options = { .force = true, .version = "1" };
        g_autoptr(AldPlanReport) report = NULL;
        g_autoptr(GString) out = NULL;
        g_autofree char *reason = NULL;
        PlanCase made;

        plan_case_init(&made, "pipes", 2);
        made.devices[0].free_bytes = made.devices[1].free_bytes = UINT64_C(3600000000);
        plan_case_join(&made, 0, 1, 1e5, 1e9);
        plan_case_join(&made, 1, 0, 1e5, 1e10);
        report = report_of(&made);
        g_assert_cmpstr(report->plan.engine, ==, "pipes");
        g_assert_cmpint(ald_plan_export("pipes", report, &options, &out, &reason), ==, 0);
        g_assert_cmpstr(out->str, ==, golden);
}

static void test_listed(void)
{
        g_autofree char *engines = ald_plan_engine_list(), *types = NULL;

        g_assert_cmpstr(engines, ==, "pipes");
        g_assert_cmpstr(ald_plan_export_name_at(0), ==, "pipes");
        g_assert_cmpstr(ald_plan_export_name_at(1), ==, "dot");
        g_assert_null(ald_plan_export_name_at(2));
        g_assert_true(ald_plan_export_takes(&pipes_format, "pipes"));
        types = ald_plan_engine_kv_type_list(ald_plan_engine_find("pipes"));
        g_assert_cmpstr(types, ==, "bf16");
}

static void test_chosen(void)
{
        AldPlanWorkload workload = ALD_PLAN_WORKLOAD_INIT;
        const char *text = NULL;

        g_assert_cmpstr(ald_plan_engine_choose(&workload)->name, ==, "pipes");
        workload.model_format = "gguf";
        g_assert_cmpint(ald_plan_engine_reading(ald_plan_engine_find("pipes"), &workload, &text), ==,
                ALD_MODEL_REFUSED);
        g_assert_cmpstr(text, ==, "pipes does not read GGUF");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-engine/planned-and-exported", test_planned_and_exported);
        g_test_add_func("/plan-engine/listed", test_listed);
        g_test_add_func("/plan-engine/chosen", test_chosen);
        return g_test_run();
}
