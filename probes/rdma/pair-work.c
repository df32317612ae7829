/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <poll.h>
#include <string.h>

#include <glib.h>

#include "probes/rdma/pair-private.h"

/* How long to wait for events that explain why a connection ended; some may be about other things. */
#define REASON_MSEC 100
#define REASON_LOOKS 5u

/* The id of a request, in 64 bits: the queue, and the slot or the number of messages that it completes. */
#define ID(queue, value) ((uint64_t) (queue) << 32 | (value))
#define QUEUE(id) ((unsigned) ((id) >> 32))
#define VALUE(id) ((unsigned) (id))

static uint8_t *room_of(const AldPair *pair, unsigned queue, unsigned slot)
{
        unsigned room = (queue * pair->plan.depth + slot) % pair->plan.n_rooms;

        return pair->buffer + pair->plan.bytes + room * pair->plan.room;
}

int ald_pair_post_room(AldPair *pair, unsigned queue, unsigned slot, AldFailure *failure)
{
        struct ibv_sge place = { .addr = (uintptr_t) room_of(pair, queue, slot),
                .length = (uint32_t) pair->plan.room,
                .lkey = pair->memory->lkey };
        struct ibv_recv_wr request = { .wr_id = ID(queue, slot), .sg_list = &place, .num_sge = 1 }, *bad;
        int r = ibv_post_recv(pair->queues[queue], &request, &bad);

        return r == 0 ? 0
                      : ald_fail(failure, ALD_FAILURE_DEVICE_LOST, "the device takes no request: %s",
                                g_strerror(r));
}

static int post(AldPair *pair, unsigned queue, struct ibv_send_wr *request, AldFailure *failure)
{
        struct ibv_send_wr *bad;
        int r = ibv_post_send(pair->queues[queue], request, &bad);

        if (r != 0)
                return ald_fail(
                        failure, ALD_FAILURE_DEVICE_LOST, "the device takes no request: %s", g_strerror(r));
        pair->under_way[queue]++;
        return 0;
}

int ald_pair_ping(AldPair *pair, unsigned queue, AldFailure *failure)
{
        struct ibv_sge place = { (uintptr_t) pair->buffer, ALD_PLAN_PING, pair->memory->lkey };
        struct ibv_send_wr request = { .wr_id = ID(queue, 1),
                .sg_list = &place,
                .num_sge = 1,
                .opcode = IBV_WR_SEND,
                .send_flags = IBV_SEND_SIGNALED | (pair->inline_max >= ALD_PLAN_PING ? IBV_SEND_INLINE : 0) };

        return post(pair, queue, &request, failure);
}

int ald_pair_read(AldPair *pair, AldFailure *failure)
{
        struct ibv_sge place = { (uintptr_t) pair->buffer, ALD_PLAN_PING, pair->memory->lkey };
        struct ibv_send_wr request = { .wr_id = ID(0, 1),
                .sg_list = &place,
                .num_sge = 1,
                .opcode = IBV_WR_RDMA_READ,
                .send_flags = IBV_SEND_SIGNALED,
                .wr.rdma = { pair->peer->address, (uint32_t) pair->peer->key } };

        return post(pair, 0, &request, failure);
}

static int post_message(AldPair *pair, unsigned queue, bool signaled, AldFailure *failure)
{
        size_t size = pair->plan.size, own = pair->posted % (pair->plan.bytes / size),
               theirs = pair->posted % (pair->peer->bytes / size);
        struct ibv_sge place = { (uintptr_t) (pair->buffer + own * size), (uint32_t) size,
                pair->memory->lkey };
        struct ibv_send_wr request = { .wr_id = ID(queue, pair->group),
                .sg_list = &place,
                .num_sge = 1,
                .opcode = IBV_WR_SEND,
                .send_flags = signaled ? IBV_SEND_SIGNALED : 0 };

        if (pair->plan.operation == ALD_RDMA_USE_OPERATION_WRITE) {
                request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
                request.wr.rdma.remote_addr = pair->peer->address + theirs * size;
                request.wr.rdma.rkey = (uint32_t) pair->peer->key;
        }
        pair->posted++;
        return post(pair, queue, &request, failure);
}

int ald_pair_fill(AldPair *pair, AldFailure *failure)
{
        uint64_t before = pair->posted;
        int r = 0;

        for (unsigned queue = 0; queue < pair->plan.queues; queue++)
                if (pair->under_way[queue] + pair->group <= pair->limit)
                        for (unsigned i = 1; i <= pair->group && r >= 0; i++)
                                r = post_message(pair, queue, i == pair->group, failure);
        return r < 0 ? r : (int) (pair->posted - before);
}

bool ald_pair_is_idle(const AldPair *pair)
{
        for (unsigned queue = 0; queue < pair->plan.queues; queue++)
                if (pair->under_way[queue] > 0)
                        return false;
        return true;
}

void ald_pair_note_proof(AldPair *pair)
{
        pair->proved |= 1u << pair->last_queue;
}

bool ald_pair_is_proved(const AldPair *pair)
{
        return pair->proved == (1u << pair->plan.queues) - 1;
}

static int look(const AldPair *pair, int msec, AldFailure *failure)
{
        struct pollfd fd = { pair->context->async_fd, POLLIN, 0 };
        struct ibv_async_event event;
        enum ibv_event_type type;

        if (poll(&fd, 1, msec) <= 0 || ibv_get_async_event(pair->context, &event) < 0)
                return 0;
        type = event.event_type;
        ibv_ack_async_event(&event);
        switch (type) {
        case IBV_EVENT_DEVICE_FATAL:
                return ald_fail(
                        failure, ALD_FAILURE_DEVICE_LOST, "%s was removed or has failed", pair->port->name);
        case IBV_EVENT_PORT_ERR:
                return event.element.port_num != (int) pair->port->number
                               ? 0
                               : ald_fail(failure, ALD_FAILURE_PORT_DOWN, "%s went down", pair->port->name);
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_CQ_ERR:
                return ald_fail(failure, ALD_FAILURE_ABORTED, "RDMA failed: %s", ibv_event_type_str(type));
        default:
                return 0;
        }
}

int ald_pair_look(const AldPair *pair, AldFailure *failure)
{
        return look(pair, 0, failure);
}

/* Connections may end before the event that their port went down arrives. */
static int look_for_reason(const AldPair *pair, AldFailure *failure)
{
        int r = 0;

        for (unsigned i = 0; i < REASON_LOOKS && r == 0; i++)
                r = look(pair, REASON_MSEC, failure);
        return r;
}

static int broken(const AldPair *pair, const struct ibv_wc *done, AldFailure *failure);

/* Requests are flushed after another one failed, perhaps in the other direction. */
static int ended(const AldPair *pair, AldFailure *failure)
{
        struct ibv_cq *const queues[] = { pair->sent, pair->received };
        struct ibv_wc done;

        for (size_t i = 0; i < G_N_ELEMENTS(queues); i++)
                while (ibv_poll_cq(queues[i], 1, &done) > 0)
                        if (done.status != IBV_WC_SUCCESS && done.status != IBV_WC_WR_FLUSH_ERR)
                                return broken(pair, &done, failure);
        return ald_fail(failure, ALD_FAILURE_ABORTED, "the connection over RDMA was ended");
}

static int broken(const AldPair *pair, const struct ibv_wc *done, AldFailure *failure)
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
                r = look_for_reason(pair, failure);
                return r < 0 ? r : ended(pair, failure);
        default:
                r = look_for_reason(pair, failure);
                if (r < 0)
                        return r;
                return ald_fail(failure, ALD_FAILURE_ABORTED, "RDMA failed: %s (%u)",
                        ibv_wc_status_str(done->status), done->vendor_err);
        }
}

/* Takes entries off a completion queue. */
static int take(struct ibv_cq *queue, struct ibv_wc *ret, AldFailure *failure)
{
        int n = ibv_poll_cq(queue, ALD_PAIR_BATCH, ret);

        return n >= 0 ? n : ald_fail(failure, ALD_FAILURE_DEVICE_LOST, "the completion queue is broken");
}

int ald_pair_received(AldPair *pair, size_t size, const uint8_t **ret_last, AldFailure *failure)
{
        struct ibv_wc done[ALD_PAIR_BATCH];
        int n = take(pair->received, done, failure), r;
        const uint8_t *last = NULL;

        for (int i = 0; i < n; i++) {
                if (done[i].status != IBV_WC_SUCCESS)
                        return broken(pair, &done[i], failure);
                if (done[i].byte_len != size)
                        return ald_fail(failure, ALD_FAILURE_PROTOCOL,
                                "the other side sent a message of %u bytes, where %zu were due",
                                done[i].byte_len, size);
                pair->last_queue = QUEUE(done[i].wr_id);
                last = room_of(pair, QUEUE(done[i].wr_id), VALUE(done[i].wr_id));
                r = ald_pair_post_room(pair, QUEUE(done[i].wr_id), VALUE(done[i].wr_id), failure);
                if (r < 0)
                        return r;
        }
        if (n > 0 && ret_last)
                *ret_last = last;
        return n;
}

int ald_pair_rest(AldPair *pair, int msec, AldFailure *failure)
{
        struct pollfd fd = { pair->channel->fd, POLLIN, 0 };
        struct ibv_cq *same;
        void *ignored;

        /* There is no event for what arrived before: look for it once more. */
        if (!pair->armed) {
                pair->armed = ibv_req_notify_cq(pair->received, 0) == 0;
                return pair->armed
                               ? 0
                               : ald_fail(failure, ALD_FAILURE_DEVICE_LOST, "the completion queue is broken");
        }
        if (poll(&fd, 1, msec) <= 0 || ibv_get_cq_event(pair->channel, &same, &ignored) < 0)
                return 0;
        ibv_ack_cq_events(pair->received, 1);
        pair->armed = false;
        return 0;
}

int ald_pair_sent(AldPair *pair, AldFailure *failure)
{
        struct ibv_wc done[ALD_PAIR_BATCH];
        int n = take(pair->sent, done, failure), sum = 0;

        if (n < 0)
                return n;
        for (int i = 0; i < n; i++) {
                if (done[i].status != IBV_WC_SUCCESS)
                        return broken(pair, &done[i], failure);
                sum += (int) VALUE(done[i].wr_id);
                pair->under_way[QUEUE(done[i].wr_id)] -= VALUE(done[i].wr_id);
        }
        return sum;
}
