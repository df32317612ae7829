/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include <glib.h>

#include "probes/common/probe-clock.h"
#include "probes/common/probe-fd.h"
#include "probes/socket/transfer/rtt.h"

#define STEADY_EVERY_NS (100 * ALD_NSEC_PER_MSEC)
#define STEADY_BYTES 8u        /* few, since under load they take bandwidth from the transfer */
#define STEADY_WIRE_BYTES 160. /* each way, with headers and acknowledgements */
#define STEADY_SHARE 0.0003    /* of the rate, at most */
#define STEADY_RARELY_NS (15 * ALD_NSEC_PER_SEC)
#define TIMEOUT_SECONDS 3
#define ECHOES_MAX 100000u
#define STACK (64u * 1024)

/* The timing of bursts. The limits of time let fewer samples suffice on a long path. */
typedef struct Bursts {
        unsigned warm_up, each, enough;
        uint64_t warm_up_ns, each_ns, every_ns, least_ns, most_ns;
} Bursts;

static const Bursts thorough = {
        .warm_up = 20,
        .warm_up_ns = ALD_NSEC_PER_SEC / 2,
        .each = 50,
        .each_ns = 60 * ALD_NSEC_PER_MSEC,
        .every_ns = 105 * ALD_NSEC_PER_MSEC, /* ten of them take more than a second */
        .enough = 200,
        .least_ns = ALD_NSEC_PER_SEC,
        .most_ns = 3 * ALD_NSEC_PER_SEC,
};

static const Bursts brief = {
        .warm_up = 5,
        .warm_up_ns = 50 * ALD_NSEC_PER_MSEC,
        .each = 10,
        .each_ns = 40 * ALD_NSEC_PER_MSEC,
        .every_ns = 50 * ALD_NSEC_PER_MSEC,
        .enough = 40,
        .least_ns = 180 * ALD_NSEC_PER_MSEC,
        .most_ns = 300 * ALD_NSEC_PER_MSEC,
};

void ald_rtt_prepare(int fd)
{
        const struct timeval timeout = { .tv_sec = TIMEOUT_SECONDS };
        const int on = 1;

        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        (void) setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
}

static bool receive_fully(int fd, uint8_t *bytes, size_t n)
{
        uint64_t deadline = ald_now() + TIMEOUT_SECONDS * ALD_NSEC_PER_SEC;

        for (size_t got = 0; got < n;) {
                ssize_t r = recv(fd, bytes + got, n - got, 0);

                /* A few bytes at a time do not extend the deadline. */
                if (r == 0 || (r < 0 && errno != EINTR) || ald_now() > deadline)
                        return false;
                got += (size_t) MAX(r, 0);
        }
        return true;
}

/* The bytes that come back must be those that were sent; otherwise another exchange was timed. */
static bool make_round_trip(AldRtt *rtt, uint64_t *ret)
{
        uint8_t sent[ALD_RTT_BYTES] = {}, got[ALD_RTT_BYTES];
        size_t n = rtt->mode == ALD_RTT_STEADY ? STEADY_BYTES : ALD_RTT_BYTES;
        uint64_t begin = ald_now();

        memcpy(sent, &begin, sizeof begin);
        rtt->failed = send(rtt->fd, sent, n, MSG_NOSIGNAL) != (ssize_t) n ||
                      !receive_fully(rtt->fd, got, n) || memcmp(sent, got, n) != 0;
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

static void measure_burst(AldRtt *rtt, const Bursts *bursts, uint32_t number)
{
        uint64_t end = ald_now() + bursts->each_ns, taken;

        for (unsigned i = 0; i < bursts->each && may_go_on(rtt) && (i == 0 || ald_now() < end); i++)
                if (make_round_trip(rtt, &taken))
                        rtt->samples[rtt->n++] = (AldRttSample){ taken, number };
}

static void *run_bursts(void *data)
{
        AldRtt *rtt = data;
        const Bursts *bursts = rtt->mode == ALD_RTT_BRIEF ? &brief : &thorough;
        uint64_t begin = ald_now(), ignored, elapsed;
        uint32_t burst = 0;

        for (unsigned i = 0; i < bursts->warm_up && may_go_on(rtt) && ald_now() - begin < bursts->warm_up_ns;
                i++)
                (void) make_round_trip(rtt, &ignored);
        begin = ald_now();
        while (may_go_on(rtt)) {
                measure_burst(rtt, bursts, burst++);
                elapsed = ald_now() - begin;
                atomic_store(&rtt->progress, (unsigned) MIN(elapsed * 1000 / bursts->least_ns, 1000));
                if ((elapsed >= bursts->least_ns && rtt->n >= bursts->enough) || elapsed >= bursts->most_ns)
                        break;
                pause_until(begin + burst * bursts->every_ns);
        }
        atomic_store(&rtt->ended, true);
        return NULL;
}

static void *run_steadily(void *data)
{
        AldRtt *rtt = data;
        uint64_t begin = ald_now(), taken;

        for (uint32_t i = 0; may_go_on(rtt); i++) {
                if (make_round_trip(rtt, &taken))
                        rtt->samples[rtt->n++] = (AldRttSample){ taken, i };
                /* The interval may change meanwhile. */
                do
                        pause_until(ald_now() + STEADY_EVERY_NS);
                while (may_go_on(rtt) && ald_now() - begin < atomic_load(&rtt->every));
                begin = ald_now();
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

void ald_rtt_set_interval(AldRtt *rtt, uint64_t bytes, uint64_t nsec)
{
        double rate = (double) bytes / (double) MAX(nsec, 1);

        if (nsec >= STEADY_EVERY_NS && rate > 0)
                atomic_store(&rtt->every, (uint64_t) CLAMP(STEADY_WIRE_BYTES / (rate * STEADY_SHARE),
                                                  STEADY_EVERY_NS, STEADY_RARELY_NS));
}

int ald_rtt_start(AldRtt *rtt, int fd, AldRttMode mode)
{
        rtt->fd = fd;
        rtt->mode = mode;
        rtt->n = 0;
        rtt->failed = false;
        atomic_store(&rtt->stop, false);
        atomic_store(&rtt->ended, false);
        atomic_store(&rtt->progress, 0);
        atomic_store(&rtt->every, STEADY_EVERY_NS);
        return start_thread(&rtt->thread, mode == ALD_RTT_STEADY ? run_steadily : run_bursts, rtt);
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
