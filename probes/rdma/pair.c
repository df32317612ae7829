/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>

#include <glib.h>

#include "probes/rdma/pair-private.h"
#include "probes/rdma/pair.h"

#define UNDER_WAY_BYTES (64u << 20)
#define BUFFER_BYTES (4u << 20)
#define DEPTH_MIN 16u
#define DEPTH_MAX 128u
#define TIMEOUT 17u /* 4.096 µs × 2^17: half a second before it sends again, as where all is busy */
#define RETRIES 7u

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

static size_t total(const AldPair *pair)
{
        return pair->bytes + (size_t) pair->depth * ALD_PAIR_PING;
}

static int make_memory(AldPair *pair, AldFailure *failure)
{
        int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

        pair->buffer = mmap(NULL, total(pair), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pair->buffer == MAP_FAILED) {
                pair->buffer = NULL;
                return no_memory(total(pair), errno, failure);
        }
        memset(pair->buffer, 0x5a, pair->bytes);
        pair->memory = ibv_reg_mr(pair->domain, pair->buffer, total(pair), access);
        return pair->memory ? 0 : no_memory(total(pair), errno, failure);
}

static int make_queues(AldPair *pair, AldFailure *failure)
{
        struct ibv_qp_init_attr attributes = {
                .qp_type = IBV_QPT_RC,
                .cap = { .max_send_wr = pair->depth,
                        .max_recv_wr = pair->depth,
                        .max_send_sge = 1,
                        .max_recv_sge = 1,
                        .max_inline_data = ALD_PAIR_PING },
        };

        pair->sent = ibv_create_cq(pair->port->context, (int) pair->depth, NULL, NULL, 0);
        pair->received = ibv_create_cq(pair->port->context, (int) pair->depth, NULL, NULL, 0);
        if (!pair->sent || !pair->received)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "no completion queue: %s", g_strerror(errno));
        attributes.send_cq = pair->sent;
        attributes.recv_cq = pair->received;
        pair->qp = ibv_create_qp(pair->domain, &attributes);
        if (!pair->qp) {
                /* Not every device sends inline. */
                attributes.cap.max_inline_data = 0;
                pair->qp = ibv_create_qp(pair->domain, &attributes);
        }
        if (!pair->qp)
                return ald_fail(failure, ALD_FAILURE_INTERNAL, "no queue pair: %s", g_strerror(errno));
        pair->inline_max = attributes.cap.max_inline_data;
        return 0;
}

static int get_ready(AldPair *pair, AldFailure *failure)
{
        struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_INIT,
                .port_num = (uint8_t) pair->port->number,
                .qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                   IBV_ACCESS_REMOTE_READ };
        int r = ibv_modify_qp(
                pair->qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

        if (r != 0)
                return ald_fail(
                        failure, ALD_FAILURE_INTERNAL, "the queue pair cannot be set up: %s", g_strerror(r));
        for (unsigned i = 0; i < pair->depth; i++) {
                r = ald_pair_post_room(pair, i, failure);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void describe(AldPair *pair)
{
        uint32_t random[3] = {};

        (void) !getrandom(random, sizeof random, 0);
        pair->own = (AldRdmaEnd){ .lid = pair->port->port.lid,
                .qpn = pair->qp->qp_num,
                .psn = random[0] & 0xffffff,
                .mtu = pair->port->port.active_mtu,
                .address = (uintptr_t) pair->buffer,
                .bytes = pair->bytes,
                .key = pair->memory->rkey,
                .depth = pair->depth,
                .nonce = ((uint64_t) random[1] << 31) ^ random[2] };
}

int ald_pair_open(const AldPort *port, size_t size, AldPair *ret, AldFailure *failure)
{
        unsigned depth = (unsigned) CLAMP(UNDER_WAY_BYTES / size, DEPTH_MIN, DEPTH_MAX);
        int flags = fcntl(port->context->async_fd, F_GETFL), r = 0;

        *ret = (AldPair){ .port = port, .size = size, .bytes = MAX(BUFFER_BYTES, size) / size * size };
        ret->depth = MIN(depth, (unsigned) MIN(port->device.max_qp_wr, port->device.max_cqe));
        (void) fcntl(port->context->async_fd, F_SETFL, flags | O_NONBLOCK);
        ret->domain = ibv_alloc_pd(port->context);
        if (!ret->domain)
                r = ald_fail(failure, ALD_FAILURE_INTERNAL, "no protection domain: %s", g_strerror(errno));
        if (r >= 0)
                r = make_memory(ret, failure);
        if (r >= 0)
                r = make_queues(ret, failure);
        if (r >= 0)
                r = get_ready(ret, failure);
        if (r >= 0)
                describe(ret);
        return r;
}

void ald_pair_close(AldPair *pair)
{
        if (pair->qp)
                ibv_destroy_qp(pair->qp);
        if (pair->sent)
                ibv_destroy_cq(pair->sent);
        if (pair->received)
                ibv_destroy_cq(pair->received);
        if (pair->memory)
                ibv_dereg_mr(pair->memory);
        if (pair->domain)
                ibv_dealloc_pd(pair->domain);
        if (pair->buffer)
                munmap(pair->buffer, total(pair));
        *pair = (AldPair){};
}

static int to_receive(AldPair *pair, const AldGid *own, const AldGid *peer)
{
        struct ibv_qp_attr attributes = {
                .qp_state = IBV_QPS_RTR,
                .path_mtu = (enum ibv_mtu) MIN(pair->own.mtu, pair->peer.mtu),
                .dest_qp_num = (uint32_t) pair->peer.qpn,
                .rq_psn = (uint32_t) pair->peer.psn,
                .max_dest_rd_atomic = 1,
                .min_rnr_timer = 12,
                .ah_attr = { .dlid = (uint16_t) pair->peer.lid, .port_num = (uint8_t) pair->port->number },
        };

        if (own) {
                attributes.ah_attr.is_global = 1;
                attributes.ah_attr.grh.sgid_index = (uint8_t) own->index;
                attributes.ah_attr.grh.hop_limit = 64;
                memcpy(attributes.ah_attr.grh.dgid.raw, &peer->bytes, sizeof peer->bytes);
        }
        return ibv_modify_qp(pair->qp, &attributes,
                IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int ald_pair_connect(AldPair *pair, const AldGid *own, const AldGid *peer, AldFailure *failure)
{
        struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_RTS,
                .timeout = TIMEOUT,
                .retry_cnt = RETRIES,
                .rnr_retry = 7, /* without end: we look at the clock ourselves */
                .sq_psn = (uint32_t) pair->own.psn,
                .max_rd_atomic = 1 };
        int r = to_receive(pair, own, peer);

        if (r != 0)
                return ald_fail(failure, ALD_FAILURE_UNREACHABLE,
                        "the device finds no way to the GID of the other side: %s", g_strerror(r));
        r = ibv_modify_qp(pair->qp, &attributes,
                IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                        IBV_QP_MAX_QP_RD_ATOMIC);
        return r == 0 ? 0
                      : ald_fail(failure, ALD_FAILURE_INTERNAL, "the queue pair cannot send: %s",
                                g_strerror(r));
}
