/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "probes/common/admission.h"
#include "probes/common/process-limits.h"
#include "probes/listen/stand-alone.h"

/* The listener of a probe that was started by hand. The sessions here have no TLS: a peer has proved its
 * identity by one byte after the first ones of TLS, and receives what it is answered. */

#define TLS "\x16\x03"
#define PROOF '!'
#define MEASURED 7
#define ROUNDS 6u
#define HOSTILE 48u
#define BYTES_MAX 4096u

/* Connections that wait for the first bytes, and for each session its process and its reports. */
#define SESSIONS_MAX 16u
#define DESCRIPTORS_MAX (8u + 2 * SESSIONS_MAX)
#ifdef WITH_SANITIZER
#define MEMORY_MAX_KIB (UINT64_C(1) << 20) /* it keeps what was freed */
#else
#define MEMORY_MAX_KIB UINT64_C(2048)
#endif

typedef struct Way {
        bool rdma, once;
        unsigned wait_msec;
} Way;

typedef struct Fixture {
        const Way *way;
        char *folder, *key;
        unsigned port;
        pid_t listener;
} Fixture;

static int serve(const void *options, int parent)
{
        const AldLinkOptions *link = options;
        const AldSessionReport report = ALD_SESSION_REPORT_INIT;
        g_auto(AldAdmission) turn = {};
        const char *answer;
        sigset_t none;
        char bytes[3];

        sigemptyset(&none);
        if (ald_process_limits_apply(&ald_process_limits_socket, SIGKILL, parent) < 0 ||
                sigprocmask(SIG_SETMASK, &none, NULL) < 0 || fcntl(link->session_fd, F_SETFL, 0) < 0)
                return EXIT_FAILURE;
        if (recv(link->session_fd, bytes, sizeof bytes, MSG_WAITALL) != sizeof bytes || bytes[2] != PROOF)
                return ALD_STAND_ALONE_NOTHING_MEASURED;
        ald_admission_report(link->report_fd, &report);
        if (ald_admission_read(link->report_fd, &turn) < 0)
                return EXIT_FAILURE;
        answer = turn.why ?: "go";
        (void) send(link->session_fd, answer, strlen(answer), MSG_NOSIGNAL);
        /* Until the peer leaves. */
        (void) recv(link->session_fd, bytes, 1, 0);
        return turn.why ? EXIT_FAILURE : MEASURED;
}

static int make_socket(void)
{
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        g_assert_cmpint(fd, >=, 0);
        return fd;
}

/* One that is free now. */
static unsigned find_port(void)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
        socklen_t size = sizeof address;
        int fd = make_socket();

        g_assert_cmpint(bind(fd, (struct sockaddr *) &address, size), ==, 0);
        g_assert_cmpint(getsockname(fd, (struct sockaddr *) &address, &size), ==, 0);
        close(fd);
        return ntohs(address.sin_port);
}

static _Noreturn void be_listener(const Fixture *fixture, int output)
{
        AldLinkOptions link = { .mode = ALD_LINK_MODE_LISTEN,
                .host = "127.0.0.1",
                .port = fixture->port,
                .once = fixture->way->once,
                .report_fd = -1,
                .keys.key_file = fixture->key };
        const AldStandAlone parts = { .program = "stand-alone",
                .link = &link,
                .rdma = fixture->way->rdma,
                .wait_msec = fixture->way->wait_msec,
                .busy = "another is measured",
                .serve = serve,
                .options = &link };

        /* A test that fails leaves nothing behind. */
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) < 0 || dup2(output, STDOUT_FILENO) < 0)
                _exit(EXIT_FAILURE);
        _exit(ald_stand_alone_run(&parts));
}

static void set_up(Fixture *fixture, gconstpointer userdata)
{
        int ends[2];
        char first;

        *fixture = (Fixture){ .way = userdata, .folder = g_dir_make_tmp("stand-alone-XXXXXX", NULL) };
        fixture->key = g_build_filename(fixture->folder, "key", NULL);
        g_assert_true(g_file_set_contents_full(
                fixture->key, "a secret of which both know", -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
        fixture->port = find_port();
        g_assert_cmpint(pipe(ends), ==, 0);
        fflush(stdout);
        fixture->listener = fork();
        g_assert_cmpint(fixture->listener, >=, 0);
        if (fixture->listener == 0) {
                close(ends[0]);
                be_listener(fixture, ends[1]);
        }
        close(ends[1]);
        /* It prints first that it listens. */
        g_assert_cmpint(read(ends[0], &first, 1), ==, 1);
        close(ends[0]);
}

static void tear_down(Fixture *fixture, gconstpointer userdata)
{
        int status = 0;

        if (!fixture->way->once)
                g_assert_cmpint(kill(fixture->listener, SIGTERM), ==, 0);
        g_assert_cmpint(waitpid(fixture->listener, &status, 0), ==, fixture->listener);
        g_assert_true(WIFEXITED(status));
        g_assert_cmpint(WEXITSTATUS(status), ==, fixture->way->once ? MEASURED : EXIT_SUCCESS);
        g_unlink(fixture->key);
        g_rmdir(fixture->folder);
        g_free(fixture->key);
        g_free(fixture->folder);
}

static int reach(const Fixture *fixture)
{
        struct sockaddr_in address = { .sin_family = AF_INET,
                .sin_port = htons((uint16_t) fixture->port),
                .sin_addr = { htonl(INADDR_LOOPBACK) } };
        int fd = make_socket();

        g_assert_cmpint(connect(fd, (struct sockaddr *) &address, sizeof address), ==, 0);
        return fd;
}

static int come(const Fixture *fixture)
{
        const char proof[] = { TLS[0], TLS[1], PROOF };
        int fd = reach(fixture);

        if (fixture->way->rdma)
                (void) send(fd, "RDMA", 4, MSG_NOSIGNAL);
        (void) send(fd, proof, sizeof proof, MSG_NOSIGNAL);
        return fd;
}

/* "" if the connection is closed. */
static const char *hear(int fd, char buffer[static 64])
{
        ssize_t n = recv(fd, buffer, 63, 0);

        buffer[MAX(n, 0)] = '\0';
        return buffer;
}

static void test_turns(Fixture *fixture, gconstpointer userdata)
{
        char answer[64];
        int first = come(fixture), second;

        g_assert_cmpstr(hear(first, answer), ==, "go");
        second = come(fixture);
        close(first);
        g_assert_cmpstr(hear(second, answer), ==, "go");
        close(second);
}

/* Neither a peer that does not authenticate nor one that is refused ends it, but the one that is measured. */
static void test_once(Fixture *fixture, gconstpointer userdata)
{
        char answer[64];
        int first, second;

        first = reach(fixture);
        g_assert_cmpint(send(first, TLS "?", 3, MSG_NOSIGNAL), ==, 3);
        g_assert_cmpstr(hear(first, answer), ==, "");
        close(first);
        first = come(fixture);
        g_assert_cmpstr(hear(first, answer), ==, "go");
        second = come(fixture);
        g_assert_cmpstr(hear(second, answer), ==, "another is measured");
        close(second);
        /* It still listens. */
        second = come(fixture);
        g_assert_cmpstr(hear(second, answer), ==, "another is measured");
        close(second);
        close(first);
}

static void test_first_bytes(Fixture *fixture, gconstpointer userdata)
{
        static const char *const others[] = { "GET / HTTP/1.0\r\n\r\n", "RDMA", "RDMARDMA", "\x16\x02" };
        char answer[64];

        for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
                int fd = reach(fixture);

                (void) send(fd, others[i], strlen(others[i]), MSG_NOSIGNAL);
                (void) shutdown(fd, SHUT_WR);
                g_assert_cmpstr(hear(fd, answer), ==, "");
                close(fd);
        }
        /* A client of the other probe is refused as well. */
        for (unsigned i = 0; i < 2; i++) {
                const Way other = { .rdma = !fixture->way->rdma };
                Fixture wrong = *fixture;
                int fd;

                wrong.way = i == 0 ? &other : fixture->way;
                fd = come(&wrong);
                g_assert_cmpstr(hear(fd, answer), ==, i == 0 ? "" : "go");
                close(fd);
        }
}

static unsigned count_descriptors(const Fixture *fixture)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/fd", fixture->listener);
        g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
        unsigned n = 0;

        g_assert_nonnull(dir);
        while (g_dir_read_name(dir))
                n++;
        return n;
}

static unsigned count_children(const Fixture *fixture)
{
        g_autofree char *path = g_strdup_printf(
                "/proc/%d/task/%d/children", fixture->listener, fixture->listener);
        g_autofree char *text = NULL;
        g_auto(GStrv) words = NULL;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        words = g_strsplit(g_strstrip(text), " ", -1);
        return g_strv_length(words);
}

static uint64_t memory_kib(const Fixture *fixture)
{
        g_autofree char *path = g_strdup_printf("/proc/%d/status", fixture->listener);
        g_autofree char *text = NULL;
        const char *line;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        line = strstr(text, "VmData:");
        g_assert_nonnull(line);
        return g_ascii_strtoull(line + strlen("VmData:"), NULL, 10);
}

/* Sends nothing, no TLS, the first bytes of TLS alone, or no proof after them; half of it after "RDMA". */
static void send_hostile(GRand *random, int fd)
{
        guint8 bytes[BYTES_MAX];
        size_t begin = 0, n = (size_t) g_rand_int_range(random, 8, sizeof bytes);
        int kind = g_rand_int_range(random, 0, 4);

        for (size_t i = 0; i < n; i++)
                bytes[i] = (guint8) g_rand_int_range(random, 0, 256);
        if (g_rand_boolean(random)) {
                memcpy(bytes, "RDMA", 4);
                begin = 4;
        }
        if (kind >= 2) {
                memcpy(bytes + begin, TLS "?", 3);
                n = kind == 2 ? begin + 2 : n;
        }
        if (kind > 0)
                (void) send(fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Connects until it has its turn: then all earlier connections have been accepted. */
static void measure(const Fixture *fixture)
{
        char answer[64] = "";

        while (!g_str_equal(answer, "go")) {
                int fd = come(fixture);

                (void) hear(fd, answer);
                close(fd);
        }
}

static void test_hostile(Fixture *fixture, gconstpointer userdata)
{
        g_autoptr(GRand) random = g_rand_new_with_seed(46);
        int hostile[HOSTILE];
        unsigned descriptors;
        uint64_t memory;

        measure(fixture);
        descriptors = count_descriptors(fixture);
        memory = memory_kib(fixture);
        for (unsigned round = 0; round < ROUNDS; round++) {
                for (unsigned i = 0; i < HOSTILE; i++) {
                        if (round > 0)
                                close(hostile[i]);
                        hostile[i] = reach(fixture);
                        send_hostile(random, hostile[i]);
                        g_assert_cmpuint(count_descriptors(fixture), <=, descriptors + DESCRIPTORS_MAX);
                        g_assert_cmpuint(count_children(fixture), <=, SESSIONS_MAX);
                }
                measure(fixture);
        }
        g_assert_cmpuint(memory_kib(fixture), <=, memory + MEMORY_MAX_KIB);
        for (unsigned i = 0; i < HOSTILE; i++)
                close(hostile[i]);
}

int main(int argc, char *argv[])
{
        static const Way by_socket = { .wait_msec = 0 }, by_rdma = { .rdma = true, .wait_msec = 4000 };
        static const Way once = { .once = true };

        g_test_init(&argc, &argv, NULL);
        g_test_add("/probe-stand-alone/turns", Fixture, &by_rdma, set_up, test_turns, tear_down);
        g_test_add("/probe-stand-alone/once", Fixture, &once, set_up, test_once, tear_down);
        g_test_add(
                "/probe-stand-alone/first-bytes", Fixture, &by_socket, set_up, test_first_bytes, tear_down);
        g_test_add("/probe-stand-alone/first-bytes-rdma", Fixture, &by_rdma, set_up, test_first_bytes,
                tear_down);
        g_test_add("/probe-stand-alone/hostile", Fixture, &by_socket, set_up, test_hostile, tear_down);
        g_test_add("/probe-stand-alone/hostile-rdma", Fixture, &by_rdma, set_up, test_hostile, tear_down);
        return g_test_run();
}
