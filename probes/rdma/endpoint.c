/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <glib.h>

#include "probes/rdma/endpoint.h"
#include "probes/rdma/ping.h"
#include "record/figure-text.h"

#define TIMEOUT 17u /* 4.096 µs × 2^17: half a second before a retransmission, for busy machines */

/* The time to wait for an event that explains why a connection ended, and the number of attempts, since some
 * events may be unrelated. */
#define REASON_MSEC 100
#define REASON_LOOKS 5u

/* The id of a request, in 64 bits: the queue, and the slot or the number of messages that it completes. */
#define ID(queue, value) ((uint64_t) (queue) << 32 | (value))
#define QUEUE(id) ((unsigned) ((id) >> 32))
#define VALUE(id) ((unsigned) (id))

static uint8_t *receive_buffer(const AldEndpoint *endpoint, unsigned queue, unsigned slot)
{
        unsigned buffer = (queue * endpoint->plan.depth + slot) % endpoint->plan.n_receives;

        return endpoint->buffer + endpoint->plan.bytes + buffer * endpoint->plan.receive_bytes;
}

/* Posts one receive request. */
static int post_receive(AldEndpoint *endpoint, unsigned queue, unsigned slot, AldFailure *failure)
{
        struct ibv_sge place = { .addr = (uintptr_t) receive_buffer(endpoint, queue, slot),
                .length = (uint32_t) endpoint->plan.receive_bytes,
                .lkey = endpoint->memory->lkey };
        struct ibv_recv_wr request = { .wr_id = ID(queue, slot), .sg_list = &place, .num_sge = 1 }, *bad;
        int r = ibv_post_recv(endpoint->queues[queue], &request, &bad);

        return r == 0 ? 0
                      : ald_fail(failure, ALD_FAILURE_DEVICE_LOST, "the device takes no request: %s",
                                g_strerror(r));
}

static int fail_memory(size_t bytes, int error, AldFailure *failure)
{
        g_autofree char *size = ald_format_figure(&ald_unit_bytes, (double) bytes), *most = NULL;
        struct rlimit limit = {};

        getrlimit(RLIMIT_MEMLOCK, &limit);
        if ((error == ENOMEM || error == EPERM) && limit.rlim_cur != RLIM_INFINITY &&
                limit.rlim_cur < bytes + (1u << 20)) {
                most = ald_format_figure(&ald_unit_bytes, (double) limit.rlim_cur);
                return ald_fail(failure, ALD_FAILURE_MEMLOCK,
                        "%s of memory cannot be registered: the limit of locked memory (RLIMIT_MEMLOCK) "
                        "is %s",
                        size, most);
        }
        return ald_fail(failure, ALD_FAILURE_OUT_OF_MEMORY, "%s of memory cannot be registered: %s", size,
                g_strerror(error));
}

/* Requests memory near the device. A single call does not justify libnuma. */
static void prefer_node(void *memory, size_t bytes, int node)
{
        enum { PREFERRED = 1, NODES_MAX = 1024, BITS = 8 * sizeof(unsigned long) };
        unsigned long nodes[NODES_MAX / BITS] = {};

        if (node < 0 || node >= NODES_MAX)
                return;
        nodes[node / BITS] = 1ul << node % BITS;
        (void) syscall(SYS_mbind, memory, bytes, PREFERRED, nodes, NODES_MAX, 0);
}

static int make_memory(AldEndpoint *endpoint, AldFailure *failure)
{
        int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
        size_t total = ald_rdma_plan_total(&endpoint->plan);

        endpoint->buffer = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (endpoint->buffer == MAP_FAILED) {
                endpoint->buffer = NULL;
                return fail_memory(total, errno, failure);
        }
        prefer_node(endpoint->buffer, total, endpoint->port->node);
        memset(endpoint->buffer, 0x5a, endpoint->plan.bytes);
        endpoint->memory = ibv_reg_mr(endpoint->domain, endpoint->buffer, total, access);
        return endpoint->memory ? 0 : fail_memory(total, errno, failure);
}

static struct ibv_qp *create_queue(AldEndpoint *endpoint, struct ibv_qp_init_attr *attributes)
{
        if (!endpoint->manager)
                return ibv_create_qp(endpoint->domain, attributes);
        return rdma_create_qp(endpoint->manager, endpoint->domain, attributes) == 0 ? endpoint->manager->qp
                                                                                    : NULL;
}

static int make_queue(AldEndpoint *endpoint, unsigned i, AldFailure *failure)
{
        struct ibv_qp_init_attr attributes = {
                .qp_type = IBV_QPT_RC,
                .send_cq = endpoint->sent,
                .recv_cq = endpoint->received,
                .cap = { .max_send_wr = endpoint->plan.depth,
                        .max_recv_wr = endpoint->plan.depth,
                        .max_send_sge = 1,
                        .max_recv_sge = 1,
                        .max_inline_data = ALD_RDMA_PLAN_PING },
        };
        struct ibv_qp_init_attr plain = attributes;

        endpoint->queues[i] = create_queue(endpoint, &attributes);
        if (endpoint->queues[i]) {
                endpoint->inline_max = attributes.cap.max_inline_data;
                return 0;
        }
        /* Not every device sends inline. */
        plain.cap.max_inline_data = 0;
        endpoint->queues[i] = create_queue(endpoint, &plain);
        endpoint->inline_max = 0;
        return endpoint->queues[i] ? 0
                                   : ald_fail(failure, ALD_FAILURE_LIMIT, "no queue pair of %u requests: %s",
                                             endpoint->plan.depth, g_strerror(errno));
}

static int make_queues(AldEndpoint *endpoint, AldFailure *failure)
{
        int n = (int) (endpoint->plan.depth * endpoint->plan.queues), r = 0;

        endpoint->channel = ibv_create_comp_channel(endpoint->context);
        if (!endpoint->channel)
                return ald_fail(
                        failure, ALD_FAILURE_LIMIT, "no channel for completions: %s", g_strerror(errno));
        endpoint->sent = ibv_create_cq(endpoint->context, n, NULL, NULL, 0);
        endpoint->received = ibv_create_cq(endpoint->context, n, NULL, endpoint->channel, 0);
        if (!endpoint->sent || !endpoint->received)
                return ald_fail(failure, ALD_FAILURE_LIMIT, "no completion queue of %d entries: %s", n,
                        g_strerror(errno));
        for (unsigned i = 0; i < endpoint->plan.queues && r >= 0; i++)
                r = make_queue(endpoint, i, failure);
        return r;
}

static int prepare_queue(AldEndpoint *endpoint, unsigned queue, AldFailure *failure)
{
        struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_INIT,
                .port_num = (uint8_t) endpoint->port->number,
                .qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                   IBV_ACCESS_REMOTE_READ };
        int r = endpoint->manager
                        ? 0
                        : ibv_modify_qp(endpoint->queues[queue], &attributes,
                                  IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);

        if (r != 0)
                return ald_fail(
                        failure, ALD_FAILURE_INTERNAL, "the queue pair cannot be set up: %s", g_strerror(r));
        for (unsigned i = 0; i < endpoint->plan.depth; i++) {
                r = post_receive(endpoint, queue, i, failure);
                if (r < 0)
                        return r;
        }
        return 0;
}

static void describe_own_end(AldEndpoint *endpoint)
{
        static const char *const ids[ALD_RDMA_QUEUES_MAX] = { "0", "1", "2", "3", "4", "5", "6", "7" };
        uint32_t random[ALD_RDMA_QUEUES_MAX] = {};

        (void) !getrandom(random, sizeof random, 0);
        for (unsigned i = 0; i < endpoint->plan.queues; i++)
                endpoint->own_queues[i] = (AldRdmaQueue){
                        .id = ids[i], .number = endpoint->queues[i]->qp_num, .psn = random[i] & 0xffffff
                };
        endpoint->own = (AldRdmaReady){ .queue_pairs = { &ald_rdma_queue_struct, endpoint->own_queues,
                                                endpoint->plan.queues },
                .lid = endpoint->port->port.lid,
                .mtu = endpoint->port->port.active_mtu,
                .address = (uintptr_t) endpoint->buffer,
                .bytes = endpoint->plan.bytes,
                .key = endpoint->memory->rkey,
                .depth = endpoint->plan.depth,
                .nonce = ald_ping_nonce() };
}

int ald_endpoint_open(const AldVerbsPort *port, const AldRdmaPlan *plan, struct rdma_cm_id *manager,
        AldEndpoint *endpoint, AldFailure *failure)
{
        struct ibv_context *context = manager ? manager->verbs : port->context;
        int flags = fcntl(context->async_fd, F_GETFL), r = 0;

        *endpoint = (AldEndpoint){ .port = port, .manager = manager, .context = context, .plan = *plan };
        (void) fcntl(context->async_fd, F_SETFL, flags | O_NONBLOCK);
        endpoint->domain = ibv_alloc_pd(context);
        if (!endpoint->domain)
                r = ald_fail(failure, ALD_FAILURE_INTERNAL, "no protection domain: %s", g_strerror(errno));
        if (r >= 0)
                r = make_memory(endpoint, failure);
        if (r >= 0)
                r = make_queues(endpoint, failure);
        for (unsigned i = 0; i < plan->queues && r >= 0; i++)
                r = prepare_queue(endpoint, i, failure);
        if (r >= 0)
                describe_own_end(endpoint);
        return r;
}

void ald_endpoint_close(AldEndpoint *endpoint)
{
        for (unsigned i = 0; i < endpoint->plan.queues; i++)
                if (endpoint->queues[i] && !endpoint->manager)
                        ibv_destroy_qp(endpoint->queues[i]);
                else if (endpoint->queues[i])
                        rdma_destroy_qp(endpoint->manager);
        if (endpoint->sent)
                ibv_destroy_cq(endpoint->sent);
        if (endpoint->received)
                ibv_destroy_cq(endpoint->received);
        if (endpoint->channel)
                ibv_destroy_comp_channel(endpoint->channel);
        if (endpoint->memory)
                ibv_dereg_mr(endpoint->memory);
        if (endpoint->domain)
                ibv_dealloc_pd(endpoint->domain);
        if (endpoint->buffer)
                munmap(endpoint->buffer, ald_rdma_plan_total(&endpoint->plan));
        g_clear_pointer(&endpoint->peer_record, ald_record_unref);
        *endpoint = (AldEndpoint){};
}

int ald_endpoint_set_peer(AldEndpoint *endpoint, AldRecord *ready, AldFailure *failure)
{
        const AldRdmaReady *peer = ald_record_as(ready, RDMA_READY, AldRdmaReady);

        if (peer->queue_pairs.n != endpoint->plan.queues)
                return ald_fail(failure, ALD_FAILURE_PROTOCOL,
                        "the number of queue pairs of the other side is %zu instead of %u",
                        peer->queue_pairs.n, endpoint->plan.queues);
        if (peer->bytes < endpoint->plan.size)
                return ald_fail(failure, ALD_FAILURE_PROTOCOL,
                        "the memory of the other side is smaller than a message");
        endpoint->peer_record = ald_record_ref(ready);
        endpoint->peer = peer;
        endpoint->limit = (unsigned) MIN(endpoint->plan.depth, peer->depth);
        endpoint->group = ald_rdma_plan_group(endpoint->limit);
        return 0;
}

static int enable_receiving(AldEndpoint *endpoint, unsigned queue, const AldGid *own, const AldGid *peer)
{
        const AldRdmaQueue *other = ald_rows_at(&endpoint->peer->queue_pairs, queue);
        struct ibv_qp_attr attributes = {
                .qp_state = IBV_QPS_RTR,
                .path_mtu = (enum ibv_mtu) MIN(endpoint->own.mtu, endpoint->peer->mtu),
                .dest_qp_num = (uint32_t) other->number,
                .rq_psn = (uint32_t) other->psn,
                .max_dest_rd_atomic = 1,
                .min_rnr_timer = 12,
                .ah_attr = { .dlid = (uint16_t) endpoint->peer->lid,
                        .port_num = (uint8_t) endpoint->port->number },
        };

        if (own) {
                attributes.ah_attr.is_global = 1;
                attributes.ah_attr.grh.sgid_index = (uint8_t) own->index;
                attributes.ah_attr.grh.hop_limit = 64;
                memcpy(attributes.ah_attr.grh.dgid.raw, &peer->bytes, sizeof peer->bytes);
        }
        return ibv_modify_qp(endpoint->queues[queue], &attributes,
                IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int connect_queue(
        AldEndpoint *endpoint, unsigned queue, const AldGid *own, const AldGid *peer, AldFailure *failure)
{
        struct ibv_qp_attr attributes = { .qp_state = IBV_QPS_RTS,
                .timeout = TIMEOUT,
                .retry_cnt = ALD_ENDPOINT_RETRIES,
                .rnr_retry = 7, /* forever, since the callers have deadlines */
                .sq_psn = (uint32_t) endpoint->own_queues[queue].psn,
                .max_rd_atomic = 1 };
        int r = enable_receiving(endpoint, queue, own, peer);

        if (r != 0)
                return ald_fail(failure, ALD_FAILURE_UNREACHABLE,
                        "the device finds no way to the GID of the other side: %s", g_strerror(r));
        r = ibv_modify_qp(endpoint->queues[queue], &attributes,
                IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                        IBV_QP_MAX_QP_RD_ATOMIC);
        return r == 0 ? 0
                      : ald_fail(failure, ALD_FAILURE_INTERNAL, "the queue pair cannot send: %s",
                                g_strerror(r));
}

int ald_endpoint_connect(AldEndpoint *endpoint, const AldGid *own, const AldGid *peer, AldFailure *failure)
{
        int r = 0;

        for (unsigned i = 0; i < endpoint->plan.queues && r >= 0; i++)
                r = connect_queue(endpoint, i, own, peer, failure);
        return r;
}

static int post_send(AldEndpoint *endpoint, unsigned queue, struct ibv_send_wr *request, AldFailure *failure)
{
        struct ibv_send_wr *bad;
        int r = ibv_post_send(endpoint->queues[queue], request, &bad);

        if (r != 0)
                return ald_fail(
                        failure, ALD_FAILURE_DEVICE_LOST, "the device takes no request: %s", g_strerror(r));
        endpoint->under_way[queue]++;
        return 0;
}

int ald_endpoint_ping(AldEndpoint *endpoint, unsigned queue, AldFailure *failure)
{
        struct ibv_sge place = { (uintptr_t) endpoint->buffer, ALD_RDMA_PLAN_PING, endpoint->memory->lkey };
        struct ibv_send_wr request = { .wr_id = ID(queue, 1),
                .sg_list = &place,
                .num_sge = 1,
                .opcode = IBV_WR_SEND,
                .send_flags = IBV_SEND_SIGNALED |
                              (endpoint->inline_max >= ALD_RDMA_PLAN_PING ? IBV_SEND_INLINE : 0) };

        return post_send(endpoint, queue, &request, failure);
}

int ald_endpoint_read(AldEndpoint *endpoint, AldFailure *failure)
{
        struct ibv_sge place = { (uintptr_t) endpoint->buffer, ALD_RDMA_PLAN_PING, endpoint->memory->lkey };
        struct ibv_send_wr request = { .wr_id = ID(0, 1),
                .sg_list = &place,
                .num_sge = 1,
                .opcode = IBV_WR_RDMA_READ,
                .send_flags = IBV_SEND_SIGNALED,
                .wr.rdma = { endpoint->peer->address, (uint32_t) endpoint->peer->key } };

        return post_send(endpoint, 0, &request, failure);
}

static int post_message(AldEndpoint *endpoint, unsigned queue, bool signaled, AldFailure *failure)
{
        size_t size = endpoint->plan.size, own = endpoint->posted % (endpoint->plan.bytes / size),
               theirs = endpoint->posted % (endpoint->peer->bytes / size);
        struct ibv_sge place = { (uintptr_t) (endpoint->buffer + own * size), (uint32_t) size,
                endpoint->memory->lkey };
        struct ibv_send_wr request = { .wr_id = ID(queue, endpoint->group),
                .sg_list = &place,
                .num_sge = 1,
                .opcode = IBV_WR_SEND,
                .send_flags = signaled ? IBV_SEND_SIGNALED : 0 };

        if (endpoint->plan.operation == ALD_RDMA_USE_OPERATION_WRITE) {
                request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
                request.wr.rdma.remote_addr = endpoint->peer->address + theirs * size;
                request.wr.rdma.rkey = (uint32_t) endpoint->peer->key;
        }
        endpoint->posted++;
        return post_send(endpoint, queue, &request, failure);
}

int ald_endpoint_fill(AldEndpoint *endpoint, AldFailure *failure)
{
        uint64_t before = endpoint->posted;
        int r = 0;

        for (unsigned queue = 0; queue < endpoint->plan.queues; queue++)
                if (endpoint->under_way[queue] + endpoint->group <= endpoint->limit)
                        for (unsigned i = 1; i <= endpoint->group && r >= 0; i++)
                                r = post_message(endpoint, queue, i == endpoint->group, failure);
        return r < 0 ? r : (int) (endpoint->posted - before);
}

bool ald_endpoint_is_idle(const AldEndpoint *endpoint)
{
        for (unsigned queue = 0; queue < endpoint->plan.queues; queue++)
                if (endpoint->under_way[queue] > 0)
                        return false;
        return true;
}

void ald_endpoint_note_verified(AldEndpoint *endpoint)
{
        endpoint->verified |= 1u << endpoint->last_queue;
}

bool ald_endpoint_is_verified(const AldEndpoint *endpoint)
{
        return endpoint->verified == (1u << endpoint->plan.queues) - 1;
}

static int read_async_event(const AldEndpoint *endpoint, int msec, AldFailure *failure)
{
        struct pollfd fd = { endpoint->context->async_fd, POLLIN, 0 };
        struct ibv_async_event event;
        enum ibv_event_type type;

        if (poll(&fd, 1, msec) <= 0 || ibv_get_async_event(endpoint->context, &event) < 0)
                return 0;
        type = event.event_type;
        ibv_ack_async_event(&event);
        switch (type) {
        case IBV_EVENT_DEVICE_FATAL:
                return ald_fail(failure, ALD_FAILURE_DEVICE_LOST, "%s was removed or has failed",
                        endpoint->port->name);
        case IBV_EVENT_PORT_ERR:
                return event.element.port_num != (int) endpoint->port->number
                               ? 0
                               : ald_fail(failure, ALD_FAILURE_PORT_DOWN, "%s went down",
                                         endpoint->port->name);
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_CQ_ERR:
                return ald_fail(failure, ALD_FAILURE_ABORTED, "RDMA failed: %s", ibv_event_type_str(type));
        default:
                return 0;
        }
}

int ald_endpoint_check(const AldEndpoint *endpoint, AldFailure *failure)
{
        return read_async_event(endpoint, 0, failure);
}

/* Waits for the reason, since connections may end before the event that their port went down arrives. */
static int wait_for_reason(const AldEndpoint *endpoint, AldFailure *failure)
{
        int r = 0;

        for (unsigned i = 0; i < REASON_LOOKS && r == 0; i++)
                r = read_async_event(endpoint, REASON_MSEC, failure);
        return r;
}

static int fail_completion(const AldEndpoint *endpoint, const struct ibv_wc *done, AldFailure *failure);

/* Fails because of a flushed request. Another one failed before it, perhaps in the other direction, and has
 * the reason. */
static int fail_flushed(const AldEndpoint *endpoint, AldFailure *failure)
{
        struct ibv_cq *const queues[] = { endpoint->sent, endpoint->received };
        struct ibv_wc done;

        for (size_t i = 0; i < G_N_ELEMENTS(queues); i++)
                while (ibv_poll_cq(queues[i], 1, &done) > 0)
                        if (done.status != IBV_WC_SUCCESS && done.status != IBV_WC_WR_FLUSH_ERR)
                                return fail_completion(endpoint, &done, failure);
        return ald_fail(failure, ALD_FAILURE_ABORTED, "the connection over RDMA was ended");
}

static int fail_completion(const AldEndpoint *endpoint, const struct ibv_wc *done, AldFailure *failure)
{
        int r;

        switch (done->status) {
        case IBV_WC_RETRY_EXC_ERR:
                return ald_fail(failure, ALD_FAILURE_UNREACHABLE,
                        "the other side does not answer over RDMA (%s)", ibv_wc_status_str(done->status));
        case IBV_WC_REM_ACCESS_ERR:
        case IBV_WC_REM_INV_REQ_ERR:
                return ald_fail(failure, ALD_FAILURE_REFUSED, "the device of the other side refuses it (%s)",
                        ibv_wc_status_str(done->status));
        case IBV_WC_WR_FLUSH_ERR:
                r = wait_for_reason(endpoint, failure);
                return r < 0 ? r : fail_flushed(endpoint, failure);
        default:
                r = wait_for_reason(endpoint, failure);
                if (r < 0)
                        return r;
                return ald_fail(failure, ALD_FAILURE_ABORTED, "RDMA failed: %s (%u)",
                        ibv_wc_status_str(done->status), done->vendor_err);
        }
}

/* Removes entries from a completion queue. Returns their number. */
static int poll_completions(struct ibv_cq *queue, struct ibv_wc *ret, AldFailure *failure)
{
        int n = ibv_poll_cq(queue, ALD_ENDPOINT_BATCH, ret);

        return n >= 0 ? n : ald_fail(failure, ALD_FAILURE_DEVICE_LOST, "the completion queue is broken");
}

int ald_endpoint_received(AldEndpoint *endpoint, size_t size, const uint8_t **ret_last, AldFailure *failure)
{
        struct ibv_wc done[ALD_ENDPOINT_BATCH];
        int n = poll_completions(endpoint->received, done, failure), r;
        const uint8_t *last = NULL;

        for (int i = 0; i < n; i++) {
                if (done[i].status != IBV_WC_SUCCESS)
                        return fail_completion(endpoint, &done[i], failure);
                if (done[i].byte_len != size)
                        return ald_fail(failure, ALD_FAILURE_PROTOCOL,
                                "the other side sent a message of %u bytes, where %zu were due",
                                done[i].byte_len, size);
                endpoint->last_queue = QUEUE(done[i].wr_id);
                last = receive_buffer(endpoint, QUEUE(done[i].wr_id), VALUE(done[i].wr_id));
                r = post_receive(endpoint, QUEUE(done[i].wr_id), VALUE(done[i].wr_id), failure);
                if (r < 0)
                        return r;
        }
        if (n > 0 && ret_last)
                *ret_last = last;
        return n;
}

int ald_endpoint_wait(AldEndpoint *endpoint, int msec, AldFailure *failure)
{
        struct pollfd fd = { endpoint->channel->fd, POLLIN, 0 };
        struct ibv_cq *same;
        void *ignored;

        /* There is no event for messages that arrived before this, so the caller must look for them once
         * more. */
        if (!endpoint->armed) {
                endpoint->armed = ibv_req_notify_cq(endpoint->received, 0) == 0;
                return endpoint->armed
                               ? 0
                               : ald_fail(failure, ALD_FAILURE_DEVICE_LOST, "the completion queue is broken");
        }
        if (poll(&fd, 1, msec) <= 0 || ibv_get_cq_event(endpoint->channel, &same, &ignored) < 0)
                return 0;
        ibv_ack_cq_events(endpoint->received, 1);
        endpoint->armed = false;
        return 0;
}

int ald_endpoint_sent(AldEndpoint *endpoint, AldFailure *failure)
{
        struct ibv_wc done[ALD_ENDPOINT_BATCH];
        int n = poll_completions(endpoint->sent, done, failure), sum = 0;

        if (n < 0)
                return n;
        for (int i = 0; i < n; i++) {
                if (done[i].status != IBV_WC_SUCCESS)
                        return fail_completion(endpoint, &done[i], failure);
                sum += (int) VALUE(done[i].wr_id);
                endpoint->under_way[QUEUE(done[i].wr_id)] -= VALUE(done[i].wr_id);
        }
        return sum;
}
