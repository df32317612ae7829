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
#include <linux/errqueue.h>
#include <linux/sockios.h>
#include <openssl/rand.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/socket/transfer/stream.h"
#include "probes/socket/transfer/tcp-info.h"

#define DSCP_LE 0x04 /* RFC 8622: lower effort, code point 1, above the two bits of ECN */
#define NOTSENT_LOWAT (512u * 1024)
#define FAST 3e6                         /* bits/s: a queue at this rate is short */
#define FAST_BYTES (256u * 1024)         /* needed to detect it */
#define WINDOW_NS (ALD_NSEC_PER_SEC / 2) /* or two round trips, if longer */
#define WINDOW_GROWTH UINT64_C(3) /* times the bytes that arrived in it, so that slow start continues */
#define WINDOW_LEAST (UINT64_C(16) * 1024)
#define WINDOW_PIECE (8u * 1024)
#define RECEIVE_MAX (1024u * 1024)

void ald_stream_prepare(int fd)
{
        const int class = DSCP_LE, lowat = NOTSENT_LOWAT;

        /* Only the option of the address family works. For IPv4-mapped addresses, that is the first one. */
        (void) setsockopt(fd, IPPROTO_IP, IP_TOS, &class, sizeof class);
        (void) setsockopt(fd, IPPROTO_IPV6, IPV6_TCLASS, &class, sizeof class);
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat, sizeof lowat);
}

/* Counts the bytes that a connection did not deliver before it ended, so that the others send as many in its
 * place. */
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

/* Returns the bytes handed to the kernel that are not acknowledged yet. */
static uint64_t bytes_outstanding(int fd)
{
        int bytes = 0;

        return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? (uint64_t) bytes : 0;
}

/*
 * Limits the data that a sender has under way. TCP fills all buffers on the path, which on a slow link makes
 * a queue of many seconds. Until a connection proves to be fast, it may have little more under way than it
 * moved lately.
 */
typedef struct Window {
        bool fast;
        uint64_t begun, mark, marked; /* times of start and last check; bytes acknowledged by then */
        uint64_t interval, lately;    /* time between two checks; bytes acknowledged between the last two */
} Window;

static bool has_room(Window *window, int fd, uint64_t sent)
{
        uint64_t waiting = bytes_outstanding(fd), acked = sent - MIN(waiting, sent), now = ald_now(), lately;
        AldTcpInfo info = {};

        if (acked >= FAST_BYTES && (double) acked * 8e9 >= FAST * (double) (now - window->begun))
                return window->fast = true;
        if (now - window->mark >= window->interval) {
                (void) ald_tcp_info_get(fd, &info);
                /* It shrinks slowly, since after a loss nothing arrives for a while. */
                window->lately = MAX(acked - MIN(window->marked, acked), window->lately * 7 / 8);
                window->interval = MAX(WINDOW_NS, info.rtt * 2000);
                window->mark = now;
                window->marked = acked;
        }
        lately = MAX(window->lately, acked - MIN(window->marked, acked));
        return waiting < MAX(WINDOW_LEAST, lately * WINDOW_GROWTH);
}

/*
 * The state of sending without a copy on one connection, which is worthwhile at high rates if the path to the
 * device supports it. The kernel reports if it copied nevertheless. The bytes never change, so nothing waits
 * for the reports.
 */
typedef struct Zerocopy {
        bool requested; /* the option was set on the connection */
        bool off;       /* not supported, or the kernel copied */
} Zerocopy;

/* Returns whether to send the next bytes without a copy; `wanted` may become true at any time. */
static bool zerocopy_is_wanted(Zerocopy *zerocopy, int fd, const atomic_bool *wanted)
{
        const int on = 1;

        if (zerocopy->off || !atomic_load(wanted))
                return false;
        if (!zerocopy->requested) {
                zerocopy->requested = true;
                zerocopy->off = setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &on, sizeof on) < 0;
        }
        return !zerocopy->off;
}

static bool was_copied(struct msghdr *message)
{
        const struct cmsghdr *control = CMSG_FIRSTHDR(message);
        const struct sock_extended_err *note;

        if (!control || (control->cmsg_level != SOL_IP && control->cmsg_level != SOL_IPV6))
                return false;
        note = (const struct sock_extended_err *) CMSG_DATA(control);
        return note->ee_origin == SO_EE_ORIGIN_ZEROCOPY && (note->ee_code & SO_EE_CODE_ZEROCOPY_COPIED);
}

/* Reads the kernel's reports on data that was sent without a copy. */
static void read_zerocopy_reports(Zerocopy *zerocopy, int fd)
{
        _Alignas(struct cmsghdr) char control[256];

        for (;;) {
                struct msghdr message = { .msg_control = control, .msg_controllen = sizeof control };

                if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
                        return;
                if (was_copied(&message))
                        zerocopy->off = true;
        }
}

/* Hands a piece to the kernel. Returns its size, or -1 with errno; EINTR means to try again. */
static ssize_t send_piece(AldStream *stream, Window *window, Zerocopy *zerocopy, uint64_t sent)
{
        const struct timespec pause = { .tv_nsec = ALD_NSEC_PER_MSEC };
        bool without_copy;
        ssize_t n;

        if (!window->fast && !has_room(window, stream->fd, sent)) {
                (void) nanosleep(&pause, NULL);
                errno = EINTR;
                return -1;
        }
        without_copy = window->fast && zerocopy_is_wanted(zerocopy, stream->fd, &stream->shared->zerocopy);
        n = send(stream->fd, stream->shared->chunk, window->fast ? ALD_STREAM_CHUNK : WINDOW_PIECE,
                MSG_NOSIGNAL | (without_copy ? MSG_ZEROCOPY : 0));
        if (n < 0 && without_copy && errno == ENOBUFS) {
                /* There is no room for more reports. */
                zerocopy->off = true;
                errno = EINTR;
        }
        if (without_copy) {
                int error = errno;

                read_zerocopy_reports(zerocopy, stream->fd);
                errno = error;
        }
        return n;
}

static void *send_all(void *data)
{
        AldStream *stream = data;
        AldStreamShared *shared = stream->shared;
        Zerocopy zerocopy = {};
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

/* With MSG_TRUNC the kernel drops the data instead of copying it, so that the speed of memory does not
 * matter. */
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

int ald_stream_fill_random(uint8_t *bytes, size_t n)
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

        /* Wakes the thread. */
        (void) shutdown(stream->fd, SHUT_RDWR);
        pthread_join(stream->thread, NULL);
        (void) setsockopt(stream->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
        ald_fd_close(&stream->fd);
}
