/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <sys/socket.h>

#include "tests/unit/bus-pair.h"

BusPair *bus_pair_new(void)
{
        BusPair *pair = g_new0(BusPair, 1);
        sd_id128_t id;
        int fds[2];

        g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), ==, 0);
        g_assert_cmpint(sd_id128_randomize(&id), ==, 0);
        g_assert_cmpint(sd_bus_new(&pair->service), ==, 0);
        g_assert_cmpint(sd_bus_set_fd(pair->service, fds[0], fds[0]), ==, 0);
        g_assert_cmpint(sd_bus_set_server(pair->service, true, id), ==, 0);
        g_assert_cmpint(sd_bus_start(pair->service), ==, 0);
        g_assert_cmpint(sd_bus_new(&pair->client), ==, 0);
        g_assert_cmpint(sd_bus_set_fd(pair->client, fds[1], fds[1]), ==, 0);
        g_assert_cmpint(sd_bus_start(pair->client), ==, 0);
        while (sd_bus_is_ready(pair->client) <= 0 || sd_bus_is_ready(pair->service) <= 0)
                bus_pair_pump(pair);
        return pair;
}

void bus_pair_free(BusPair *pair)
{
        sd_bus_unref(pair->service);
        sd_bus_unref(pair->client);
        g_free(pair);
}

void bus_pair_pump(BusPair *pair)
{
        while (sd_bus_process(pair->service, NULL) > 0 || sd_bus_process(pair->client, NULL) > 0)
                ;
}

sd_bus_message *bus_pair_message_new(BusPair *pair)
{
        sd_bus_message *message;

        g_assert_cmpint(
                sd_bus_message_new_signal(pair->service, &message, "/test", "org.alidade.Test1", "Test"), ==,
                0);
        return message;
}

void bus_pair_seal(sd_bus_message *message)
{
        g_assert_cmpint(sd_bus_message_seal(message, 1, 0), >=, 0);
        g_assert_cmpint(sd_bus_message_rewind(message, true), >=, 0);
}
