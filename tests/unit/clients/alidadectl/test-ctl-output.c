/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clients/alidadectl/output.h"

#define AMOUNT (1024 * 1024)

typedef struct Fixture {
        int fds[2]; /* read from the first, write to the second */
        AldOutput *output;
        int result; /* of the last call of the handler */
        unsigned calls;
} Fixture;

static void on_output(AldOutput *output, int r, void *userdata)
{
        Fixture *fixture = userdata;

        fixture->result = r;
        fixture->calls++;
}

static void set_up(Fixture *fixture, const void *data)
{
        fixture->result = 1;
        if (data)
                g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fixture->fds), ==, 0);
        else
                g_assert_cmpint(pipe2(fixture->fds, O_CLOEXEC), ==, 0);
        g_assert_cmpint(ald_output_new(fixture->fds[1], on_output, fixture, &fixture->output), >=, 0);
}

static void tear_down(Fixture *fixture, const void *data)
{
        ald_output_free(fixture->output);
        for (int i = 0; i < 2; i++)
                if (fixture->fds[i] >= 0)
                        (void) close(fixture->fds[i]);
}

/* Nobody reads, and writing does not wait; what was queued arrives in full, and in order, once somebody does.
 */
static void test_stalled_reader(Fixture *fixture, const void *data)
{
        g_autofree char *sent = g_malloc(AMOUNT), *received = g_malloc(AMOUNT);
        size_t n = 0;

        for (size_t i = 0; i < AMOUNT; i++)
                sent[i] = (char) (i * 7 + i / 256);
        ald_output_write(fixture->output, sent, AMOUNT / 2);
        ald_output_write(fixture->output, sent + AMOUNT / 2, AMOUNT / 2);
        g_assert_cmpuint(ald_output_pending(fixture->output), >, 0);
        g_assert_cmpuint(fixture->calls, ==, 0);
        while (n < AMOUNT) {
                ssize_t got = read(fixture->fds[0], received + n, AMOUNT - n);

                g_assert_cmpint(got, >, 0);
                n += (size_t) got;
                (void) g_main_context_iteration(NULL, FALSE);
        }
        g_assert_cmpmem(sent, AMOUNT, received, AMOUNT);
        g_assert_cmpuint(ald_output_pending(fixture->output), ==, 0);
        g_assert_cmpint(fixture->result, ==, 0);
        g_assert_cmpuint(fixture->calls, ==, 1);
}

static void test_reader_goes(Fixture *fixture, const void *data)
{
        (void) close(fixture->fds[0]);
        fixture->fds[0] = -1;
        /* It is noticed without writing. */
        while (fixture->calls == 0)
                (void) g_main_context_iteration(NULL, TRUE);
        g_assert_cmpint(fixture->result, ==, -EPIPE);
        ald_output_write(fixture->output, "x", 1);
        g_assert_cmpuint(ald_output_pending(fixture->output), ==, 0);
        g_assert_cmpuint(fixture->calls, ==, 1);
}

static void test_leaves_flags_alone(Fixture *fixture, const void *data)
{
        g_assert_cmpint(fcntl(fixture->fds[1], F_GETFL) & O_NONBLOCK, ==, 0);
}

int main(int argc, char **argv)
{
        (void) signal(SIGPIPE, SIG_IGN);
        g_test_init(&argc, &argv, NULL);
        g_test_add("/ctl/output/pipe/stalled-reader", Fixture, NULL, set_up, test_stalled_reader, tear_down);
        g_test_add("/ctl/output/pipe/reader-goes", Fixture, NULL, set_up, test_reader_goes, tear_down);
        g_test_add("/ctl/output/pipe/leaves-flags-alone", Fixture, NULL, set_up, test_leaves_flags_alone,
                tear_down);
        g_test_add("/ctl/output/socket/stalled-reader", Fixture, "", set_up, test_stalled_reader, tear_down);
        g_test_add("/ctl/output/socket/reader-goes", Fixture, "", set_up, test_reader_goes, tear_down);
        return g_test_run();
}
