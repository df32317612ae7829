/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <glib.h>

#include "probes/rdma/pair-private.h"
#include "probes/rdma/ping.h"

#define TIMEOUT 17u /* 4.096 µs × 2^17: half a second before a retransmission, for busy machines */

static int no_memory(size_t bytes, int error, AldFailure *failure)
{
        struct rlimit limit = {};

        getrlimit(RLIMIT_MEMLOCK, &limit);
        if ((error == ENOMEM || error == EPERM) && limit.rlim_cur != RLIM_INFINITY &&
                limit.rlim_cur < bytes + (1u << 20))
                return ald_fail(failure, ALD_FAILURE_MEMLOCK,
                        "%zu KiB of memory cannot be registered: the limit of locked memory (RLIMIT_MEMLOCK) "
                        "is %llu KiB",
                        bytes >> 10, (unsigned long long) limit.rlim_cur >> 10);
        return ald_fail(failure, ALD_FAILURE_OUT_OF_MEMORY, "%zu KiB of memory cannot be registered: %s",
                bytes >> 10, g_strerror(error));
}

/* Prefers memory near the device. A single call does not justify libnuma. */
static void prefer_node(void *memory, size_t bytes, int node)
{
        enum { PREFERRED = 1, NODES_MAX = 1024, BITS = 8 * sizeof(unsigned long) };
        unsigned long nodes[NODES_MAX / BITS] = {};

        if (node < 0 || node >= NODES_MAX)
                return;
        nodes[node / BITS] = 1ul << node % BITS;
        (void) syscall(SYS_mbind, memory, bytes, PREFERRED, nodes, NODES_MAX, 0);
}

static int make_memory(AldPair *pair, AldFailure *failure)
{
        int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
        size_t total = ald_plan_total(&pair->plan);

        pair->buffer = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pair->buffer == MAP_FAILED) {
                pair->buffer = NULL;
                return no_memory(total, errno, failure);
        }
        prefer_node(pair->buffer, total, pair->port->node);
        memset(pair->buffer, 0x5a, pair->plan.bytes);
        pair->memory = ibv_reg_mr(pair->domain, pair->buffer, total, access);
        return pair->memory ? 0 : no_memory(total, errno, failure);
}

static struct ibv_qp *create_queue(AldPair *pair, struct ibv_qp_init_attr *attributes)
{
        if (!pair->manager)
                return ibv_create_qp(pair->domain, attributes);
        return rdma_create_qp(pair->manager, pair->domain, attributes) == 0 ? pair->manager->qp : NULL;
}

static int make_queue(AldPair *pair, unsigned i, AldFailure *failure)
{
        struct ibv_qp_init_attr attributes = {
                .qp_type = IBV_QPT_RC,
                .send_cq = pair->sent,
                .recv_cq = pair->received,
                .cap = { .max_send_wr = pair->plan.depth,
                        .max_recv_wr = pair->plan.depth,
                        .max_send_sge = 1,
                        .max_recv_sge = 1,
                        .max_inline_data = ALD_PLAN_PING },
        };
        struct ibv_qp_init_attr plain = attributes;

        pair->queues[i] = create_queue(pair, &attributes);
        if (pair->queues[i]) {
                pair->inline_max = attributes.cap.max_inline_data;
                return 0;
        }
        /* Not every device sends inline. */
        plain.cap.max_inline_data = 0;
        pair->queues[i] = create_queue(pair, &plain);
        pair->inline_max = 0;
        return pair->queues[i] ? 0
                               : ald_fail(failure, ALD_FAILURE_LIMIT, "no queue pair of %u requests: %s",
                                         pair->plan.depth, g_strerror(errno));
}

static int make_queues(AldPair *pair, AldFailure *failure)
{
        int n = (int) (pair->plan.depth * pair->plan.queues), r = 0;

        pair->channel = ibv_create_comp_channel(pair->context);
        if (!pair->channel)
                return ald_fail(
                        failure, ALD_FAILURE_LIMIT, "no channel for completions: %s", g_strerror(errno));
        pair->sent = ibv_create_cq(pair->context, n, NULL, NULL, 0);
        pair->received = ibv_create_cq(pair->context, n, NULL, pair->channel, 0);
        if (!pair->sent || !pair->received)
                return ald_fail(failure, ALD_FAILURE_LIMIT, "no completion queue of %d entries: %s", n,
                        g_strerror(errno));
        for (unsigned i = 0; i < pair->plan.queues && r >= 0; i++)
                r = make_queue(pair, i, failure);
        return r;
}

static int get_ready(AldPair *pair, unsigned queue, AldFailure *failure)
{
        struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_INIT,
                .port_num = (uint8_t) pair->port->number,
                .qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                   IBV_ACCESS_REMOTE_READ };
        int r = pair->manager ? 0
                              : ibv_modify_qp(pair->queues[queue], &attributes,
                                        IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

        if (r != 0)
                return ald_fail(
                        failure, ALD_FAILURE_INTERNAL, "the queue pair cannot be set up: %s", g_strerror(r));
        for (unsigned i = 0; i < pair->plan.depth; i++) {
                r = ald_pair_post_room(pair, queue, i, failure);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void describe(AldPair *pair)
{
        static const char *const ids[ALD_RDMA_QUEUES_MAX] = { "0", "1", "2", "3", "4", "5", "6", "7" };
        uint32_t random[ALD_RDMA_QUEUES_MAX] = {};

        (void) !getrandom(random, sizeof random, 0);
        for (unsigned i = 0; i < pair->plan.queues; i++)
                pair->own_queues[i] = (AldRdmaQueue){
                        .id = ids[i], .number = pair->queues[i]->qp_num, .psn = random[i] & 0xffffff
                };
        pair->own = (AldRdmaReady){ .queue_pairs = { &ald_rdma_queue_struct, pair->own_queues,
                                            pair->plan.queues },
                .lid = pair->port->port.lid,
                .mtu = pair->port->port.active_mtu,
                .address = (uintptr_t) pair->buffer,
                .bytes = pair->plan.bytes,
                .key = pair->memory->rkey,
                .depth = pair->plan.depth,
                .nonce = ald_ping_nonce() };
}

int ald_pair_open(const AldPort *port, const AldPlan *plan, struct rdma_cm_id *manager, AldPair *pair,
        AldFailure *failure)
{
        struct ibv_context *context = manager ? manager->verbs : port->context;
        int flags = fcntl(context->async_fd, F_GETFL), r = 0;

        *pair = (AldPair){ .port = port, .manager = manager, .context = context, .plan = *plan };
        (void) fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK);
        pair->domain = ibv_alloc_pd(context);
        if (!pair->domain)
                r = ald_fail(failure, ALD_FAILURE_INTERNAL, "no protection domain: %s", g_strerror(errno));
        if (r >= 0)
                r = make_memory(pair, failure);
        if (r >= 0)
                r = make_queues(pair, failure);
        for (unsigned i = 0; i < plan->queues && r >= 0; i++)
                r = get_ready(pair, i, failure);
        if (r >= 0)
                describe(pair);
        return r;
}

void ald_pair_close(AldPair *pair)
{
        for (unsigned i = 0; i < pair->plan.queues; i++)
                if (pair->queues[i] && !pair->manager)
                        ibv_destroy_qp(pair->queues[i]);
                else if (pair->queues[i])
                        rdma_destroy_qp(pair->manager);
        if (pair->sent)
                ibv_destroy_cq(pair->sent);
        if (pair->received)
                ibv_destroy_cq(pair->received);
        if (pair->channel)
                ibv_destroy_comp_channel(pair->channel);
        if (pair->memory)
                ibv_dereg_mr(pair->memory);
        if (pair->domain)
                ibv_dealloc_pd(pair->domain);
        if (pair->buffer)
                munmap(pair->buffer, ald_plan_total(&pair->plan));
        g_clear_pointer(&pair->peer_record, ald_record_unref);
        *pair = (AldPair){};
}

int ald_pair_take_peer(AldPair *pair, AldRecord *ready, AldFailure *failure)
{
        const AldRdmaReady *peer = ald_record_as(ready, RDMA_READY, AldRdmaReady);

        if (peer->queue_pairs.n != pair->plan.queues)
                return ald_fail(failure, ALD_FAILURE_PROTOCOL,
                        "the number of queue pairs of the other side is %zu instead of %u",
                        peer->queue_pairs.n, pair->plan.queues);
        if (peer->bytes < pair->plan.size)
                return ald_fail(failure, ALD_FAILURE_PROTOCOL,
                        "the memory of the other side is smaller than a message");
        pair->peer_record = ald_record_ref(ready);
        pair->peer = peer;
        pair->limit = (unsigned) MIN(pair->plan.depth, peer->depth);
        pair->group = ald_plan_group(pair->limit);
        return 0;
}

static int to_receive(AldPair *pair, unsigned queue, const AldGid *own, const AldGid *peer)
{
        const AldRdmaQueue *other = ald_rows_at(&pair->peer->queue_pairs, queue);
        struct ibv_qp_attr attributes = {
                .qp_state = IBV_QPS_RTR,
                .path_mtu = (enum ibv_mtu) MIN(pair->own.mtu, pair->peer->mtu),
                .dest_qp_num = (uint32_t) other->number,
                .rq_psn = (uint32_t) other->psn,
                .max_dest_rd_atomic = 1,
                .min_rnr_timer = 12,
                .ah_attr = { .dlid = (uint16_t) pair->peer->lid, .port_num = (uint8_t) pair->port->number },
        };

        if (own) {
                attributes.ah_attr.is_global = 1;
                attributes.ah_attr.grh.sgid_index = (uint8_t) own->index;
                attributes.ah_attr.grh.hop_limit = 64;
                memcpy(attributes.ah_attr.grh.dgid.raw, &peer->bytes, sizeof peer->bytes);
        }
        return ibv_modify_qp(pair->queues[queue], &attributes,
                IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int connect_queue(
        AldPair *pair, unsigned queue, const AldGid *own, const AldGid *peer, AldFailure *failure)
{
        struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_RTS,
                .timeout = TIMEOUT,
                .retry_cnt = ALD_PAIR_RETRIES,
                .rnr_retry = 7, /* forever: the callers have deadlines */
                .sq_psn = (uint32_t) pair->own_queues[queue].psn,
                .max_rd_atomic = 1 };
        int r = to_receive(pair, queue, own, peer);

        if (r != 0)
                return ald_fail(failure, ALD_FAILURE_UNREACHABLE,
                        "the device finds no way to the GID of the other side: %s", g_strerror(r));
        r = ibv_modify_qp(pair->queues[queue], &attributes,
                IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                        IBV_QP_MAX_QP_RD_ATOMIC);
        return r == 0 ? 0
                      : ald_fail(failure, ALD_FAILURE_INTERNAL, "the queue pair cannot send: %s",
                                g_strerror(r));
}

int ald_pair_connect(AldPair *pair, const AldGid *own, const AldGid *peer, AldFailure *failure)
{
        int r = 0;

        for (unsigned i = 0; i < pair->plan.queues && r >= 0; i++)
                r = connect_queue(pair, i, own, peer, failure);
        return r;
}
