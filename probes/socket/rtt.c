/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include <glib.h>

#include "probes/common/clock.h"
#include "probes/fd.h"
#include "probes/socket/rtt.h"

#define WARM_UP 20u
#define WARM_UP_NS (ALD_NSEC_PER_SEC / 2) /* of a long way fewer are enough */
#define BURST 50u
#define BURST_NS (60 * ALD_NSEC_PER_MSEC)
#define BURST_EVERY_NS (105 * ALD_NSEC_PER_MSEC) /* ten of them take more than a second */
#define ENOUGH 200u
#define LEAST_NS ALD_NSEC_PER_SEC
#define MOST_NS (3 * ALD_NSEC_PER_SEC)
#define STEADY_EVERY_NS (100 * ALD_NSEC_PER_MSEC)
#define STEADY_BYTES 8u /* under load they take from what is measured: 0.02 % at 50 Mb/s */
#define PATIENCE_SECONDS 3
#define ECHOES_MAX 100000u
#define STACK (64u * 1024)

void ald_rtt_prepare(int fd)
{
        const struct timeval patience = { .tv_sec = PATIENCE_SECONDS };
        const int on = 1;

        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
}

static bool receive(int fd, uint8_t *bytes, size_t n)
{
        uint64_t deadline = ald_now() + PATIENCE_SECONDS * ALD_NSEC_PER_SEC;

        for (size_t got = 0; got < n;) {
                ssize_t r = recv(fd, bytes + got, n - got, 0);

                /* A few at a time do not buy more of it. */
                if (r == 0 || (r < 0 && errno != EINTR) || ald_now() > deadline)
                        return false;
                got += (size_t) MAX(r, 0);
        }
        return true;
}

/* What comes back must be what was sent, else another exchange was timed. */
static bool exchange(AldRtt *rtt, uint64_t *ret)
{
        uint8_t sent[ALD_RTT_BYTES] = {}, got[ALD_RTT_BYTES];
        size_t n = rtt->steady ? STEADY_BYTES : ALD_RTT_BYTES;
        uint64_t begin = ald_now();

        memcpy(sent, &begin, sizeof begin);
        rtt->failed = send(rtt->fd, sent, n, MSG_NOSIGNAL) != (ssize_t) n || !receive(rtt->fd, got, n) ||
                      memcmp(sent, got, n) != 0;
        *ret = ald_now() - begin;
        return !rtt->failed;
}

static void pause_until(uint64_t when)
{
        const struct timespec until = {
                .tv_sec = (time_t) (when / ALD_NSEC_PER_SEC),
                .tv_nsec = (long) (when % ALD_NSEC_PER_SEC),
        };

        (void) clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static bool may_go_on(AldRtt *rtt)
{
        return !rtt->failed && !atomic_load(&rtt->stop) && rtt->n < ALD_RTT_SAMPLES_MAX;
}

static void take_burst(AldRtt *rtt, uint32_t number)
{
        uint64_t end = ald_now() + BURST_NS, taken;

        for (unsigned i = 0; i < BURST && may_go_on(rtt) && (i == 0 || ald_now() < end); i++)
                if (exchange(rtt, &taken))
                        rtt->samples[rtt->n++] = (AldRttSample){ taken, number };
}

static void *run_bursts(void *data)
{
        AldRtt *rtt = data;
        uint64_t begin = ald_now(), ignored, elapsed;
        uint32_t burst = 0;

        for (unsigned i = 0; i < WARM_UP && may_go_on(rtt) && ald_now() - begin < WARM_UP_NS; i++)
                (void) exchange(rtt, &ignored);
        begin = ald_now();
        while (may_go_on(rtt)) {
                take_burst(rtt, burst++);
                elapsed = ald_now() - begin;
                atomic_store(&rtt->progress, (unsigned) MIN(elapsed * 1000 / LEAST_NS, 1000));
                if ((elapsed >= LEAST_NS && rtt->n >= ENOUGH) || elapsed >= MOST_NS)
                        break;
                pause_until(begin + burst * BURST_EVERY_NS);
        }
        atomic_store(&rtt->ended, true);
        return NULL;
}

static void *run_steadily(void *data)
{
        AldRtt *rtt = data;
        uint64_t begin = ald_now(), taken;

        for (uint32_t i = 0; may_go_on(rtt); i++) {
                if (exchange(rtt, &taken))
                        rtt->samples[rtt->n++] = (AldRttSample){ taken, i };
                pause_until(begin + (i + 1) * STEADY_EVERY_NS);
        }
        atomic_store(&rtt->ended, true);
        return NULL;
}

static int start_thread(pthread_t *thread, void *(*run)(void *), void *data)
{
        pthread_attr_t attributes;
        int r = pthread_attr_init(&attributes);

        if (r != 0)
                return -r;
        (void) pthread_attr_setstacksize(&attributes, STACK);
        r = pthread_create(thread, &attributes, run, data);
        pthread_attr_destroy(&attributes);
        return -r;
}

int ald_rtt_start(AldRtt *rtt, int fd, bool steady)
{
        rtt->fd = fd;
        rtt->steady = steady;
        rtt->n = 0;
        rtt->failed = false;
        atomic_store(&rtt->stop, false);
        atomic_store(&rtt->ended, false);
        atomic_store(&rtt->progress, 0);
        return start_thread(&rtt->thread, steady ? run_steadily : run_bursts, rtt);
}

void ald_rtt_finish(AldRtt *rtt, bool now)
{
        atomic_store(&rtt->stop, true);
        if (now)
                (void) shutdown(rtt->fd, SHUT_RDWR);
        pthread_join(rtt->thread, NULL);
}

static void *run_echo(void *data)
{
        AldEcho *echo = data;
        uint8_t bytes[ALD_RTT_BYTES];

        for (unsigned i = 0; i < ECHOES_MAX; i++) {
                ssize_t n = recv(echo->fd, bytes, sizeof bytes, 0);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0 || send(echo->fd, bytes, (size_t) n, MSG_NOSIGNAL) != n)
                        break;
        }
        (void) shutdown(echo->fd, SHUT_RDWR);
        return NULL;
}

int ald_echo_start(AldEcho *echo, int fd)
{
        const int on = 1;
        int r = echo->running ? -EBUSY : 0;

        if (r >= 0) {
                (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                echo->fd = fd;
                r = start_thread(&echo->thread, run_echo, echo);
        }
        if (r < 0) {
                close(fd);
                return r;
        }
        echo->running = true;
        return 0;
}

void ald_echo_stop(AldEcho *echo)
{
        if (!echo->running)
                return;
        (void) shutdown(echo->fd, SHUT_RDWR);
        pthread_join(echo->thread, NULL);
        ald_fd_close(&echo->fd);
        echo->running = false;
}
