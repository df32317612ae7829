/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <poll.h>
#include <string.h>

#include <glib.h>

#include "probes/rdma/pair-private.h"
#include "probes/rdma/pair.h"

#define SIGNAL_EVERY 16u
#define BATCH 32

int ald_pair_post_room(AldPair *pair, unsigned slot, AldFailure *failure)
{
        struct ibv_sge place = { .addr = (uintptr_t) (pair->buffer + pair->bytes +
                                                      (size_t) slot * ALD_PAIR_PING),
                .length = ALD_PAIR_PING,
                .lkey = pair->memory->lkey };
        struct ibv_recv_wr request = { .wr_id = slot, .sg_list = &place, .num_sge = 1 }, *bad;
        int r = ibv_post_recv(pair->qp, &request, &bad);

        return r == 0 ? 0
                      : ald_fail(failure, ALD_FAILURE_DEVICE_LOST, "the device takes no request: %s",
                                g_strerror(r));
}

static int post(AldPair *pair, struct ibv_send_wr *request, AldFailure *failure)
{
        struct ibv_send_wr *bad;
        int r = ibv_post_send(pair->qp, request, &bad);

        if (r != 0)
                return ald_fail(
                        failure, ALD_FAILURE_DEVICE_LOST, "the device takes no request: %s", g_strerror(r));
        pair->under_way++;
        return 0;
}

int ald_pair_ping(AldPair *pair, AldFailure *failure)
{
        struct ibv_sge place = { (uintptr_t) pair->buffer, ALD_PAIR_PING, pair->memory->lkey };
        struct ibv_send_wr request = { .wr_id = 1,
                .sg_list = &place,
                .num_sge = 1,
                .opcode = IBV_WR_SEND,
                .send_flags = IBV_SEND_SIGNALED | (pair->inline_max >= ALD_PAIR_PING ? IBV_SEND_INLINE : 0) };

        return post(pair, &request, failure);
}

int ald_pair_read(AldPair *pair, AldFailure *failure)
{
        struct ibv_sge place = { (uintptr_t) pair->buffer, ALD_PAIR_PING, pair->memory->lkey };
        struct ibv_send_wr request = { .wr_id = 1,
                .sg_list = &place,
                .num_sge = 1,
                .opcode = IBV_WR_RDMA_READ,
                .send_flags = IBV_SEND_SIGNALED,
                .wr.rdma = { pair->peer.address, (uint32_t) pair->peer.key } };

        return post(pair, &request, failure);
}

int ald_pair_write(AldPair *pair, uint64_t number, AldFailure *failure)
{
        uint64_t own = number % (pair->bytes / pair->size), theirs = number % (pair->peer.bytes / pair->size);
        struct ibv_sge place = { (uintptr_t) (pair->buffer + own * pair->size), (uint32_t) pair->size,
                pair->memory->lkey };
        bool told = number % SIGNAL_EVERY == SIGNAL_EVERY - 1;
        struct ibv_send_wr request = { .wr_id = SIGNAL_EVERY,
                .sg_list = &place,
                .num_sge = 1,
                .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                .send_flags = told ? IBV_SEND_SIGNALED : 0,
                .wr.rdma = { pair->peer.address + theirs * pair->size, (uint32_t) pair->peer.key } };

        return post(pair, &request, failure);
}

static int broken(const struct ibv_wc *done, AldFailure *failure)
{
        switch (done->status) {
        case IBV_WC_RETRY_EXC_ERR:
                return ald_fail(failure, ALD_FAILURE_UNREACHABLE,
                        "the other side does not answer over RDMA (%s)", ibv_wc_status_str(done->status));
        case IBV_WC_REM_ACCESS_ERR:
        case IBV_WC_REM_INV_REQ_ERR:
                return ald_fail(failure, ALD_FAILURE_REFUSED, "the device of the other side refuses it (%s)",
                        ibv_wc_status_str(done->status));
        case IBV_WC_WR_FLUSH_ERR:
                return ald_fail(failure, ALD_FAILURE_ABORTED, "the connection over RDMA was ended");
        default:
                return ald_fail(failure, ALD_FAILURE_ABORTED, "RDMA failed: %s (%u)",
                        ibv_wc_status_str(done->status), done->vendor_err);
        }
}

int ald_pair_received(AldPair *pair, const uint8_t **ret_last, AldFailure *failure)
{
        struct ibv_wc done[BATCH];
        int n = ibv_poll_cq(pair->received, BATCH, done), r;

        if (n < 0)
                return ald_fail(failure, ALD_FAILURE_DEVICE_LOST, "the completion queue is broken");
        for (int i = 0; i < n; i++) {
                if (done[i].status != IBV_WC_SUCCESS)
                        return broken(&done[i], failure);
                if (ret_last)
                        *ret_last = pair->buffer + pair->bytes + done[i].wr_id * ALD_PAIR_PING;
                r = ald_pair_post_room(pair, (unsigned) done[i].wr_id, failure);
                if (r < 0)
                        return r;
        }
        return n;
}

int ald_pair_sent(AldPair *pair, AldFailure *failure)
{
        struct ibv_wc done[BATCH];
        int n = ibv_poll_cq(pair->sent, BATCH, done), sum = 0;

        if (n < 0)
                return ald_fail(failure, ALD_FAILURE_DEVICE_LOST, "the completion queue is broken");
        for (int i = 0; i < n; i++) {
                if (done[i].status != IBV_WC_SUCCESS)
                        return broken(&done[i], failure);
                sum += (int) done[i].wr_id;
        }
        pair->under_way -= (unsigned) sum;
        return sum;
}

int ald_pair_look(const AldPair *pair, AldFailure *failure)
{
        struct pollfd fd = { pair->port->context->async_fd, POLLIN, 0 };
        struct ibv_async_event event;
        enum ibv_event_type type;

        if (poll(&fd, 1, 0) <= 0 || ibv_get_async_event(pair->port->context, &event) < 0)
                return 0;
        type = event.event_type;
        ibv_ack_async_event(&event);
        switch (type) {
        case IBV_EVENT_DEVICE_FATAL:
                return ald_fail(
                        failure, ALD_FAILURE_DEVICE_LOST, "%s was removed or has failed", pair->port->name);
        case IBV_EVENT_PORT_ERR:
                return ald_fail(failure, ALD_FAILURE_PORT_DOWN, "%s went down", pair->port->name);
        case IBV_EVENT_QP_FATAL:
        case IBV_EVENT_QP_ACCESS_ERR:
        case IBV_EVENT_QP_REQ_ERR:
        case IBV_EVENT_CQ_ERR:
                return ald_fail(failure, ALD_FAILURE_ABORTED, "RDMA failed: %s", ibv_event_type_str(type));
        default:
                return 0;
        }
}
