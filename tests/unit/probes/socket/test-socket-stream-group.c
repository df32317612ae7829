/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <glib.h>

#include "probes/common/probe-fd.h"
#include "probes/socket/transfer/stream-group.h"

#define BYTES_MAX (UINT64_C(16) * 1024 * 1024)
#define TIMEOUT_SECONDS 20

/* A connection over loopback: ours, and the other side's, which takes little that it has not read. */
static void connect_pair(int *ret_ours, int *ret_theirs)
{
        struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
        const struct timeval timeout = { .tv_sec = TIMEOUT_SECONDS };
        socklen_t size = sizeof address;
        ald_fd int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int little = 65536, much = 1024 * 1024;

        g_assert_cmpint(listening, >=, 0);
        g_assert_cmpint(setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &little, sizeof little), ==, 0);
        g_assert_cmpint(bind(listening, (struct sockaddr *) &address, sizeof address), ==, 0);
        g_assert_cmpint(listen(listening, 1), ==, 0);
        g_assert_cmpint(getsockname(listening, (struct sockaddr *) &address, &size), ==, 0);
        *ret_ours = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        g_assert_cmpint(setsockopt(*ret_ours, SOL_SOCKET, SO_SNDBUF, &much, sizeof much), ==, 0);
        g_assert_cmpint(connect(*ret_ours, (struct sockaddr *) &address, sizeof address), ==, 0);
        *ret_theirs = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        g_assert_cmpint(*ret_theirs, >=, 0);
        g_assert_cmpint(setsockopt(*ret_theirs, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), ==, 0);
}

/* Reads until then, or fails. */
static void read_bytes(int fd, uint64_t count)
{
        g_autofree char *buffer = g_malloc(ALD_STREAM_CHUNK);

        for (uint64_t got = 0; got < count;) {
                ssize_t n = recv(fd, buffer, ALD_STREAM_CHUNK, 0);

                g_assert_cmpint(n, >, 0);
                got += (uint64_t) n;
        }
}

/* What a closed connection took with it, the others send. */
static void test_lost_bytes(void)
{
        int ours, theirs;
        ald_fd int second = -1;
        AldTcpInfo info;
        AldStreamGroup group;

        g_assert_cmpint(ald_stream_group_init(&group, true, false, BYTES_MAX), ==, 0);
        connect_pair(&ours, &theirs);
        g_assert_cmpint(ald_stream_group_add(&group, ours, 0), ==, 0);
        read_bytes(theirs, ALD_STREAM_CHUNK);
        /* More is handed over than arrives: the rest waits in our kernel. */
        do {
                g_usleep(1000);
                g_assert_cmpint(ald_tcp_info_get(theirs, &info), ==, 0);
        } while (ald_stream_group_sent(&group) <= info.bytes_received);
        ald_fd_close(&theirs);
        while (!ald_stream_group_has_ended(&group))
                g_usleep(1000);

        connect_pair(&ours, &second);
        g_assert_cmpint(ald_stream_group_add(&group, ours, 0), ==, 0);
        read_bytes(second, BYTES_MAX - ald_stream_group_counters(&group).bytes);
        ald_stream_group_clear(&group);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/socket/group/lost", test_lost_bytes);
        return g_test_run();
}
