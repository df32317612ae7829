/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "placement/export/plan-formats.h"
#include "placement/plan/engine.h"
#include "placement/plan/method.h"

/*
 * llama.cpp: ggml-rpc-server computes a part of a graph for its client, whose scheduler copies the
 * activations between parts (ggml-backend.cpp and ggml-rpc.cpp); --tensor-split takes 15 numbers
 * (llama_max_devices() is 16, and 16 are refused). Servers and clients open sockets of AF_INET only
 * (transport.cpp of ggml-rpc), as distributed-llama does (nn-network.cpp). A build uses the GPUs of the
 * backends that it was built with. Servers compute whatever their clients send, so each node may have a
 * different build. CUDA and ROCm can only be in one build as modules, and Vulkan drives the GPUs of all
 * vendors; SYCL can be built for any one vendor.
 *
 * vLLM, SGLang and torch: pipelines over NCCL or RCCL, whose stages send activations to the next one. Only
 * the token of each request closes the ring: in vLLM the last stage alone replies to the scheduler
 * (_get_output_rank() of v1/executor/multiproc_executor.py) or broadcasts the tokens to the others
 * (_pp_broadcast_prev_sampled_token_ids() of v1/worker/gpu_model_runner.py); in SGLang it sends
 * next_token_ids to the first stage (_pp_prepare_tensor_dict() of srt/managers/scheduler_pp_mixin.py); in
 * torch it returns the output to the program (distributed/pipelining/stage.py), which gives the first stage
 * the next token. The first two divide the stages by --nnodes. They keep keys and values in the type of the
 * model, which has 16 bits, or in fp8, which llama.cpp does not have; a program for torch may use any type of
 * torch.
 *
 * distributed-llama: see slice-cost.h; its GPUs would need Vulkan, and are not planned with; it keeps keys
 * and values in fp32. MPI and NCCL: rings of all-reduce in the order of the ranks (in NCCL, between nodes),
 * with one rank for each node or GPU.
 *
 * Files, according to the engines' documentation: convert_hf_to_gguf.py belongs to llama.cpp; vLLM has moved
 * GGUF to a plugin, which loads models of one file; SGLang detects a path that ends in .gguf; programs for
 * torch load safetensors; convert-hf.py of distributed-llama makes its own files from the architectures
 * below.
 */

static const AldEngineBackend llama_backends[] = {
        { "cuda", "CUDA", .vendor = "NVIDIA", .usual = "NVIDIA" },
        { "rocm", "ROCm", .vendor = "AMD", .usual = "AMD" },
        { "sycl", "SYCL", .usual = "Intel" },
        { "vulkan", "Vulkan" },
        {},
};

/* Safetensors and GGUF may name an architecture differently; both names are listed here. */
static const char *const dllama_architectures[] = { "llama", "mistral", "qwen3", "qwen3_moe", "qwen3moe",
        NULL };

const AldPlanEngine ald_plan_engines[] = {
        {
                .name = "llama.cpp",
                .method = &ald_star_method,
                .takes_processors = true,
                .takes_gpus = true,
                .needs_context = true,
                .knows_buffers = true,
                .names = ALD_PLAN_NAMES_IPV4,
                .devices_max = 15,
                .context_max = INT32_MAX,
                .kv_types = ALD_KV_ALL,
                .safetensors = { ALD_MODEL_REFUSED,
                        "llama.cpp reads GGUF files only; convert the folder with its convert_hf_to_gguf.py "
                        "(convert_hf_to_gguf.py --outfile MODEL.gguf FOLDER), and place that file" },
                .backends = llama_backends,
                .backends_text = "Several backends in one build need GGML_BACKEND_DL; one with Vulkan drives "
                                 "them all.",
                .formats = { &ald_llama_format },
        },
        {
                .name = "vllm",
                .method = &ald_ring_method,
                .takes_gpus = true,
                .takes_rdma = true,
                .one_vendor = true,
                .nodes_even = true,
                .names = ALD_PLAN_NAMES_RANKS,
                .kv_types = ALD_KV_BIT(ALD_KV_F16) | ALD_KV_BIT(ALD_KV_BF16),
                .gguf = { ALD_MODEL_PREPARED, "vllm reads GGUF only with vllm-gguf-plugin, which is "
                                              "experimental, and only if it is one file" },
                .formats = { &ald_vllm_format },
        },
        {
                .name = "sglang",
                .method = &ald_ring_method,
                .takes_gpus = true,
                .takes_rdma = true,
                .one_vendor = true,
                .nodes_even = true,
                .names = ALD_PLAN_NAMES_RANKS,
                .kv_types = ALD_KV_BIT(ALD_KV_F16) | ALD_KV_BIT(ALD_KV_BF16),
                .formats = { &ald_sglang_format },
        },
        {
                .name = "torch",
                .method = &ald_ring_method,
                .takes_gpus = true,
                .takes_rdma = true,
                .one_vendor = true,
                .names = ALD_PLAN_NAMES_RANKS,
                .kv_types = ALD_KV_BIT(ALD_KV_F32) | ALD_KV_BIT(ALD_KV_F16) | ALD_KV_BIT(ALD_KV_BF16),
                .gguf = { ALD_MODEL_REFUSED, "torch does not read GGUF; place the folder with safetensors "
                                             "that the file was converted from" },
                .formats = { &ald_mpi_format, &ald_torchrun_format },
        },
        {
                .name = "distributed-llama",
                .method = &ald_slice_method,
                .takes_processors = true,
                .names = ALD_PLAN_NAMES_IPV4,
                .kv_types = ALD_KV_BIT(ALD_KV_F32),
                .gguf = { ALD_MODEL_REFUSED,
                        "distributed-llama does not read GGUF; place the folder with safetensors that the "
                        "file was converted from, of which its convert-hf.py makes a file that it reads" },
                .safetensors = { ALD_MODEL_PREPARED,
                        "distributed-llama reads a file that its convert-hf.py makes of the folder "
                        "(convert-hf.py FOLDER q40 NAME); the weights are planned as large as they are in "
                        "the folder, with q40 they take 4.5 bits each" },
                .architectures = dllama_architectures,
                .architectures_text = "distributed-llama runs the architectures llama, mistral, qwen3 and "
                                      "qwen3_moe only; choose another engine",
                .formats = { &ald_dllama_format },
        },
        {
                .name = "mpi",
                .method = &ald_all_reduce_method,
                .takes_processors = true,
                .takes_rdma = true,
                .names = ALD_PLAN_NAMES_HOSTS,
                .devices_max = 256, /* the limit of the solver */
                .formats = { &ald_mpi_format },
        },
        {
                .name = "nccl",
                .method = &ald_all_reduce_method,
                .takes_gpus = true,
                .takes_rdma = true,
                .one_vendor = true,
                .names = ALD_PLAN_NAMES_RANKS,
                .formats = { &ald_mpi_format, &ald_torchrun_format },
        },
        {},
};
