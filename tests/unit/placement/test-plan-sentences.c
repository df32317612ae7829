/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "placement/plan/model-files.h"
#include "placement/report/engine-builds.h"
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
        g_assert_cmpstr(layer, ==, "One layer needs 2.00 GiB there, and 1.00 GiB are free.");
        plan_case_init(&made, "distributed-llama", 4);
        made.workload.layer_bytes = 2 * GIB;
        made.workload.head_bytes = 0;
        made.workload.vocabulary = 1024;
        made.devices[0].free_bytes = GIB;
        slice = say_verdict(&made, ALD_PLAN_MEMORY_TOO_SMALL);
        g_assert_cmpstr(slice, ==, "The smallest slice needs 3.00 GiB there, and 1.00 GiB are free.");
}

/* What there is to say of the refusal. */
static char *say_refusal(PlanCase *made)
{
        AldPlanRefusal refusal = { 0 };
        const char *problem;
        char *text;

        g_assert_cmpint(ald_plan_workload_complete(&made->workload, &problem), ==, 0);
        g_assert_null(plan_case_try(made, &refusal));
        text = ald_plan_refusal_sentence(&made->cluster, &made->request, &refusal);
        g_free(refusal.verdicts);
        return text;
}

static void assert_refusal(PlanCase *made, const char *expected)
{
        g_autofree char *text = say_refusal(made);

        g_assert_cmpstr(text, ==, expected);
}

/* With the names of nodes instead of their ids. */
static void test_required(void)
{
        static const char *const node[] = { "n0", NULL }, *const device[] = { "n0/cpu", NULL };
        PlanCase made;

        plan_case_init(&made, "llama.cpp", 3);
        made.nodes[0].name = "fast";
        made.nodes[0].unusable = "offline";
        made.request.required = node;
        assert_refusal(&made, "fast must be used, but cannot. Its node is offline.");
        made.nodes[0].unusable = NULL;
        made.devices[0].free_bytes = 1000;
        made.request.required = device;
        assert_refusal(&made, "fast/cpu must be used, but cannot. One layer needs 954 MiB there, and 1000 B "
                              "are free.");
        made.devices[0].node = 1;
        made.request.required = node;
        assert_refusal(&made, "fast must be used, but cannot. It has no compute device.");
        /* For different reasons. */
        made.devices[0].node = 0;
        made.devices[1].node = 0;
        made.devices[1].free_bytes = ALD_PLAN_ABSENT;
        assert_refusal(&made, "fast must be used, but cannot.");
}

/* A probe is proposed for a device that it can measure, and else what is to be installed. */
static void test_unmeasured(void)
{
        static const AldComputeDevice waiting = { .waiting_reason = "processes compute on it" };
        g_autofree char *missing = NULL, *unknown = NULL, *busy = NULL;
        PlanCase made;

        plan_case_init(&made, "llama.cpp", 2);
        made.devices[0].flops = made.devices[1].flops = NAN;
        assert_refusal(&made,
                "No device can be used. If one was never measured because it is in use, measure it "
                "nevertheless, there: alidadectl probe compute --force DEVICE.");
        made.devices[0].lacks_opencl = made.devices[1].lacks_opencl = true;
        assert_refusal(&made, "No device can be used. OpenCL does not show those that were not measured.");
        made.devices[0].opencl_package = made.devices[1].opencl_package = "pocl-opencl-icd";
        assert_refusal(&made,
                "No device can be used. Those that were not measured lack an OpenCL driver: install "
                "pocl-opencl-icd (Debian's name).");
        made.devices[1].opencl_package = "nvidia-opencl-icd";
        assert_refusal(&made,
                "No device can be used. Those that were not measured lack an OpenCL driver: install "
                "pocl-opencl-icd, nvidia-opencl-icd (Debian's name).");
        missing = say_verdict(&made, ALD_PLAN_COMPUTE_UNMEASURED);
        g_assert_cmpstr(missing, ==,
                "Its rate of matrix products cannot be measured without an OpenCL driver: install "
                "pocl-opencl-icd there (Debian's name).");
        made.devices[0].opencl_package = NULL;
        unknown = say_verdict(&made, ALD_PLAN_BANDWIDTH_UNMEASURED);
        g_assert_cmpstr(unknown, ==, "Its memory bandwidth cannot be measured, as OpenCL does not show it.");
        made.devices[0].lacks_opencl = false;
        made.devices[0].measured = &waiting;
        busy = say_verdict(&made, ALD_PLAN_BANDWIDTH_UNMEASURED);
        g_assert_cmpstr(busy, ==, "Its memory bandwidth was not measured: processes compute on it.");
}

/* What contradicts the figure of a device. */
static void test_disbelieved(void)
{
        static const struct {
                AldDoubt doubt;
                const char *text;
        } cases[] = {
                { { .reason = "above-peak",
                          .tflops = 2800,
                          .limit_tflops = 312,
                          .bytes_per_second = ALD_ABSENT_UINT64 },
                        "Its rate of matrix products, 2.80 PFLOPS, is not believed: its own peak is 312 "
                        "TFLOPS." },
                { { .reason = "above-theoretical",
                          .bytes_per_second = UINT64_C(4) << 40,
                          .limit_bytes_per_second = UINT64_C(2) << 40 },
                        "Its memory bandwidth, 4.40 TB/s, is not believed: its memory can carry 2.20 TB/s." },
                { { .reason = "above-equal-devices",
                          .tflops = 600,
                          .limit_tflops = 82.6,
                          .bytes_per_second = ALD_ABSENT_UINT64 },
                        "Its rate of 600 TFLOPS is not believed: equal devices on other nodes reach 82.6 "
                        "TFLOPS at "
                        "most." },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = NULL;
                PlanCase made;

                plan_case_init(&made, "llama.cpp", 2);
                made.devices[0].doubt = &cases[i].doubt;
                text = say_verdict(&made, ALD_PLAN_DISBELIEVED);
                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

static void test_disputed_path(void)
{
        const AldPlanPath agreed = { .bits_per_second = 1e9 },
                          disputed = { .bits_per_second = 1e9, .disputed_bits_per_second = 94e9 };
        g_autofree char *text = ald_plan_path_sentence(&disputed);

        g_assert_null(ald_plan_path_sentence(&agreed));
        g_assert_cmpstr(text, ==,
                "Both ends measured this direction and disagree: 1.00 Gb/s and 94.0 Gb/s; the lower rate "
                "counts.");
}

static void test_split(void)
{
        AldPlanPin pins[] = { { (char *) "n0/cpu", 3 }, { (char *) "n0/cpu", 3 } };
        PlanCase made;

        plan_case_init(&made, "llama.cpp", 2);
        made.nodes[0].name = "fast";
        made.request.pins = pins;
        made.request.n_pins = 2;
        assert_refusal(&made, "The split names fast/cpu twice.");
        pins[0].layers = 6;
        made.request.n_pins = 1;
        made.workload.layer_bytes = 4 * GIB;
        made.devices[0].free_bytes = 21 * GIB;
        made.workload.embedding_bytes = made.workload.head_bytes = 0;
        assert_refusal(&made, "fast/cpu lacks 3.00 GiB for the layers that the split gives it.");
}

static void test_client(void)
{
        PlanCase made;

        plan_case_init(&made, "llama.cpp", 2);
        made.nodes[1].name = "slow";
        made.workload.layer_bytes = 1000;
        made.workload.embedding_bytes = 2 * GIB;
        made.devices[0].free_bytes = GIB / 2;
        made.devices[1].free_bytes = GIB;
        assert_refusal(&made,
                "The client needs 2.00 GiB of host memory for the embedding and buffers, and no "
                "host has as much: "
                "slow has 1.00 GiB free.");
        made.request.client = "n1";
        assert_refusal(&made,
                "The client needs 2.00 GiB of host memory for the embedding and buffers, and slow "
                "has 1.00 GiB free.");
        made.devices[1].free_bytes = ALD_PLAN_ABSENT;
        assert_refusal(&made,
                "The client needs 2.00 GiB of host memory for the embedding and buffers, and the "
                "free memory of slow is unknown.");
}

/* The cause is not memory, of which there is enough. */
static void test_required_together(void)
{
        static const char *const three[] = { "n0", "n1", "n2", NULL };
        PlanCase made;

        for (uint32_t i = 0; i < 2; i++) {
                plan_case_init(&made, i ? "llama.cpp" : "distributed-llama", 3);
                for (uint32_t j = 0; j < 6; j++)
                        plan_case_join(&made, j / 2, (j / 2 + 1 + j % 2) % 3, 1e6, 1e9);
                made.request.required = three;
                made.workload.layers = i ? 2 : 6;
                assert_refusal(&made,
                        i ? "3 devices must be used, but llama.cpp can use 2 of them at most."
                          : "3 devices must be used, but distributed-llama can use 2 of them at most.");
        }
}

static void test_root(void)
{
        PlanCase made;

        plan_case_init(&made, "distributed-llama", 2);
        plan_case_join(&made, 0, 1, 1e6, 1e9);
        plan_case_join(&made, 1, 0, 1e6, 1e9);
        made.nodes[1].name = "slow";
        made.workload.layer_bytes = GIB;
        made.workload.head_bytes = 0;
        made.workload.embedding_bytes = 2 * GIB;
        made.devices[0].free_bytes = 3 * GIB;
        made.devices[1].free_bytes = 4 * GIB;
        assert_refusal(&made,
                "The root needs 5.00 GiB of host memory for the embedding and its slice, and no host "
                "has as much: slow has 4.00 GiB free.");
}

/* Not by their speed; the third one is farther away. */
static void test_ranks(void)
{
        g_autofree char *near = NULL, *far = NULL;
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        plan_case_init(&made, "mpi", 4);
        made.workload.message_bytes = 1000;
        for (uint32_t i = 0; i < 4; i++)
                for (uint32_t j = 0; j < 4; j++)
                        if (i != j)
                                plan_case_join(&made, i, j, MAX(i, j) == 3 ? 3e6 : 1e6, 1e15);
        made.request.nodes_max = 2;
        plan = plan_case_plan(&made);
        near = ald_plan_verdict_sentence(&made.cluster, &made.request, 2, &plan->verdicts[2]);
        far = ald_plan_verdict_sentence(&made.cluster, &made.request, 3, &plan->verdicts[3]);
        g_assert_cmpstr(
                near, ==, "The number of ranks is limited, and it would not make an all-reduce faster.");
        g_assert_cmpstr(far, ==,
                "The number of ranks is limited, and an all-reduce would take 2.00 ms longer "
                "with it.");
}

/* Of several vendors, a node with GPUs of both included. */
static void test_builds(void)
{
        g_autofree char *alike = NULL, *mixed = NULL, *both = NULL, *ring = NULL;
        g_autoptr(AldPlan) plan = NULL;
        PlanCase made;

        plan_case_init(&made, "llama.cpp", 2);
        plan_case_join(&made, 0, 1, 1e6, 1e9);
        plan_case_join(&made, 1, 0, 1e6, 1e9);
        made.nodes[0].name = "green";
        made.nodes[1].name = "red";
        made.workload.layer_bytes = 5 * GIB;
        for (uint32_t i = 0; i < 2; i++) {
                made.devices[i].is_processor = made.devices[i].uses_host_memory = false;
                made.devices[i].vendor = "NVIDIA Corporation";
        }
        plan = plan_case_plan(&made);
        g_assert_cmpuint(plan->best.n_stages, ==, 2);
        alike = ald_plan_builds_sentence(&made.cluster, &made.request, &plan->best);
        g_assert_null(alike);
        made.nodes[1].name = "red, with CUDA";
        made.devices[1].vendor = "amd";
        mixed = ald_plan_builds_sentence(&made.cluster, &made.request, &plan->best);
        g_assert_cmpstr(mixed, ==,
                "GPUs of several vendors are used, for which each node needs a build of llama.cpp of its "
                "own: green with CUDA, \"red, with CUDA\" with ROCm.");
        made.devices[1].node = 0;
        both = ald_plan_builds_sentence(&made.cluster, &made.request, &plan->best);
        g_assert_cmpstr(both, ==,
                "GPUs of several vendors are used, for which each node needs a build of llama.cpp of its "
                "own: "
                "green with CUDA and ROCm. Several backends in one build need GGML_BACKEND_DL; one with "
                "Vulkan "
                "drives them all.");
        made.request.engine = ald_plan_engine_find("vllm");
        ring = ald_plan_builds_sentence(&made.cluster, &made.request, &plan->best);
        g_assert_null(ring);
}

/* The chosen engine reads the files as they are; the sentence names the others. */
static void test_model_files(void)
{
        static const struct {
                const char *format, *architecture, *engine;
                AldEngineReading reading;
                const char *said;
        } cases[] = {
                { "gguf", "llama", "llama.cpp", ALD_MODEL_READ, NULL },
                { "safetensors", "llama", "llama.cpp", ALD_MODEL_REFUSED, "convert_hf_to_gguf.py" },
                { "gguf", "llama", "vllm", ALD_MODEL_PREPARED, "vllm-gguf-plugin" },
                { "gguf", "llama", "sglang", ALD_MODEL_READ, NULL },
                { "gguf", "llama", "torch", ALD_MODEL_REFUSED, "the folder with safetensors" },
                { "safetensors", "gpt_oss", "torch", ALD_MODEL_READ, NULL },
                { "gguf", "qwen3moe", "distributed-llama", ALD_MODEL_REFUSED, "does not read GGUF" },
                { "safetensors", "qwen3_moe", "distributed-llama", ALD_MODEL_PREPARED, "convert-hf.py" },
                { "safetensors", "gpt_oss", "distributed-llama", ALD_MODEL_REFUSED, "choose another engine" },
                { "safetensors", NULL, "distributed-llama", ALD_MODEL_PREPARED, "convert-hf.py" },
                { NULL, NULL, "distributed-llama", ALD_MODEL_READ, NULL },
        };
        AldPlanWorkload gguf = ALD_PLAN_WORKLOAD_INIT, folder = ALD_PLAN_WORKLOAD_INIT,
                        numbers = ALD_PLAN_WORKLOAD_INIT;
        g_autofree char *of_gguf = NULL, *of_folder = NULL, *of_numbers = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                AldPlanWorkload workload = ALD_PLAN_WORKLOAD_INIT;
                const char *text = NULL;

                workload.model_format = cases[i].format;
                workload.architecture = cases[i].architecture;
                g_assert_cmpint((int) ald_plan_engine_reading(
                                        ald_plan_engine_find(cases[i].engine), &workload, &text),
                        ==, (int) cases[i].reading);
                g_assert_true(cases[i].said ? strstr(text, cases[i].said) != NULL : text == NULL);
        }
        gguf.model_format = "gguf";
        folder.model_format = "safetensors";
        folder.architecture = "gpt_oss";
        g_assert_cmpstr(ald_plan_engine_choose(&numbers)->name, ==, "llama.cpp");
        g_assert_cmpstr(ald_plan_engine_choose(&gguf)->name, ==, "llama.cpp");
        g_assert_cmpstr(ald_plan_engine_choose(&folder)->name, ==, "vllm");
        of_numbers = ald_plan_engine_choice_text(&numbers);
        of_gguf = ald_plan_engine_choice_text(&gguf);
        of_folder = ald_plan_engine_choice_text(&folder);
        g_assert_null(of_numbers);
        g_assert_true(g_str_has_prefix(of_gguf,
                "llama.cpp was chosen of the engines that read the model: llama.cpp, sglang. vllm reads"));
        g_assert_true(g_str_has_prefix(of_folder, "vllm was chosen of the engines that read the model: vllm, "
                                                  "sglang, torch. llama.cpp reads GGUF"));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-sentences/unmeasured", test_unmeasured);
        g_test_add_func("/plan-sentences/too-small", test_too_small);
        g_test_add_func("/plan-sentences/required", test_required);
        g_test_add_func("/plan-sentences/split", test_split);
        g_test_add_func("/plan-sentences/client", test_client);
        g_test_add_func("/plan-sentences/required-together", test_required_together);
        g_test_add_func("/plan-sentences/ranks", test_ranks);
        g_test_add_func("/plan-sentences/root", test_root);
        g_test_add_func("/plan-sentences/disbelieved", test_disbelieved);
        g_test_add_func("/plan-sentences/disputed-path", test_disputed_path);
        g_test_add_func("/plan-sentences/builds", test_builds);
        g_test_add_func("/plan-sentences/model-files", test_model_files);
        return g_test_run();
}
