/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/report/loading.h"
#include "placement/report/plan-description.h"
#include "tests/unit/placement/plan-cases.h"

#define GB UINT64_C(1000000000)

static const char *const one_disk[] = { "nvme0n1", NULL };
static const char *const two_disks[] = { "sda", "sdb", NULL };
static const char *const three_disks[] = { "sda", "sdb", "sdc", NULL };

static AldStorageFileSystem storage_of(const char *const *disks, uint64_t rate)
{
        AldStorageFileSystem row = ALD_STORAGE_FILE_SYSTEM_INIT;

        row.id = "/srv/models";
        row.disks = disks;
        row.read_bytes_per_second = rate;
        return row;
}

static char *say(const PlanCase *made)
{
        g_autoptr(AldPlan) plan = plan_case_plan(made);

        return ald_plan_loading_sentence(&made->cluster, &made->request, &plan->best);
}

static void assert_said(const PlanCase *made, const char *expected)
{
        g_autofree char *text = say(made);

        g_assert_cmpstr(text, ==, expected);
}

/* By the disk of one node, which is all that is known of where the model is. */
static void test_alone(void)
{
        AldStorageFileSystem storage = storage_of(one_disk, 2 * GB);
        PlanCase made;

        plan_case_init(&made, "llama.cpp", 1);
        made.nodes[0].name = "alpha";
        assert_said(&made, NULL);
        made.nodes[0].storage = &storage;
        assert_said(&made,
                "Loading takes 3.50 s from nvme0n1 of alpha, if the model is where most of those known there "
                "are: 6.52 GiB at the measured 2.00 GB/s.");
        made.nodes[0].name = "alpha, the first";
        storage.disks = two_disks;
        assert_said(&made,
                "Loading takes 3.50 s from sda and sdb of \"alpha, the first\", if the model is where most "
                "of those known there are: 6.52 GiB at the measured 2.00 GB/s.");
        storage.disks = three_disks;
        made.nodes[0].name = "alpha";
        assert_said(&made,
                "Loading takes 3.50 s from sda, sdb and sdc of alpha, if the model is where most of those "
                "known there are: 6.52 GiB at the measured 2.00 GB/s.");
        storage.disks = NULL;
        assert_said(&made,
                "Loading takes 3.50 s from /srv/models of alpha, if the model is where most of those known "
                "there are: 6.52 GiB at the measured 2.00 GB/s.");
}

/* The client of a star reads all, and sends on what others hold, for which the time is not known. */
static void test_star(void)
{
        const AldStorageFileSystem storage = storage_of(one_disk, 2 * GB);
        PlanCase made;

        plan_case_init(&made, "llama.cpp", 2);
        plan_case_join(&made, 0, 1, 1e6, 1e9);
        plan_case_join(&made, 1, 0, 1e6, 1e9);
        made.request.client = made.nodes[0].id;
        made.nodes[0].name = "alpha";
        made.devices[0].free_bytes = made.devices[1].free_bytes = 4 * GB;
        made.nodes[1].storage = &storage;
        assert_said(&made, NULL);
        made.nodes[0].storage = &storage;
        made.nodes[1].storage = NULL;
        assert_said(&made,
                "Loading takes at least 3.50 s from nvme0n1 of alpha, if the model is where most of those "
                "known there are: 6.52 GiB at the measured 2.00 GB/s, part of which is sent on to other "
                "nodes.");
}

/* Each node of a ring reads what it holds; nothing is said unless all were measured. */
static void test_ring(void)
{
        AldStorageFileSystem fast = storage_of(one_disk, 4 * GB), slow = storage_of(two_disks, GB);
        g_autofree char *text = NULL, *shared = NULL;
        PlanCase made;

        plan_case_init(&made, "vllm", 2);
        plan_case_join(&made, 0, 1, 1e6, 1e9);
        plan_case_join(&made, 1, 0, 1e6, 1e9);
        made.nodes[0].name = "alpha";
        made.nodes[1].name = "beta";
        made.devices[0].free_bytes = made.devices[1].free_bytes = 4 * GB;
        made.nodes[1].storage = &slow;
        assert_said(&made, NULL);
        made.nodes[0].storage = &fast;
        text = say(&made);
        g_assert_nonnull(text);
        g_assert_true(g_str_has_prefix(text, "Loading takes "));
        g_assert_nonnull(strstr(text, " s from sda and sdb of beta, "));
        g_assert_null(strstr(text, "at least"));
        fast.network = true; /* others may read from there, too */
        shared = say(&made);
        g_assert_true(g_str_has_prefix(shared, "Loading takes at least "));
}

/* Slices and sums, of which the weights of a stage are not known. */
static void test_unknown_weights(void)
{
        const AldStorageFileSystem storage = storage_of(one_disk, GB);

        for (unsigned i = 0; i < 2; i++) {
                PlanCase made;

                plan_case_init(&made, i == 0 ? "distributed-llama" : "mpi", 2);
                made.workload.vocabulary = 1024;
                plan_case_join(&made, 0, 1, 1e6, 1e9);
                plan_case_join(&made, 1, 0, 1e6, 1e9);
                made.nodes[0].storage = made.nodes[1].storage = &storage;
                assert_said(&made, NULL);
        }
}

/* It is a note of the report, where there is a figure. */
static void test_note(void)
{
        const AldStorageFileSystem storage = storage_of(one_disk, 2 * GB);

        for (unsigned i = 0; i < 2; i++) {
                const AldPlanOptions options = ALD_PLAN_OPTIONS_INIT;
                g_autoptr(AldPlanReport) report = NULL;
                g_autoptr(AldPlan) plan = NULL;
                bool found = false;
                PlanCase made;

                plan_case_init(&made, "llama.cpp", 1);
                made.nodes[0].storage = i == 0 ? NULL : &storage;
                plan = plan_case_plan(&made);
                report = ald_plan_describe(&made.cluster, &made.request, &options, 1, plan, NULL);
                for (size_t n = 0; report->plan.notes && report->plan.notes[n]; n++)
                        found |= g_str_has_prefix(
                                report->plan.notes[n], "Loading takes 3.50 s from nvme0n1 ");
                g_assert_true(found == (i == 1));
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-loading/alone", test_alone);
        g_test_add_func("/plan-loading/star", test_star);
        g_test_add_func("/plan-loading/ring", test_ring);
        g_test_add_func("/plan-loading/unknown-weights", test_unknown_weights);
        g_test_add_func("/plan-loading/note", test_note);
        return g_test_run();
}
