/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "clients/alidadectl/check/requirement.h"
#include "clients/common/columns/node-columns.h"
#include "tests/unit/model-maker.h"

#define NOW 1.7e15
#define LATELY "'UpdatedUSec':1699999990000000"

/* Of the first GPU, an instance computes in its place. */
static const char rig[] =
        "{'Node1.Memory':{'TotalBytes':68719476736,'AvailableBytes':17179869184," LATELY "},"
        "'Node1.Backends':{" LATELY ",'Devices':["
        "{'Id':'a','Class':'gpu','MemoryTotalBytes':25769803776},"
        "{'Id':'a/1','Class':'gpu','Parent':'a','MemoryTotalBytes':12884901888},"
        "{'Id':'b','Class':'gpu','Unified':true,'MemoryTotalBytes':1073741824},{'Id':'cpu','Class':'cpu'}]},"
        "'Node1.Compute':{" LATELY
        ",'Devices':[{'Id':'a','TflopsFp16':165.2,'MeasuredUSec':1699996400000000},"
        "{'Id':'b','TflopsFp16':4.8,'MeasuredUSec':1699999940000000}]},"
        "'Node1.Fabric':{" LATELY ",'RdmaPorts':[{'Id':'a.1','State':'active'},"
        "{'Id':'b.1','State':'active','Problem':'x'},{'Id':'c.1','State':'down'}]}}";

/* Why the node does not meet it; NULL if it does. */
static char *judge(const char *records, const char *word)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GPtrArray) requirements = g_ptr_array_new_with_free_func(ald_requirement_free);
        g_autofree char *reason = NULL;

        model_put_node(model, 1, records);
        g_assert_cmpint(ald_requirements_parse(word, requirements, &reason), ==, 0);
        g_assert_cmpuint(requirements->len, ==, 1);
        return ald_requirement_judge(requirements->pdata[0], model, model_node(model, 1), NOW);
}

/* Unlike a table, a requirement says itself how old a figure is. */
static void test_node_that_does_not_count(void)
{
        static const char *const states[] = { "duplicate", "offline" };

        for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
                g_autofree char *records = g_strdup_printf(
                        "{'Node1.Presence':{'State':'%s'},%s", states[i], rig + 1);
                g_autofree char *met = judge(records, "available>=16GiB");
                g_autofree char *too_little = judge(records, "available>=17GiB");

                g_assert_cmpstr(met, ==, NULL);
                g_assert_cmpstr(too_little, ==, "16.0 GiB, 10 s ago");
        }
}

static void test_figures(void)
{
        static const struct {
                const char *word, *reason;
        } cases[] = {
                { "memory>=64GiB", NULL },
                { "memory>=65GiB", "64.0 GiB, 10 s ago" },
                { "available>=16GiB", NULL },
                { "available>=17GiB", "16.0 GiB, 10 s ago" },
                { "device-memory>=24GiB", NULL },
                { "device-memory>=25GiB", "24.0 GiB, 10 s ago" },
                { "compute", NULL },
                { "compute>=4.8", NULL },
                { "compute>=5", "4.80 TFLOPS, 1 h ago" },
                { "gpus", NULL },
                { "gpus>=2", NULL },
                { "gpus>=3", "2, 10 s ago" },
                { "rdma", NULL },
                { "rdma>=2", "1, 10 s ago" },
                { "links", "0" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *reason = judge(rig, cases[i].word);

                g_assert_cmpstr(reason, ==, cases[i].reason);
        }
}

/* Devices may be listed before it is known what they are. */
static void test_unknown(void)
{
        static const char early[] = "{'Node1.System':{" LATELY
                                    ",'CpuUsage':1.0,'Devices':[{'Id':'a','Usage':1.0}]}}";
        static const char *const words[] = { "memory>=1G", "available>=1G", "device-memory>=1G", "compute",
                "gpus", "rdma" };

        for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
                g_autofree char *reason = judge(early, words[i]);

                g_assert_cmpstr(reason, ==, "unknown");
        }
}

/* Names of old command lines stay, and each column has what a requirement needs. */
static void test_names(void)
{
        static const char *const names[] = { "available", "compute", "gpus", "memory", "device-memory",
                "rdma", "links" };
        g_autofree char *help = ald_requirements_help();
        g_auto(GStrv) lines = g_strsplit(help, "\n", -1);

        g_assert_cmpuint(g_strv_length(lines), ==, G_N_ELEMENTS(names) + 1);
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *start = g_strconcat(names[i], " ", NULL);

                g_assert_true(g_str_has_prefix(lines[i], start));
        }
        for (unsigned i = 0; i < ALD_NODE_N_COLUMNS; i++)
                if (ald_node_columns[i].required)
                        g_assert_true(ald_node_columns[i].number && ald_node_columns[i].since);
}

static void test_refused(void)
{
        static const struct {
                const char *word, *reason;
        } cases[] = {
                { "speed>=1", "Unknown requirement \"speed>=1\"; see alidadectl check --require=help" },
                { "tflops>=1", "Unknown requirement \"tflops>=1\"; see alidadectl check --require=help" },
                { "memory", "\"memory\" is not a requirement; write memory>=64GiB" },
                { "gpus>=", "\"gpus>=\" is not a requirement; write gpus>=2" },
                { "compute>=x", "\"compute>=x\" is not a requirement; write compute>=2" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(GPtrArray) requirements = g_ptr_array_new_with_free_func(ald_requirement_free);
                g_autofree char *reason = NULL;

                g_assert_cmpint(ald_requirements_parse(cases[i].word, requirements, &reason), ==, -EINVAL);
                g_assert_cmpstr(reason, ==, cases[i].reason);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl-check/figures", test_figures);
        g_test_add_func("/ctl-check/node-that-does-not-count", test_node_that_does_not_count);
        g_test_add_func("/ctl-check/unknown", test_unknown);
        g_test_add_func("/ctl-check/names", test_names);
        g_test_add_func("/ctl-check/refused", test_refused);
        return g_test_run();
}
