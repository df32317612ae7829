/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <glib.h>

#include "tests/unit/probes/rdma/fake-verbs.h"

#undef ibv_query_port
#undef ibv_reg_mr

/* How long who finds nothing for so many times sleeps, so that the other side runs. */
#define NAP_USEC 200
#define NAP_TURNS 16u

typedef struct Queue {
        struct ibv_qp qp; /* first */
        uint32_t peer, send_psn, receive_psn;
        bool ready, lies;
        bool astray;  /* what it sends goes to somebody else */
        GQueue rooms; /* struct ibv_recv_wr with its place behind */
        GQueue sends;
} Queue;

typedef struct Room {
        uint64_t id;
        struct ibv_sge place;
} Room;

typedef struct Send {
        struct ibv_send_wr request;
        struct ibv_sge place;
} Send;

typedef struct Completions {
        struct ibv_cq cq; /* first */
        GQueue done;
        bool armed;
} Completions;

typedef struct Context {
        struct ibv_context context; /* first */
        bool lies;
} Context;

static struct {
        GMutex mutex;
        GCond changed;
        FakeFaults faults;
        unsigned completions, requests, objects;
        uint32_t next;
        GPtrArray *queues, *regions;
} fake;

static __thread bool lies;
static __thread unsigned empty; /* how often nothing was found */
static __thread struct {
        enum ibv_wr_opcode kind;
        unsigned left; /* 0: never */
        void (*call)(void);
} at_request;

static struct ibv_device device = {
        .node_type = IBV_NODE_CA, .transport_type = IBV_TRANSPORT_IB, .name = "fake0"
};

void fake_verbs_begin(const FakeFaults *faults)
{
        fake.faults = *faults;
        fake.completions = fake.requests = fake.objects = 0;
        fake.queues = g_ptr_array_new();
        fake.regions = g_ptr_array_new();
}

bool fake_verbs_end(void)
{
        g_ptr_array_unref(fake.queues);
        g_ptr_array_unref(fake.regions);
        return fake.objects == 0;
}

void fake_verbs_lie(void)
{
        lies = true;
}

void fake_verbs_at_request(enum ibv_wr_opcode kind, unsigned n, void (*call)(void))
{
        at_request.kind = kind;
        at_request.left = n;
        at_request.call = call;
}

static void *hold(void *object)
{
        g_mutex_lock(&fake.mutex);
        fake.objects++;
        g_mutex_unlock(&fake.mutex);
        return object;
}

static int release(void *object)
{
        g_mutex_lock(&fake.mutex);
        fake.objects--;
        g_mutex_unlock(&fake.mutex);
        g_free(object);
        return 0;
}

struct ibv_device **ibv_get_device_list(int *n)
{
        struct ibv_device **list = g_new0(struct ibv_device *, 2);

        list[0] = &device;
        *n = 1;
        return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
        g_free(list);
}

const char *ibv_get_device_name(struct ibv_device *one)
{
        return one->name;
}

/* With the lock. */
static void tell(
        struct ibv_cq *cq, const Queue *queue, uint64_t id, uint32_t length, enum ibv_wc_status status)
{
        Completions *completions = (Completions *) cq;
        struct ibv_wc *done = g_new0(struct ibv_wc, 1);
        const FakeFaults *faults = &fake.faults;
        uint64_t one = 1;

        fake.completions++;
        *done = (struct ibv_wc){
                .wr_id = id, .status = status, .byte_len = length, .qp_num = queue->qp.qp_num
        };
        if (faults->status != IBV_WC_SUCCESS && fake.completions == faults->status_at)
                done->status = faults->status;
        g_queue_push_tail(&completions->done, done);
        if (fake.completions == faults->event_at)
                (void) !write(cq->context->async_fd, &one, sizeof one);
        if (completions->armed)
                (void) !write(cq->channel->fd, &one, sizeof one);
        completions->armed = false;
        g_cond_broadcast(&fake.changed);
}

static Queue *find_queue(uint32_t number)
{
        for (guint i = 0; i < fake.queues->len; i++) {
                Queue *queue = fake.queues->pdata[i];

                if (queue->qp.qp_num == number)
                        return queue;
        }
        return NULL;
}

static bool may_use(uint32_t key, uint64_t address, size_t length)
{
        for (guint i = 0; i < fake.regions->len; i++) {
                const struct ibv_mr *region = fake.regions->pdata[i];

                if (region->lkey == key && address >= (uintptr_t) region->addr &&
                        address + length <= (uintptr_t) region->addr + region->length)
                        return true;
        }
        return false;
}

static enum ibv_wc_status carry_out(Queue *to, const Send *send, bool *ret_told)
{
        const struct ibv_send_wr *request = &send->request;
        void *own = (void *) (uintptr_t) send->place.addr;
        void *theirs = (void *) (uintptr_t) request->wr.rdma.remote_addr;
        const Room *room = g_queue_peek_head(&to->rooms);

        *ret_told = request->opcode != IBV_WR_RDMA_READ;
        if (request->opcode == IBV_WR_SEND) {
                if (send->place.length > room->place.length)
                        return IBV_WC_REM_INV_REQ_ERR;
                memcpy((void *) (uintptr_t) room->place.addr, own, send->place.length);
                return IBV_WC_SUCCESS;
        }
        if (!may_use(request->wr.rdma.rkey, request->wr.rdma.remote_addr, send->place.length))
                return IBV_WC_REM_ACCESS_ERR;
        if (request->opcode == IBV_WR_RDMA_READ)
                memmove(own, theirs, send->place.length);
        else
                memcpy(theirs, own, MIN(send->place.length, 64));
        return IBV_WC_SUCCESS;
}

/* With the lock: as far as the other side has room. */
static void move(Queue *from)
{
        Queue *to = from->ready ? find_queue(from->peer) : NULL;
        Send *send;

        while (to && to->peer == from->qp.qp_num && (send = g_queue_peek_head(&from->sends))) {
                bool told = false, lost = to->receive_psn != from->send_psn || from->astray;
                bool needs = send->request.opcode != IBV_WR_RDMA_READ;
                enum ibv_wc_status status = IBV_WC_RETRY_EXC_ERR;

                if (!lost && needs && g_queue_is_empty(&to->rooms))
                        return;
                if (!lost)
                        status = carry_out(to, send, &told);
                if (told && status == IBV_WC_SUCCESS) {
                        g_autofree Room *room = g_queue_pop_head(&to->rooms);

                        tell(to->qp.recv_cq, to, room->id, send->place.length, IBV_WC_SUCCESS);
                }
                if (status != IBV_WC_SUCCESS || send->request.send_flags & IBV_SEND_SIGNALED)
                        tell(from->qp.send_cq, from, send->request.wr_id, 0, status);
                g_free(g_queue_pop_head(&from->sends));
        }
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *request, struct ibv_send_wr **bad)
{
        Queue *queue = (Queue *) qp;
        Send *send = g_new(Send, 1);

        if (at_request.left > 0 && request->opcode == at_request.kind && --at_request.left == 0)
                at_request.call();
        *bad = NULL;
        *send = (Send){ *request, *request->sg_list };
        g_mutex_lock(&fake.mutex);
        if (++fake.requests == fake.faults.request_error_at) {
                g_mutex_unlock(&fake.mutex);
                g_free(send);
                return fake.faults.request_error;
        }
        if (queue->lies && fake.faults.wrong_nonce && request->opcode == IBV_WR_SEND)
                *(uint8_t *) (uintptr_t) send->place.addr ^= 1;
        if (queue->lies && fake.faults.short_messages)
                send->place.length /= 2;
        g_queue_push_tail(&queue->sends, send);
        move(queue);
        g_mutex_unlock(&fake.mutex);
        return 0;
}

static int post_receive(struct ibv_qp *qp, struct ibv_recv_wr *request, struct ibv_recv_wr **bad)
{
        Queue *queue = (Queue *) qp, *other;
        Room *room = g_new(Room, 1);

        *bad = NULL;
        *room = (Room){ request->wr_id, *request->sg_list };
        g_mutex_lock(&fake.mutex);
        g_queue_push_tail(&queue->rooms, room);
        other = find_queue(queue->peer);
        if (other)
                move(other);
        g_mutex_unlock(&fake.mutex);
        return 0;
}

static int poll_completions(struct ibv_cq *cq, int most, struct ibv_wc *ret)
{
        Completions *completions = (Completions *) cq;
        int n = 0;

        g_mutex_lock(&fake.mutex);
        if (g_queue_is_empty(&completions->done) && ++empty % NAP_TURNS == 0)
                g_cond_wait_until(&fake.changed, &fake.mutex, g_get_monotonic_time() + NAP_USEC);
        if (fake.faults.broken_at > 0 && fake.completions >= fake.faults.broken_at)
                n = -1;
        while (n >= 0 && n < most && !g_queue_is_empty(&completions->done)) {
                g_autofree struct ibv_wc *done = g_queue_pop_head(&completions->done);

                ret[n++] = *done;
        }
        g_mutex_unlock(&fake.mutex);
        return n;
}

static int request_notice(struct ibv_cq *cq, int solicited)
{
        g_mutex_lock(&fake.mutex);
        ((Completions *) cq)->armed = true;
        g_mutex_unlock(&fake.mutex);
        return 0;
}

struct ibv_context *ibv_open_device(struct ibv_device *one)
{
        Context *context = hold(g_new0(Context, 1));

        context->context = (struct ibv_context){ .device = one,
                .ops = { .poll_cq = poll_completions,
                        .req_notify_cq = request_notice,
                        .post_send = post_send,
                        .post_recv = post_receive },
                .async_fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE) };
        context->lies = lies;
        return &context->context;
}

int ibv_close_device(struct ibv_context *context)
{
        close(context->async_fd);
        return release(context);
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *ret)
{
        const FakeFaults *faults = &fake.faults;

        *ret = (struct ibv_device_attr){ .phys_port_cnt = 2,
                .max_qp_wr = faults->requests_max > 0 ? faults->requests_max : 4096,
                .max_cqe = 65536,
                .max_mr_size = faults->region_max > 0 ? (uint64_t) faults->region_max : UINT64_MAX };
        return 0;
}

int ibv_query_port(struct ibv_context *context, uint8_t number, struct _compat_ibv_port_attr *ret)
{
        *(struct ibv_port_attr *) (void *) ret = (struct ibv_port_attr){
                .state = number == 1 && fake.faults.first_port_down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE,
                .max_msg_sz = 1u << 30,
                .active_mtu = IBV_MTU_4096,
                .lid = 7,
                .link_layer = IBV_LINK_LAYER_INFINIBAND,
                .active_width = 1,
                .active_speed = 1
        };
        return 0;
}

static struct ibv_gid_entry gid_of(const struct ibv_context *context)
{
        bool wrong = ((const Context *) context)->lies && fake.faults.wrong_gid;

        return (struct ibv_gid_entry){
                .gid.raw = { 0xfe, 0x80, [15] = wrong ? 2 : 1 }, .port_num = 1, .gid_type = IBV_GID_TYPE_IB
        };
}

ssize_t _ibv_query_gid_table(
        struct ibv_context *context, struct ibv_gid_entry *entries, size_t most, uint32_t flags, size_t size)
{
        /* The kernel is told of the room in 16 bits. */
        if (most < fake.faults.n_gids || most * sizeof *entries > UINT16_MAX)
                return -EINVAL;
        entries[0] = gid_of(context);
        return 1;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
        uint32_t flags, size_t size)
{
        if (fake.faults.gid_goes)
                return ENODATA;
        *entry = gid_of(context);
        return 0;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
        struct ibv_pd *domain = hold(g_new0(struct ibv_pd, 1));

        domain->context = context;
        return domain;
}

int ibv_dealloc_pd(struct ibv_pd *domain)
{
        return release(domain);
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *domain, void *address, size_t length, int access)
{
        struct ibv_mr *region;

        if (fake.faults.register_error > 0) {
                errno = fake.faults.register_error;
                return NULL;
        }
        region = hold(g_new0(struct ibv_mr, 1));
        g_mutex_lock(&fake.mutex);
        *region = (struct ibv_mr){ .addr = address, .length = length, .lkey = ++fake.next };
        region->rkey = region->lkey;
        if (((const Context *) domain->context)->lies && fake.faults.wrong_key)
                region->rkey ^= 0x80000000;
        g_ptr_array_add(fake.regions, region);
        g_mutex_unlock(&fake.mutex);
        return region;
}

struct ibv_mr *ibv_reg_mr_iova2(
        struct ibv_pd *domain, void *address, size_t length, uint64_t iova, unsigned access)
{
        return ibv_reg_mr(domain, address, length, (int) access);
}

int ibv_dereg_mr(struct ibv_mr *region)
{
        g_mutex_lock(&fake.mutex);
        g_ptr_array_remove(fake.regions, region);
        g_mutex_unlock(&fake.mutex);
        return release(region);
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
        struct ibv_comp_channel *channel = hold(g_new0(struct ibv_comp_channel, 1));

        channel->fd = eventfd(0, EFD_CLOEXEC);
        return channel;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
        close(channel->fd);
        return release(channel);
}

int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **ret, void **ret_userdata)
{
        uint64_t n;

        return read(channel->fd, &n, sizeof n) == sizeof n ? 0 : -1;
}

void ibv_ack_cq_events(struct ibv_cq *cq, unsigned n)
{
}

struct ibv_cq *ibv_create_cq(
        struct ibv_context *context, int n, void *userdata, struct ibv_comp_channel *channel, int vector)
{
        Completions *completions;

        if (fake.faults.completions_error > 0) {
                errno = fake.faults.completions_error;
                return NULL;
        }
        completions = hold(g_new0(Completions, 1));
        completions->cq.context = context;
        completions->cq.channel = channel;
        return &completions->cq;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
        g_queue_clear_full(&((Completions *) cq)->done, g_free);
        return release(cq);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *domain, struct ibv_qp_init_attr *how)
{
        Queue *queue;

        if ((how->cap.max_inline_data > 0 && fake.faults.no_inline) ||
                (fake.faults.requests_max > 0 &&
                        how->cap.max_send_wr > (unsigned) fake.faults.requests_max)) {
                errno = EINVAL;
                return NULL;
        }
        if (fake.faults.queue_error > 0) {
                errno = fake.faults.queue_error;
                return NULL;
        }
        queue = hold(g_new0(Queue, 1));
        queue->lies = ((const Context *) domain->context)->lies;
        g_mutex_lock(&fake.mutex);
        queue->qp = (struct ibv_qp){ .context = domain->context,
                .send_cq = how->send_cq,
                .recv_cq = how->recv_cq,
                .qp_num = ++fake.next };
        g_ptr_array_add(fake.queues, queue);
        g_mutex_unlock(&fake.mutex);
        return &queue->qp;
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *how, int mask)
{
        Queue *queue = (Queue *) qp;

        if (how->qp_state == IBV_QPS_RTR && fake.faults.way_error > 0)
                return fake.faults.way_error;
        g_mutex_lock(&fake.mutex);
        if (how->qp_state == IBV_QPS_RTR) {
                queue->peer = how->dest_qp_num;
                queue->astray = how->ah_attr.is_global && how->ah_attr.grh.dgid.raw[15] != 1;
                queue->receive_psn = how->rq_psn;
        } else if (how->qp_state == IBV_QPS_RTS) {
                queue->send_psn = how->sq_psn ^ (queue->lies && fake.faults.wrong_psn);
                queue->ready = true;
        }
        g_mutex_unlock(&fake.mutex);
        return 0;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
        Queue *queue = (Queue *) qp;

        g_mutex_lock(&fake.mutex);
        g_ptr_array_remove(fake.queues, queue);
        g_queue_clear_full(&queue->rooms, g_free);
        g_queue_clear_full(&queue->sends, g_free);
        g_mutex_unlock(&fake.mutex);
        return release(queue);
}

int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *ret)
{
        uint64_t one;

        if (read(context->async_fd, &one, sizeof one) != sizeof one)
                return -1;
        *ret = (struct ibv_async_event){ .event_type = fake.faults.event,
                .element.port_num = fake.faults.event_port };
        return 0;
}

void ibv_ack_async_event(struct ibv_async_event *event)
{
}
