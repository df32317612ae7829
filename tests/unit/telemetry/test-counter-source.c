/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The witness of counters is played by the test on the other end of its socket. */
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <glib/gstdio.h>

#include "common/fd.h"
#include "services/telemetry/gpu/counter-source.h"
#include "tests/unit/log-count.h"

#define ARC "0000:03:00.0"
#define SEC (INT64_C(1000) * 1000)

static const char *const ids[] = { ARC, NULL };

typedef struct Played {
        char *directory, *path;
        int listener, peer;
        AldCounterSource *source;
        int64_t now;
} Played;

static void set_up(Played *played, gconstpointer unused)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };

        played->directory = g_dir_make_tmp("counters-XXXXXX", NULL);
        played->path = g_build_filename(played->directory, "counters", NULL);
        g_assert_true(g_setenv("ALIDADE_WITNESS_DIRECTORY", played->directory, TRUE));
        g_strlcpy(address.sun_path, played->path, sizeof address.sun_path);
        played->peer = -1;
        played->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        g_assert_cmpint(bind(played->listener, (struct sockaddr *) &address, sizeof address), ==, 0);
        g_assert_cmpint(listen(played->listener, 1), ==, 0);
        played->source = ald_counter_source_new();
        played->now = 100 * SEC;
}

static void tear_down(Played *played, gconstpointer unused)
{
        ald_counter_source_free(played->source);
        ald_fd_close(&played->peer);
        ald_fd_close(&played->listener);
        g_unlink(played->path);
        g_rmdir(played->directory);
        g_free(played->directory);
        g_free(played->path);
}

/* Lets so much time pass and asks. Returns whether the witness was asked. */
static bool ask(Played *played, int64_t usec)
{
        char request[256];
        ssize_t n;

        played->now += usec;
        ald_counter_source_ask(played->source, ids, played->now);
        if (played->peer < 0)
                played->peer = accept4(played->listener, NULL, NULL, SOCK_CLOEXEC);
        n = recv(played->peer, request, sizeof request - 1, MSG_DONTWAIT);
        if (n < 0)
                return false;
        request[n] = '\0';
        g_assert_cmpstr(request, ==, "{\"Ids\":[\"" ARC "\"]}");
        return true;
}

static void answer(Played *played, const char *text)
{
        g_assert_cmpint(send(played->peer, text, strlen(text), MSG_NOSIGNAL), ==, strlen(text));
        g_main_context_iteration(NULL, TRUE);
}

static AldDevice completed(const Played *played, AldDevice device)
{
        ald_counter_source_complete(played->source, &device);
        return device;
}

static void test_completes_a_device(Played *played, gconstpointer unused)
{
        AldDevice device = ALD_DEVICE_INIT, other = ALD_DEVICE_INIT;

        device.id = ARC;
        other.id = "0000:04:00.0";
        g_assert_true(isnan(completed(played, device).usage));
        g_assert_true(ask(played, 0));
        answer(played, "{\"Devices\":[{\"Id\":\"" ARC "\",\"MemoryUsedBytes\":4096,\"Usage\":25.5}]}");
        g_assert_cmpuint(completed(played, device).memory_used_bytes, ==, 4096);
        g_assert_cmpfloat(completed(played, device).usage, ==, 25.5);
        g_assert_true(isnan(completed(played, other).usage));
        /* What the device says itself holds. */
        device.memory_used_bytes = 17;
        g_assert_cmpuint(completed(played, device).memory_used_bytes, ==, 17);
}

/* One that works is asked for each time, one without work so rarely that it can sleep. */
static void test_lets_devices_sleep(Played *played, gconstpointer unused)
{
        g_assert_true(ask(played, 0));
        g_assert_false(ask(played, SEC)); /* its answer is awaited */
        answer(played, "{\"Devices\":[{\"Id\":\"" ARC "\",\"Usage\":1}]}");
        g_assert_true(ask(played, SEC));
        answer(played, "{\"Devices\":[{\"Id\":\"" ARC "\",\"Usage\":0,\"MemoryUsedBytes\":1}]}");
        g_assert_false(ask(played, SEC));
        g_assert_false(ask(played, ALD_COUNTERS_IDLE_EVERY_USEC - 2 * SEC));
        g_assert_true(ask(played, SEC));
}

static void test_figures_end_with_the_witness(Played *played, gconstpointer unused)
{
        AldDevice device = ALD_DEVICE_INIT;

        device.id = ARC;
        g_assert_true(ask(played, 0));
        answer(played, "{\"Devices\":[{\"Id\":\"" ARC "\",\"Usage\":1}]}");
        g_assert_null(ald_counter_source_reason(played->source));
        g_assert_true(ask(played, SEC));
        answer(played, "rubbish");
        g_assert_true(isnan(completed(played, device).usage));
        g_assert_nonnull(ald_counter_source_reason(played->source));
}

static void test_figures_end_with_sleep(Played *played, gconstpointer unused)
{
        static const char *const none[] = { NULL };
        AldDevice device = ALD_DEVICE_INIT;

        device.id = ARC;
        g_assert_true(ask(played, 0));
        answer(played, "{\"Devices\":[{\"Id\":\"" ARC "\",\"MemoryUsedBytes\":4096}]}");
        g_assert_cmpuint(completed(played, device).memory_used_bytes, ==, 4096);
        ald_counter_source_ask(played->source, none, played->now + SEC);
        g_assert_cmpuint(completed(played, device).memory_used_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_null(ald_counter_source_reason(played->source));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_log_set_always_fatal(G_LOG_FATAL_MASK);
        log_count_install();
#define ADD(name, function) g_test_add("/counter-source/" name, Played, NULL, set_up, function, tear_down)
        ADD("completes-a-device", test_completes_a_device);
        ADD("lets-devices-sleep", test_lets_devices_sleep);
        ADD("figures-end-with-the-witness", test_figures_end_with_the_witness);
        ADD("figures-end-with-sleep", test_figures_end_with_sleep);
#undef ADD
        return g_test_run();
}
