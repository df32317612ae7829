/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "placement/plan/engine.h"
#include "placement/plan/method.h"

/*
 * llama.cpp: ggml-rpc-server computes a part of a graph for its client, whose scheduler copies the
 * activations between parts (ggml-backend.cpp and ggml-rpc.cpp); --tensor-split takes 15 numbers. Servers and
 * clients open sockets of AF_INET only (transport.cpp of ggml-rpc), as distributed-llama does
 * (nn-network.cpp). vLLM, SGLang and torch: pipelines over NCCL or RCCL, whose stages send activations to the
 * next one. What closes the ring is only the token of each request: of vLLM the last stage alone replies to
 * the scheduler (_get_output_rank() of v1/executor/multiproc_executor.py) or broadcasts the tokens to the
 * others (_pp_broadcast_prev_sampled_token_ids() of v1/worker/gpu_model_runner.py); of SGLang it sends
 * next_token_ids to the first stage (_pp_prepare_tensor_dict() of srt/managers/scheduler_pp_mixin.py); of
 * torch it returns the output to the program (distributed/pipelining/stage.py), which gives the first stage
 * the next token. The first two divide the stages by --nnodes. distributed-llama: see slice-cost.h; its GPUs
 * would have to have Vulkan, and are not planned for. MPI and NCCL: rings of all-reduce in the order of the
 * ranks (of NCCL, between nodes), with one rank for each node or GPU.
 */
static const AldPlanEngine engines[] = {
        { "llama.cpp", &ald_star_method, .takes_processors = true, .takes_gpus = true, .needs_context = true,
                .knows_buffers = true, .differs_by_backend = true, .names = ALD_PLAN_NAMES_IPV4,
                .devices_max = 15, .context_max = INT32_MAX },
        { "vllm", &ald_ring_method, .takes_gpus = true, .takes_rdma = true, .one_vendor = true,
                .nodes_even = true, .names = ALD_PLAN_NAMES_RANKS },
        { "sglang", &ald_ring_method, .takes_gpus = true, .takes_rdma = true, .one_vendor = true,
                .nodes_even = true, .names = ALD_PLAN_NAMES_RANKS },
        { "torch", &ald_ring_method, .takes_gpus = true, .takes_rdma = true, .one_vendor = true,
                .names = ALD_PLAN_NAMES_RANKS },
        { "distributed-llama", &ald_slice_method, .takes_processors = true, .names = ALD_PLAN_NAMES_IPV4 },
        { "mpi", &ald_all_reduce_method, .takes_processors = true, .takes_rdma = true,
                .names = ALD_PLAN_NAMES_HOSTS },
        { "nccl", &ald_all_reduce_method, .takes_gpus = true, .takes_rdma = true, .one_vendor = true,
                .names = ALD_PLAN_NAMES_RANKS },
};

const AldPlanEngine *ald_plan_engine_find(const char *name)
{
        for (size_t i = 0; i < G_N_ELEMENTS(engines); i++)
                if (strcmp(engines[i].name, name) == 0)
                        return &engines[i];
        return NULL;
}
