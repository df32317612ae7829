/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <glib.h>
#include <linux/sockios.h>
#include <openssl/rand.h>

#include "probes/common/clock.h"
#include "probes/fd.h"
#include "probes/socket/stream.h"
#include "probes/socket/tcp-info.h"
#include "probes/socket/zerocopy.h"

#define DSCP_LE 0x04 /* RFC 8622: lower effort, code point 1, above the two bits of ECN */
#define NOTSENT_LOWAT (512u * 1024)
#define FAST 3e6                         /* bits/s: what queues there is gone soon */
#define FAST_BYTES (256u * 1024)         /* that show it */
#define WINDOW_NS (ALD_NSEC_PER_SEC / 2) /* or two round trips, where that is more */
#define WINDOW_GROWTH UINT64_C(3)        /* times what arrived in that, so that slow start goes on */
#define WINDOW_LEAST (UINT64_C(16) * 1024)
#define WINDOW_PIECE (8u * 1024)
#define RECEIVE_MAX (1024u * 1024)

void ald_stream_prepare(int fd)
{
        const int class = DSCP_LE, lowat = NOTSENT_LOWAT;

        /* Of the two that which is of the address family works; of IPv4 within IPv6, the first counts. */
        (void) setsockopt(fd, IPPROTO_IP, IP_TOS, &class, sizeof class);
        (void) setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &class, sizeof class);
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat, sizeof lowat);
}

/* So much was sent on a connection that has ended; the others have to make up for what did not arrive. */
static void count_lost(const AldStream *stream, uint64_t sent)
{
        AldTcpInfo info = {};

        (void) ald_tcp_info_get(stream->fd, &info);
        atomic_fetch_add(&stream->shared->lost, sent - MIN(sent, info.bytes_acked));
}

static bool may_send(AldStreamShared *shared)
{
        return !atomic_load(&shared->stop) &&
               atomic_load(&shared->sent) < shared->bytes_max + atomic_load(&shared->lost);
}

/* Bytes handed over that have not arrived yet, as far as the sender knows. */
static uint64_t outstanding(int fd)
{
        int bytes = 0;

        return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (uint64_t) bytes : 0;
}

/*
 * What a sender may have under way. TCP fills whatever buffers there are on the way, which on a slow link is
 * a queue of many seconds: until a connection has shown to be fast, no more than it moved lately, and some.
 */
typedef struct Window {
        bool fast;
        uint64_t begun, mark,
                marked;            /* when it began; the last time it was looked at, and what had arrived */
        uint64_t interval, lately; /* that looks are apart; what arrived between the last two */
} Window;

static bool is_open(Window *window, int fd, uint64_t sent)
{
        uint64_t waiting = outstanding(fd), acked = sent - MIN(waiting, sent), now = ald_now(), lately;
        AldTcpInfo info = {};

        if (acked >= FAST_BYTES && (double) acked * 8e9 >= FAST * (double) (now - window->begun))
                return window->fast = true;
        if (now - window->mark >= window->interval) {
                (void) ald_tcp_info_get(fd, &info);
                /* Where something was lost, nothing arrives for a while. */
                window->lately = MAX(acked - MIN(window->marked, acked), window->lately * 7 / 8);
                window->interval = MAX(WINDOW_NS, info.rtt * 2000);
                window->mark = now;
                window->marked = acked;
        }
        lately = MAX(window->lately, acked - MIN(window->marked, acked));
        return waiting < MAX(WINDOW_LEAST, lately * WINDOW_GROWTH);
}

/* Hands over a piece; -1 with errno. */
static ssize_t send_piece(AldStream *stream, Window *window, AldZerocopy *zerocopy, uint64_t sent)
{
        const struct timespec pause = { .tv_nsec = ALD_NSEC_PER_MSEC };
        bool without_copy;
        ssize_t n;

        if (!window->fast && !is_open(window, stream->fd, sent)) {
                (void) nanosleep(&pause, NULL);
                errno = EINTR;
                return -1;
        }
        without_copy = window->fast && ald_zerocopy_wanted(zerocopy, stream->fd, &stream->shared->zerocopy);
        n = send(stream->fd, stream->shared->chunk, window->fast ? ALD_STREAM_CHUNK : WINDOW_PIECE,
                MSG_NOSIGNAL | (without_copy ? MSG_ZEROCOPY : 0));
        if (n < 0 && without_copy && errno == ENOBUFS) {
                ald_zerocopy_exhausted(zerocopy);
                errno = EINTR;
        }
        if (without_copy) {
                int error = errno;

                ald_zerocopy_reap(zerocopy, stream->fd);
                errno = error;
        }
        return n;
}

static void *send_all(void *data)
{
        AldStream *stream = data;
        AldStreamShared *shared = stream->shared;
        AldZerocopy zerocopy = {};
        Window window = { .begun = ald_now(), .mark = ald_now(), .interval = WINDOW_NS };
        uint64_t sent = 0;

        atomic_store(&stream->tid, gettid());
        while (may_send(shared)) {
                ssize_t n = send_piece(stream, &window, &zerocopy, sent);

                if (n > 0) {
                        atomic_fetch_add(&shared->sent, (uint64_t) n);
                        sent += (uint64_t) n;
                } else if (errno != EINTR) {
                        count_lost(stream, sent);
                        break;
                }
        }
        atomic_store(&stream->ended, true);
        return NULL;
}

/* With MSG_TRUNC the kernel drops what came instead of copying it: the link is measured, not the memory. */
static void *receive_all(void *data)
{
        AldStream *stream = data;

        atomic_store(&stream->tid, gettid());
        while (!atomic_load(&stream->shared->stop)) {
                ssize_t n = recv(stream->fd, NULL, RECEIVE_MAX, MSG_TRUNC);

                if (n == 0 || (n < 0 && errno != EINTR))
                        break;
        }
        atomic_store(&stream->ended, true);
        return NULL;
}

int ald_stream_make_up(uint8_t *bytes, size_t n)
{
        return RAND_bytes(bytes, (int) n) == 1 ? 0 : -EIO;
}

int ald_stream_start_thread(pthread_t *ret, void *(*run)(void *), void *data)
{
        pthread_attr_t attributes;
        int r = pthread_attr_init(&attributes);

        if (r != 0)
                return -r;
        (void) pthread_attr_setstacksize(&attributes, ALD_STREAM_STACK);
        r = pthread_create(ret, &attributes, run, data);
        pthread_attr_destroy(&attributes);
        return -r;
}

void ald_stream_reset(int fd)
{
        const struct linger reset = { .l_onoff = 1 };
        const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };

        (void) setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        (void) connect(fd, &nowhere, sizeof nowhere);
}

int ald_stream_start(AldStream *stream, int fd, bool sending, AldStreamShared *shared)
{
        stream->fd = fd;
        stream->shared = shared;
        atomic_store(&stream->tid, 0);
        atomic_store(&stream->ended, false);
        ald_stream_prepare(fd);
        return ald_stream_start_thread(&stream->thread, sending ? send_all : receive_all, stream);
}

void ald_stream_stop(AldStream *stream)
{
        const struct linger reset = { .l_onoff = 1 };

        /* Wakes the thread whatever it waits for. */
        (void) shutdown(stream->fd, SHUT_RDWR);
        pthread_join(stream->thread, NULL);
        (void) setsockopt(stream->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        ald_fd_close(&stream->fd);
}
