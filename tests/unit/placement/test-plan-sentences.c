/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/report/sentences.h"
#include "tests/unit/placement/plan-cases.h"

#define GIB (UINT64_C(1) << 30)

/* The text of what is said of the first device, after which the workload is complete. */
static char *say_verdict(PlanCase *made, AldPlanReason reason)
{
        const AldPlanVerdict verdict = { .reason = reason };
        const char *problem;

        g_assert_cmpint(ald_plan_workload_complete(&made->workload, &problem), ==, 0);
        return ald_plan_verdict_sentence(&made->cluster, &made->request, 0, &verdict);
}

/* The amount is the one that is compared with what is free. */
static void test_too_small(void)
{
        g_autofree char *layer = NULL, *slice = NULL;
        PlanCase made;

        plan_case_init(&made, "llama.cpp", 4);
        made.workload.layer_bytes = 2 * GIB;
        made.devices[0].free_bytes = GIB;
        layer = say_verdict(&made, ALD_PLAN_MEMORY_TOO_SMALL);
        g_assert_cmpstr(layer, ==, "One layer needs 2 GiB there, and 1 GiB are free.");
        plan_case_init(&made, "distributed-llama", 4);
        made.workload.layer_bytes = 2 * GIB;
        made.workload.head_bytes = 0;
        made.workload.vocabulary = 1024;
        made.devices[0].free_bytes = GIB;
        slice = say_verdict(&made, ALD_PLAN_MEMORY_TOO_SMALL);
        g_assert_cmpstr(slice, ==, "The smallest slice needs 3 GiB there, and 1 GiB are free.");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-sentences/too-small", test_too_small);
        return g_test_run();
}
