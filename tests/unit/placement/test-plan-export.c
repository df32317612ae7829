/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "placement/export/plan-export.h"
#include "placement/report/report-json.h"

/*
 * data/NAME.json are plans, data/NAME.txt what is made of them. With ALIDADE_GOLDEN=write, the texts are made
 * anew.
 */
#define NOW (UINT64_C(1795680000) * 1000 * 1000)

static char *read_data(const char *name, const char *suffix)
{
        g_autofree char *file = g_strconcat(name, suffix, NULL);
        g_autofree char *path = g_build_filename(g_getenv("ALIDADE_TEST_DATA"), file, NULL);
        char *text = NULL;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        return text;
}

/* Sets or, for NULL, removes a value: "Hops/1/Kind". */
static void patch(json_t *json, const char *path, const char *value)
{
        g_auto(GStrv) keys = g_strsplit(path, "/", -1);
        guint last = g_strv_length(keys) - 1;

        for (guint i = 0; i < last; i++)
                json = json_is_array(json)
                               ? json_array_get(json, (size_t) g_ascii_strtoull(keys[i], NULL, 10))
                               : json_object_get(json, keys[i]);
        g_assert_nonnull(json);
        if (!value) {
                g_assert_cmpint(json_object_del(json, keys[last]), ==, 0);
        } else {
                json_t *parsed = json_loads(value, JSON_DECODE_ANY, NULL);

                g_assert_nonnull(parsed);
                json_object_set_new(json, keys[last], parsed);
        }
}

typedef struct Patch {
        const char *path, *value;
} Patch;

#define PATCHES_MAX 3

static AldPlanReport *load(const char *name, const Patch *patches)
{
        g_autofree char *text = read_data(name, ".json"), *error = NULL, *patched = NULL;
        json_auto_t *json = json_loads(text, 0, NULL);
        AldPlanReport *report = NULL;

        g_assert_nonnull(json);
        for (size_t i = 0; i < PATCHES_MAX && patches[i].path; i++)
                patch(json, patches[i].path, patches[i].value);
        patched = json_dumps(json, 0);
        g_assert_cmpint(ald_plan_report_from_text(patched, strlen(patched), &report, &error), ==, 0);
        return report;
}

static const AldPlanExportOptions usual = { .now_usec = NOW, .version = "1.2.3" };

static const struct Golden {
        const char *plan, *format, *text;
        const char *model, *program;
        Patch patches[PATCHES_MAX];
} goldens[] = {
        { "llama", "llama.cpp", "llama" },
        { "llama", "dot", "llama-dot" },
        { "llama-head", "llama.cpp", "llama-head", .model = "/models/it's $(one).gguf",
                .patches = { { "Plan/KvTypeK", "\"q8_0\"" }, { "Plan/KvTypeV", "\"q4_0\"" } } },
        { "llama-alone", "llama.cpp", "llama-alone" },
        { "llama", "llama.cpp", "llama-drafts", .patches = { { "Plan/DraftLayers", "2" } } },
        { "slices", "distributed-llama", "slices", .model = "m.m" },
        { "ring", "vllm", "vllm",
                .patches = { { "Plan/KvTypeK", "\"f16\"" }, { "Plan/KvTypeV", "\"f16\"" } } },
        { "ring", "sglang", "sglang", .model = "/models/m",
                .patches = { { "Plan/Engine", "\"sglang\"" }, { "Plan/KvTypeK", "\"bf16\"" },
                        { "Plan/KvTypeV", "\"bf16\"" } } },
        { "ring", "vllm", "vllm-unknown", .patches = { { "Stages/3/TotalBytes", NULL } } },
        { "ring", "sglang", "sglang-unknown",
                .patches = { { "Plan/Engine", "\"sglang\"" }, { "Stages/3/KvBytes", NULL } } },
        { "ring", "torchrun", "torchrun-even", .program = "train.py",
                .patches = { { "Plan/Engine", "\"torch\"" } } },
        { "ring-uneven", "torchrun", "torchrun" },
        { "ring-host", "torchrun", "torchrun-host" },
        { "ring-uneven", "mpi", "mpi", .program = "./a b" },
        { "ring-uneven", "dot", "ring-dot" },
};

static void test_golden(gconstpointer data)
{
        const struct Golden *golden = data;
        g_autoptr(AldPlanReport) report = load(golden->plan, golden->patches);
        AldPlanExportOptions options = usual;
        g_autoptr(GString) out = NULL, later = NULL;
        g_autofree char *expected = NULL, *reason = NULL;

        options.model = golden->model;
        options.program = golden->program;
        if (ald_plan_export(golden->format, report, &options, &out, &reason) < 0)
                g_error("%s", reason);
        if (g_strcmp0(g_getenv("ALIDADE_GOLDEN"), "write") == 0) {
                g_autofree char *file = g_strconcat(golden->text, ".txt", NULL);
                g_autofree char *path = g_build_filename(g_getenv("ALIDADE_TEST_DATA"), file, NULL);

                g_assert_true(g_file_set_contents(path, out->str, -1, NULL));
        }
        expected = read_data(golden->text, ".txt");
        g_assert_cmpstr(out->str, ==, expected);
        /* The time of the export is not in it. */
        options.now_usec += 60 * 1000 * 1000;
        g_assert_cmpint(ald_plan_export(golden->format, report, &options, &later, &reason), ==, 0);
        g_assert_cmpstr(later->str, ==, expected);
}

static const struct Refusal {
        const char *plan, *format;
        int error;
        const char *reason; /* a part of it */
        Patch patches[PATCHES_MAX];
} refusals[] = {
        { "llama", "nothing", -ENOENT, "no format \"nothing\"" },
        { "llama", "llama.cpp", -ENODATA, "There is no plan: too-little-memory",
                { { "Plan/Problem", "\"too-little-memory\"" } } },
        { "llama", "dot", -ENODATA, "There is no plan: It lacks memory.",
                { { "Plan/Problem", "\"too-little-memory\"" }, { "Plan/Text", "\"It lacks memory.\"" } } },
        { "llama", "llama.cpp", -ENODATA, "names no engine", { { "Plan/Engine", NULL } } },
        { "llama", "llama.cpp", -ENODATA, "names no client", { { "Plan/Client", NULL } } },
        { "llama", "llama.cpp", -ENODATA, "stage 2 is not valid", { { "Stages/2/FirstLayer", "25" } } },
        { "llama", "llama.cpp", -ENODATA, "stage 1 is not valid", { { "Stages/1/Layers", "0" } } },
        { "llama", "llama.cpp", -ENODATA, "stage 1 is not valid", { { "Stages/1/Layers", NULL } } },
        { "llama", "llama.cpp", -ENODATA, "stage 1 is not valid", { { "Stages/1/Node", NULL } } },
        { "llama", "llama.cpp", -ENODATA, "do not have all layers", { { "Plan/Layers", "49" } } },
        { "llama", "llama.cpp", -ENODATA, "do not have all layers", { { "Stages", "[]" } } },
        { "llama", "llama.cpp", -ENODATA, "hop 0 is not valid", { { "Hops/0/Stage", "4" } } },
        { "llama", "llama.cpp", -ENODATA, "hop 0 is not valid", { { "Hops/0/Sink", NULL } } },
        { "llama", "llama.cpp", -ENODATA, "llama.cpp does not keep keys and values as \"f16;reboot\"",
                { { "Plan/KvTypeK", "\"f16;reboot\"" } } },
        { "ring", "vllm", -ENODATA, "vllm does not keep keys and values as \"q4_0\"",
                { { "Plan/KvTypeV", "\"q4_0\"" } } },
        { "llama", "vllm", -ENOTSUP, "for llama.cpp; vllm takes plans for vllm only" },
        { "ring", "mpi", -ENOTSUP, "for vllm; mpi takes plans for torch, mpi, nccl only" },
        { "ring", "llama.cpp", -ENOTSUP, "takes plans for llama.cpp only" },
        /* Old, or of unknown age. */
        { "llama", "llama.cpp", -ESTALE, "The rate of birch → alder is from 1 d ago, more than 1 d",
                { { "Hops/0/MeasuredUSec", "1795593599999999" } } },
        { "llama", "llama.cpp", -ESTALE, "The round trip of birch → alder is from 2 d 2 h ago",
                { { "Hops/0/RttMeasuredUSec", "1795500000000000" } } },
        { "llama", "llama.cpp", -ESTALE, "The speed of 0000:41:00.0 on alder is from",
                { { "Stages/1/MeasuredUSec", "1795593599999999" } } },
        { "llama", "llama.cpp", -ESTALE,
                "The free memory of 0000:41:00.0 on alder is from 1 h ago, more than 1 h",
                { { "Stages/1/FreeUSec", "1795676399999999" } } },
        { "llama", "llama.cpp", -ESTALE, "The oldest figure of the plan is from",
                { { "Plan/OldestUSec", "1" } } },
        { "llama", "llama.cpp", -ESTALE, "It is unknown when the rate of birch → alder",
                { { "Hops/0/MeasuredUSec", NULL } } },
        { "llama", "llama.cpp", -ESTALE, "The rate of birch → alder was measured in the future",
                { { "Hops/0/MeasuredUSec", "1795680601000000" } } },
        { "llama", "llama.cpp", -ENOKEY, "The path birch → alder was assumed",
                { { "Hops/0/Kind", "\"assumed\"" } } },
        { "llama", "llama.cpp", -ENOKEY, "assumes paths", { { "Plan/Unmeasured", "1" } } },
        /* What llama.cpp cannot do. */
        { "llama", "llama.cpp", -ENOTSUP, "not those of stage 3", { { "Stages/3/Device", "\"cpu\"" } } },
        { "llama", "llama.cpp", -ENOTSUP, "The head is on stage 1",
                { { "Stages/1/HasHead", "true" }, { "Stages/3/HasHead", "false" } } },
        { "llama", "llama.cpp", -ENODATA, "too many blocks for drafts", { { "Plan/DraftLayers", "1025" } } },
        { "llama", "llama.cpp", -ENOTSUP, "has no context", { { "Plan/Context", "0" } } },
        { "llama", "llama.cpp", -ENOTSUP, "has no context", { { "Plan/Context", "2147483648" } } },
        { "llama", "llama.cpp", -ENOTSUP, "0000:41:00.0/1-0 on alder is a part of a GPU",
                { { "Stages/1/Device", "\"0000:41:00.0/1-0\"" } } },
        { "llama", "llama.cpp", -ENOTSUP, "over RDMA", { { "Hops/0/Kind", "\"rdma\"" } } },
        { "llama", "llama.cpp", -EINVAL, "reaches alder is unknown", { { "Hops/0/SinkAddress", NULL } } },
        { "llama", "llama.cpp", -EINVAL, "reaches alder at 2001:db8::1",
                { { "Hops/0/SinkAddress", "\"2001:db8::1\"" } } },
        { "llama", "llama.cpp", -EINVAL, "reaches alder at 198.18.0.2;reboot",
                { { "Hops/0/SinkAddress", "\"198.18.0.2;reboot\"" } } },
        { "slices", "distributed-llama", -ENOTSUP, "Stage 0 does not have all layers",
                { { "Stages/0/Layers", "16" }, { "Stages/1/FirstLayer", "16" },
                        { "Stages/1/Layers", "16" } } },
        { "slices", "distributed-llama", -ENOTSUP, "alder has several stages",
                { { "Stages/3/Node", "\"0000000000000000000000000000000a\"" },
                        { "Stages/3/NodeName", "\"alder\"" } } },
        { "slices", "distributed-llama", -ENOTSUP, "The client has no stage",
                { { "Plan/Client", "\"0000000000000000000000000000000e\"" } } },
        { "slices", "distributed-llama", -EINVAL, "reaches alder is unknown", { { "Hops/0/Stage", "1" } } },
        /* What rings cannot do. */
        { "ring", "vllm", -ENOTSUP, "alder is in two places",
                { { "Stages/1/Node", "\"0000000000000000000000000000000b\"" },
                        { "Stages/2/Node", "\"0000000000000000000000000000000a\"" },
                        { "Stages/2/NodeName", "\"alder\"" } } },
        { "ring-uneven", "mpi", -ENOTSUP, "alder is in two places",
                { { "Stages/3/Node", "\"0000000000000000000000000000000a\"" },
                        { "Stages/3/NodeName", "\"alder\"" } } },
        { "ring-uneven", "vllm", -ENOTSUP, "alder has 2 of 4 stages; vLLM needs equally many on each of 3",
                { { "Plan/Engine", "\"vllm\"" } } },
        { "ring", "vllm", -ENODATA, "a hop of alder is missing", { { "Hops/3/Stage", "2" } } },
        { "ring", "vllm", -EINVAL, "\"eth0,lo\" of birch", { { "Hops/3/SourcePort", "\"eth0,lo\"" } } },
        { "ring", "vllm", -EINVAL, "\"mlx5_0\" of alder", { { "Hops/1/SourcePort", "\"mlx5_0\"" } } },
        { "ring", "vllm", -EINVAL, "Neither an address nor a host name of alder",
                { { "Hops/3/SinkAddress", "\"fe80::1%eth0\"" }, { "Stages/0/HostName", NULL } } },
        { "ring", "vllm", -EINVAL, "Neither an address nor a host name of alder",
                { { "Hops/3/SinkAddress", NULL }, { "Stages/0/HostName", "\"a;b\"" } } },
        { "ring-uneven", "mpi", -EINVAL, "\"alder slots=9\" has characters",
                { { "Stages/0/HostName", "\"alder slots=9\"" } } },
        { "ring-uneven", "mpi", -EINVAL, "has characters", { { "Stages/0/HostName", "\"-x\"" } } },
        { "ring-uneven", "mpi", -EINVAL, "Two nodes have the host name alder.example.org",
                { { "Stages/2/HostName", "\"alder.example.org\"" } } },
        { "ring-uneven", "mpi", -EINVAL, "Two nodes have the host name ",
                { { "Stages/2/HostName", "\"Alder.EXAMPLE.org\"" } } },
        { "ring-uneven", "mpi", -EINVAL, "Neither a host name nor an IPv4 address of cedar",
                { { "Stages/2/HostName", NULL } } },
};

static void test_refusals(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
                const struct Refusal *refusal = &refusals[i];
                g_autoptr(AldPlanReport) report = load(refusal->plan, refusal->patches);
                g_autoptr(GString) out = NULL;
                g_autofree char *reason = NULL;
                int r = ald_plan_export(refusal->format, report, &usual, &out, &reason);

                g_test_message("%s: %s", refusal->reason, reason);
                g_assert_cmpint(r, ==, refusal->error);
                g_assert_null(out);
                g_assert_nonnull(strstr(reason, refusal->reason));
        }
}

/* A node that claims the host name of another one gets no rank of its. */
static void check_contested_host_name(const char *name)
{
        const Patch patches[PATCHES_MAX] = { { "Stages/3/HostName", name },
                { "Hops/2/SinkAddress", "\"192.0.2.11\"" }, { "Hops/3/SinkAddress", "\"192.0.2.10\"" } };
        g_autoptr(AldPlanReport) report = load("ring-uneven", patches);
        g_autoptr(GString) out = NULL;
        g_autofree char *reason = NULL;

        g_assert_cmpint(ald_plan_export("mpi", report, &usual, &out, &reason), ==, 0);
        g_assert_nonnull(strstr(out->str, "\n192.0.2.10\n192.0.2.10\ncedar.example.org\n192.0.2.11\n"));
}

static void test_contested_host_names(void)
{
        check_contested_host_name("\"alder.example.org\"");
        check_contested_host_name("\"ALDER.example.ORG\"");
}

/* A node by itself needs no name that others understand; of several, the address takes its place. */
static void test_names_of_hosts(void)
{
        const Patch alone[PATCHES_MAX] = { { "Stages/0/HostName", "\"Anna's laptop\"" },
                { "Stages/1/HostName", NULL } };
        const Patch first[PATCHES_MAX] = { { "Stages/2/HostName", "\"Anna's laptop\"" },
                { "Hops/1/SinkAddress", "\"192.0.2.3\"" } };
        g_autoptr(AldPlanReport) one = load("ring-host", alone), several = load("ring-uneven", first);
        g_autoptr(GString) out = NULL, others = NULL;
        g_autofree char *reason = NULL;

        g_assert_cmpint(ald_plan_export("mpi", one, &usual, &out, &reason), ==, 0);
        g_assert_true(g_str_has_suffix(out->str, "\nlocalhost\nlocalhost\n"));
        g_assert_cmpint(ald_plan_export("mpi", several, &usual, &others, &reason), ==, 0);
        g_assert_nonnull(strstr(others->str, "\n192.0.2.3\n"));
}

/* Old figures and assumed hops are not refused with force, and what is only looked at never minds them. */
static void test_force(void)
{
        AldPlanExportOptions forced = usual;

        forced.force = true;
        for (size_t i = 0; i < G_N_ELEMENTS(refusals); i++) {
                const struct Refusal *refusal = &refusals[i];
                g_autoptr(AldPlanReport) report = load(refusal->plan, refusal->patches);
                g_autoptr(GString) out = NULL, drawn = NULL;
                g_autofree char *reason = NULL;
                bool can_be_forced = refusal->error == -ESTALE || refusal->error == -ENOKEY;

                g_assert_cmpint(ald_plan_export(refusal->format, report, &forced, &out, &reason), ==,
                        can_be_forced ? 0 : refusal->error);
                if (can_be_forced)
                        g_assert_cmpint(ald_plan_export("dot", report, &usual, &drawn, &reason), ==, 0);
        }
}

static void test_assumed_hops_are_marked(void)
{
        const Patch assumed[PATCHES_MAX] = { { "Hops/0/Kind", "\"assumed\"" } };
        g_autoptr(AldPlanReport) report = load("llama", assumed);
        g_autoptr(GString) drawn = NULL;
        g_autofree char *reason = NULL;

        g_assert_cmpint(ald_plan_export("dot", report, &usual, &drawn, &reason), ==, 0);
        g_assert_nonnull(strstr(drawn->str, "; assumed, never measured\n"));
        g_assert_nonnull(strstr(drawn->str, "  client -> s1 [style=dashed label=\"91.0 µs assumed\"];\n"));
}

static void test_an_assumed_hop_may_be_over_rdma(void)
{
        const Patch assumed[PATCHES_MAX] = { { "Hops/1/Kind", "\"assumed\"" } };
        g_autoptr(AldPlanReport) report = load("ring-uneven", assumed);
        AldPlanExportOptions forced = usual;
        g_autoptr(GString) out = NULL;
        g_autofree char *reason = NULL;

        forced.force = true;
        g_assert_cmpint(ald_plan_export("torchrun", report, &forced, &out, &reason), ==, 0);
        g_assert_null(strstr(out->str, "NCCL_IB_DISABLE"));
}

/* The parts of a card do not have numbers of their own. */
static void test_a_card_with_parts_counts_once(void)
{
        g_autoptr(AldPlanReport) report = load("llama", (const Patch[PATCHES_MAX]){});
        static const char *const parts[] = { "0000:01:00.0/1-0", "0000:01:00.0/2-0", "0000:01:00.0/2-1" };
        g_autoptr(GString) out = NULL;
        g_autofree char *reason = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
                AldPlanLeftOutRow row = g_array_index(report->left_out, AldPlanLeftOutRow, 1);

                g_assert_cmpstr(row.device, ==, "0000:01:00.0");
                row.device = parts[i];
                g_array_append_val(report->left_out, row);
        }
        g_assert_cmpint(ald_plan_export("llama.cpp", report, &usual, &out, &reason), ==, 0);
        g_assert_nonnull(strstr(out->str, "-d CUDA1\n"));
}

/* Of two GPUs, the one of the client has this vendor. The other one is the second of NVIDIA on its node, and
 * the third of all. */
static void test_backends_of_llama(void)
{
        static const struct {
                const char *backend, *vendor, *local, *remote; /* NULL: refused */
        } cases[] = {
                { NULL, "\"NVIDIA\"", "CUDA0", "CUDA1" },
                { NULL, "\"AMD\"", "ROCm0", "CUDA1" },
                { NULL, "\"Intel\"", "SYCL0", "CUDA1" },
                { NULL, "\"Qualcomm\"", "Vulkan0", "CUDA1" },
                { "cuda", "\"NVIDIA\"", "CUDA0", "CUDA1" },
                { "cuda", NULL, "CUDA0", "CUDA1" },
                { "cuda", "\"AMD\"", NULL, NULL },
                { "rocm", "\"NVIDIA\"", NULL, NULL },
                { "vulkan", "\"AMD\"", "Vulkan0", "Vulkan2" },
                { "sycl", "\"Intel\"", "SYCL0", "SYCL1" },
                { "cpu", "\"NVIDIA\"", NULL, NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Patch vendors[PATCHES_MAX] = { { "Stages/3/Vendor", cases[i].vendor } };
                g_autoptr(AldPlanReport) report = load("llama", vendors);
                AldPlanExportOptions options = usual;
                g_autoptr(GString) out = NULL;
                g_autofree char *reason = NULL, *local = NULL, *remote = NULL;

                options.backend = cases[i].backend;
                g_assert_cmpint(ald_plan_export("llama.cpp", report, &options, &out, &reason), ==,
                        cases[i].local ? 0 : -ENOTSUP);
                if (!cases[i].local) {
                        g_assert_nonnull(strstr(reason, "does not drive"));
                        continue;
                }
                local = g_strdup_printf(" --device RPC0,RPC1,%s ", cases[i].local);
                remote = g_strdup_printf(" -d %s\n", cases[i].remote);
                g_assert_nonnull(strstr(out->str, local));
                g_assert_nonnull(strstr(out->str, remote));
        }
}

static void test_a_backend_that_is_none(void)
{
        g_autoptr(AldPlanReport) report = load("llama", (const Patch[PATCHES_MAX]){});
        AldPlanExportOptions options = usual;
        g_autoptr(GString) out = NULL;
        g_autofree char *reason = NULL;

        options.backend = "opengl";
        g_assert_cmpint(ald_plan_export("llama.cpp", report, &options, &out, &reason), ==, -EINVAL);
        g_assert_cmpstr(reason, ==, "There is no backend \"opengl\"");
}

/* Of the first node; "" if none is written. */
static void check_share(const char *format, const char *option, const char *expected, const Patch *patches)
{
        g_autoptr(AldPlanReport) report = load("ring", patches);
        g_autofree char *reason = NULL, *words = g_strdup_printf(" %s ", option);
        g_autoptr(GString) out = NULL;
        char *command, *share;

        g_assert_cmpint(ald_plan_export(format, report, &usual, &out, &reason), ==, 0);
        command = strstr(out->str, "# Node 0");
        *strstr(command, "# Node 1") = '\0';
        share = strstr(command, words);
        if (share) {
                share += strlen(words);
                share[strcspn(share, " ")] = '\0';
        }
        g_assert_cmpstr(share ?: "", ==, expected);
}

/* One has to do for all stages of a node. */
static void test_shares_of_total_memory(void)
{
        static const struct {
                const char *share;
                Patch patches[PATCHES_MAX];
        } cases[] = {
                { "0.9", {} },
                /* 24 GB without 600 MiB are less than 0.9 of 26 GB. */
                { "0.5", { { "Stages/0/TotalBytes", "26000000000" } } },
                /* A machine of 121.7 GiB with a desktop: the middle, not far from it. */
                { "0.65",
                        { { "Stages/0/TotalBytes", "130663165952" }, { "Stages/0/FreeBytes", "109521666048" },
                                { "Stages/0/NeedsBytes", "62000000000" } } },
                /* More than 0.9 of 24 GiB is needed: 23.99 GB of 24 GB that are free, or all. */
                { "0.9067", { { "Stages/0/NeedsBytes", "23990000000" } } },
                { "0.906908", { { "Stages/0/NeedsBytes", "24000000000" } } },
                /* One needs more than the other one has free. */
                { "", { { "Stages/0/NeedsBytes", "23000000000" }, { "Stages/1/FreeBytes", "9000000000" } } },
                { "", { { "Stages/0/TotalBytes", "0" } } },
                /* The same machine, by a plan that does not state the total: 0.470 to 0.833 are right. */
                { "0.65", { { "Stages/0/TotalBytes", NULL }, { "Stages/0/FreeBytes", "109521666048" },
                                  { "Stages/0/NeedsBytes", "62000000000" } } },
                /* The other one lets 0.907 be taken, and 0.9000 is needed. */
                { "0.902", { { "Stages/0/TotalBytes", NULL }, { "Stages/0/FreeBytes", "109521666048" },
                                   { "Stages/0/NeedsBytes", "99200000000" } } },
                /* What other programming interfaces report as the total may be less than what is free. */
                { "", { { "Stages/0/TotalBytes", NULL }, { "Stages/0/Vendor", "\"AMD\"" } } },
                { "", { { "Stages/1/ReservedBytes", NULL } } },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
                check_share("vllm", "--gpu-memory-utilization", cases[i].share, cases[i].patches);
}

/* One has to do for all stages, of what is free on the one with the least. */
static void test_shares_of_free_memory(void)
{
        static const struct {
                const char *share;
                Patch patch;
        } cases[] = {
                { "0.6", { NULL, NULL } },
                { "0.81", { "Stages/3/FreeBytes", "3600000000" } },
                /* Others would take more for keys and values than it has. */
                { "", { "Stages/3/FreeBytes", "3500000000" } },
                { "", { "Stages/3/FreeBytes", "1000" } },
                { "", { "Stages/0/BufferBytes", NULL } },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                const Patch patches[PATCHES_MAX] = { { "Plan/Engine", "\"sglang\"" }, cases[i].patch };

                check_share("sglang", "--mem-fraction-static", cases[i].share, patches);
        }
}

/* One more device than llama.cpp takes. */
static void test_devices_max(void)
{
        for (unsigned n = 15; n <= 16; n++) {
                g_autoptr(AldPlanReport) report = load("llama-alone", (const Patch[PATCHES_MAX]){});
                AldPlanStageRow stage = g_array_index(report->stages, AldPlanStageRow, 0);
                g_autofree char *devices = g_strnfill(17, 'x'), *reason = NULL;
                g_autoptr(GString) out = NULL;

                g_array_set_size(report->stages, 0);
                report->plan.layers = n;
                for (unsigned i = 0; i < n; i++) {
                        stage.device = devices + i;
                        stage.first_layer = i;
                        stage.layers = 1;
                        stage.has_head = i + 1 == n;
                        g_array_append_val(report->stages, stage);
                }
                g_assert_cmpint(ald_plan_export("llama.cpp", report, &usual, &out, &reason), ==,
                        n == 15 ? 0 : -ENOTSUP);
                if (n == 15)
                        g_assert_nonnull(
                                strstr(out->str, "--tensor-split 1,1,1,1,1,1,1,1,1,1,1,1,1,1,2 -ngl 16"));
        }
}

static void test_paths(void)
{
        static const char *const bad[] = { "", "-c", "a\nb", "\xff" };
        g_autoptr(AldPlanReport) report = load("ring", (const Patch[PATCHES_MAX]){});

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
                AldPlanExportOptions options = usual;
                g_autoptr(GString) out = NULL;
                g_autofree char *reason = NULL;

                options.model = bad[i];
                g_assert_cmpint(ald_plan_export("vllm", report, &options, &out, &reason), ==, -EINVAL);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(goldens); i++) {
                g_autofree char *path = g_strdup_printf("/plan-export/golden/%s", goldens[i].text);

                g_test_add_data_func(path, &goldens[i], test_golden);
        }
        g_test_add_func("/plan-export/refusals", test_refusals);
        g_test_add_func("/plan-export/names-of-hosts", test_names_of_hosts);
        g_test_add_func("/plan-export/contested-host-names", test_contested_host_names);
        g_test_add_func("/plan-export/force", test_force);
        g_test_add_func("/plan-export/assumed-hops", test_assumed_hops_are_marked);
        g_test_add_func("/plan-export/an-assumed-hop-may-be-over-rdma", test_an_assumed_hop_may_be_over_rdma);
        g_test_add_func("/plan-export/a-card-with-parts-counts-once", test_a_card_with_parts_counts_once);
        g_test_add_func("/plan-export/backends-of-llama", test_backends_of_llama);
        g_test_add_func("/plan-export/no-such-backend", test_a_backend_that_is_none);
        g_test_add_func("/plan-export/shares-of-total-memory", test_shares_of_total_memory);
        g_test_add_func("/plan-export/shares-of-free-memory", test_shares_of_free_memory);
        g_test_add_func("/plan-export/devices-max", test_devices_max);
        g_test_add_func("/plan-export/paths", test_paths);
        return g_test_run();
}
