/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>
#include <openssl/rand.h>

#include "probes/fd.h"
#include "probes/socket/stream.h"
#include "probes/socket/tcp-info.h"
#include "probes/socket/zerocopy.h"

#define DSCP_LE 0x04 /* RFC 8622: lower effort, code point 1, above the two bits of ECN */
#define NOTSENT_LOWAT (512u * 1024)
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

static void *send_all(void *data)
{
        AldStream *stream = data;
        AldStreamShared *shared = stream->shared;
        AldZerocopy zerocopy = {};
        uint64_t sent = 0;
        ssize_t n = 0;

        atomic_store(&stream->tid, gettid());
        while (may_send(shared)) {
                bool without_copy = ald_zerocopy_wanted(&zerocopy, stream->fd, &shared->zerocopy);

                n = send(stream->fd, shared->chunk, ALD_STREAM_CHUNK,
                        MSG_NOSIGNAL | (without_copy ? MSG_ZEROCOPY : 0));
                if (n > 0) {
                        atomic_fetch_add(&shared->sent, (uint64_t) n);
                        sent += (uint64_t) n;
                } else if (without_copy && errno == ENOBUFS)
                        ald_zerocopy_exhausted(&zerocopy);
                else if (errno != EINTR) {
                        count_lost(stream, sent);
                        break;
                }
                if (without_copy)
                        ald_zerocopy_reap(&zerocopy, stream->fd);
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
