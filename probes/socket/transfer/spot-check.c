/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/socket/transfer/spot-check.h"
#include "probes/socket/transfer/stream.h"
#include "probes/socket/transfer/tcp-info.h"

#define ROUNDS 8u                   /* round trips for slow start and the part after it */
#define LEAST_BYTES (64u * 1024)    /* in all */
#define LAST_BYTES (16u * 1448)     /* in the last part: with fewer, single segments distort the rate */
#define PIECE (64u * 1024)          /* sent at once; it limits the excess at the end */
#define SENDING_NS ALD_NSEC_PER_SEC /* after which a sender stops by itself */
#define TIMEOUT_NS (ALD_NSEC_PER_SEC / 2)
#define RECEIVE_MAX (32u * 1024) /* small, so that each piece has its own time if the thread runs late */

bool ald_spot_check_is_over(const AldSpotCheckPoint *first, const AldSpotCheckPoint *last, uint64_t rtt)
{
        uint64_t elapsed = last->when - first->when, bytes = last->bytes;

        if (bytes >= ALD_SPOT_CHECK_BYTES_MAX || elapsed >= ALD_SPOT_CHECK_LONGEST_NS)
                return true;
        return elapsed >= MAX(ALD_SPOT_CHECK_NS, ROUNDS * rtt) && bytes >= LEAST_BYTES;
}

uint64_t ald_spot_check_rate(const AldSpotCheckPoint *points, size_t n)
{
        const AldSpotCheckPoint *last = n > 0 ? &points[n - 1] : NULL;
        size_t half = 0;

        while (half < n && points[half].bytes < last->bytes / 2)
                half++;
        if (n < 2 || last->bytes - points[half].bytes < LAST_BYTES || last->when <= points[half].when)
                return 0;
        return (uint64_t) ((double) (last->bytes - points[half].bytes) * 8e9 /
                           (double) (last->when - points[half].when));
}

/*
 * Drops the data that has arrived, and returns when the kernel received the last of it, so that a thread that
 * waits for a processor does not distort the time. The time is 0 if the kernel did not record it, which it
 * begins to do only some time after the request, later if it is busy.
 */
static ssize_t receive_piece(int fd, uint64_t *ret_when)
{
        _Alignas(struct cmsghdr) char control[256];
        struct iovec room = { .iov_len = RECEIVE_MAX };
        struct msghdr message = {
                .msg_iov = &room, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control
        };
        ssize_t n = recvmsg(fd, &message, MSG_TRUNC);
        struct timespec when = {};

        for (struct cmsghdr *one = CMSG_FIRSTHDR(&message); n > 0 && one; one = CMSG_NXTHDR(&message, one))
                if (one->cmsg_level == SOL_SOCKET && one->cmsg_type == SCM_TIMESTAMPNS)
                        memcpy(&when, CMSG_DATA(one), sizeof when);
        *ret_when = (uint64_t) when.tv_sec * ALD_NSEC_PER_SEC + (uint64_t) when.tv_nsec;
        return n;
}

static void receive_all(AldSpotCheck *spot)
{
        const struct timeval timeout = { .tv_usec = TIMEOUT_NS / 1000 };
        const int on = 1;
        AldTcpInfo info = {};

        (void) setsockopt(spot->fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
        (void) setsockopt(spot->fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
        (void) ald_tcp_info_get(spot->fd, &info);
        while (spot->n < ALD_SPOT_CHECK_POINTS_MAX && spot->bytes < ALD_SPOT_CHECK_BYTES_MAX &&
                !atomic_load(&spot->stop)) {
                AldSpotCheckPoint *point = &spot->points[spot->n];
                ssize_t n = receive_piece(spot->fd, &point->when);

                if (n <= 0)
                        break;
                spot->bytes += (uint64_t) n;
                point->bytes = spot->bytes;
                /* A time read here instead would be too late, and the rate after it too high. */
                if (point->when == 0)
                        continue;
                spot->n++;
                if (ald_spot_check_is_over(&spot->points[0], point, info.rtt * 1000))
                        break;
        }
}

static void send_all(AldSpotCheck *spot)
{
        const struct timeval timeout = { .tv_usec = TIMEOUT_NS / 1000 };
        g_autofree uint8_t *piece = g_malloc(PIECE);
        uint64_t end = ald_now() + SENDING_NS;

        (void) setsockopt(spot->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
        if (ald_stream_fill_random(piece, PIECE) < 0)
                return;
        while (spot->bytes < ALD_SPOT_CHECK_BYTES_MAX && ald_now() < end && !atomic_load(&spot->stop)) {
                ssize_t n = send(spot->fd, piece, PIECE, MSG_NOSIGNAL);

                if (n < 0)
                        break;
                spot->bytes += (uint64_t) n;
        }
}

static void *run_check(void *data)
{
        AldSpotCheck *spot = data;

        if (spot->sending)
                send_all(spot);
        else {
                receive_all(spot);
                /* This limits the data that is sent beyond the end of the check. */
                ald_stream_reset(spot->fd);
        }
        atomic_store(&spot->ended, true);
        return NULL;
}

int ald_spot_check_start(AldSpotCheck *spot, int fd, bool sending)
{
        int r = spot->running ? -EBUSY : 0;

        if (r >= 0) {
                ald_spot_check_clear(spot);
                *spot = (AldSpotCheck){ .fd = fd, .sending = sending };
                if (!sending)
                        spot->points = g_new(AldSpotCheckPoint, ALD_SPOT_CHECK_POINTS_MAX);
                ald_stream_prepare(fd);
                r = ald_stream_start_thread(&spot->thread, run_check, spot);
        }
        if (r < 0) {
                close(fd);
                return r;
        }
        spot->running = true;
        return 0;
}

void ald_spot_check_stop(AldSpotCheck *spot)
{
        if (!spot->running)
                return;
        atomic_store(&spot->stop, true);
        (void) shutdown(spot->fd, SHUT_RDWR);
        pthread_join(spot->thread, NULL);
        ald_stream_reset(spot->fd);
        ald_fd_close(&spot->fd);
        spot->running = false;
}

void ald_spot_check_clear(AldSpotCheck *spot)
{
        ald_spot_check_stop(spot);
        g_clear_pointer(&spot->points, g_free);
}
