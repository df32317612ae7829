/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The nodes of tests/bench/cluster.py, beside one real state and cluster service on ALIDADE_BUS_ADDRESS:
 *
 *   bench-cluster ADDRESS PORT CLUSTER CA CA-KEY NODES DIVISOR SECONDS
 *
 * Tells "filled" when the state service has all values, "begin" and "end" around the seconds that are
 * measured, goes on until a line is read, and then, 5 s after the last message, tells its figures as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/bus-cleanup.h"
#include "tests/bench/put-watch.h"
#include "tests/bench/swarm.h"

#define SECOND UINT64_C(1000000)
#define FILL_SECONDS 300u
#define REST_SECONDS 5u
#define LATE_SECONDS 60u
#define STATE "org.alidade.State1", "/org/alidade/State1", "org.alidade.State1"

#define TRY(expression)                                                                             \
        do {                                                                                        \
                int try_r_ = (expression);                                                          \
                if (try_r_ < 0) {                                                                   \
                        fprintf(stderr, "bench-cluster: %s: %s\n", #expression, strerror(-try_r_)); \
                        exit(EXIT_FAILURE);                                                         \
                }                                                                                   \
        } while (false)

static void tell(const char *what)
{
        printf("%s\n", what);
        fflush(stdout);
}

/* The bus gives whoever does not say hello half a minute, which many handshakes take. */
static sd_bus *connect_bus(void)
{
        const char *name;
        sd_bus *bus;

        TRY(sd_bus_new(&bus));
        TRY(sd_bus_set_address(bus, getenv("ALIDADE_BUS_ADDRESS")));
        TRY(sd_bus_set_bus_client(bus, true));
        TRY(sd_bus_start(bus));
        TRY(sd_bus_get_unique_name(bus, &name));
        return bus;
}

/* How many records the state service holds of its own node and others. */
static uint64_t count_records(sd_bus *bus)
{
        g_autoptr(AldMessage) reply = NULL;
        const char *digest;
        uint64_t count;

        TRY(sd_bus_call_method(bus, STATE, "GetDigest", NULL, &reply, "s", ""));
        TRY(sd_bus_message_read(reply, "ts", &count, &digest));
        return count;
}

static void await_fill(Swarm *swarm, sd_bus *bus, unsigned nodes)
{
        const uint64_t give_up = swarm_now() + FILL_SECONDS * SECOND;

        while (count_records(bus) < (uint64_t) nodes * FIXTURE_RECORDS) {
                if (swarm_now() > give_up) {
                        fprintf(stderr, "bench-cluster: only %" PRIu64 " of %u records came in %u s\n",
                                count_records(bus), nodes * FIXTURE_RECORDS, FILL_SECONDS);
                        exit(EXIT_FAILURE);
                }
                swarm_run(swarm, swarm_now() + SECOND / 2, -1);
        }
}

static void check_page(Swarm *swarm, sd_bus *bus, char **cursor)
{
        g_autoptr(AldMessage) reply = NULL;
        const char *node, *kind, *key, *next;
        uint64_t epoch, seq, updated;
        int deleted, r;

        TRY(sd_bus_call_method(bus, STATE, "GetRecords", NULL, &reply, "sst", "", *cursor, UINT64_C(0)));
        TRY(sd_bus_message_enter_container(reply, 'a', "(ssstttba{sv})"));
        while ((r = sd_bus_message_enter_container(reply, 'r', "ssstttba{sv}")) > 0) {
                TRY(sd_bus_message_read(
                        reply, "ssstttb", &node, &kind, &key, &epoch, &seq, &updated, &deleted));
                TRY(sd_bus_message_skip(reply, "a{sv}"));
                TRY(sd_bus_message_exit_container(reply));
                swarm_check(swarm, node, kind, key, seq, deleted);
        }
        TRY(r);
        TRY(sd_bus_message_exit_container(reply));
        TRY(sd_bus_message_read(reply, "s", &next));
        g_free(*cursor);
        *cursor = g_strdup(next);
}

static unsigned count_missing(Swarm *swarm, sd_bus *bus)
{
        g_autofree char *cursor = g_strdup("");

        do
                check_page(swarm, bus, &cursor);
        while (*cursor);
        return swarm_missing(swarm);
}

static double quantile(const GArray *sorted, double q)
{
        return sorted->len == 0 ? -1 : g_array_index(sorted, double, (unsigned) (q * (sorted->len - 1)));
}

/* What is late comes yet; what is lost never does. */
static unsigned count_lost(Swarm *swarm, sd_bus *bus, unsigned missing)
{
        for (unsigned i = 0; missing > 0 && i < LATE_SECONDS / REST_SECONDS; i++) {
                swarm_rest(swarm, REST_SECONDS * SECOND);
                missing = count_missing(swarm, bus);
        }
        return missing;
}

static void tell_figures(PutWatch *watch, uint64_t published, unsigned missing, unsigned lost)
{
        g_autoptr(GArray) lags = put_watch_lags(watch);

        printf("{\"final_values_missing\": %u, \"final_values_lost\": %u, \"published\": %" PRIu64
               ", \"intermediate_dropped\": %" PRId64
               ", \"lag_p50_ms\": %.2f, \"lag_p99_ms\": %.2f, \"lag_max_ms\": %.2f}\n",
                missing, lost, published, (int64_t) published - (int64_t) lags->len, quantile(lags, 0.5),
                quantile(lags, 0.99), quantile(lags, 1));
}

int main(int argc, char *argv[])
{
        SwarmSettings settings;
        PutWatch *watch;
        Swarm *swarm;
        sd_bus *bus;
        uint64_t published;
        unsigned missing;

        if (argc != 9)
                return EXIT_FAILURE;
        settings = (SwarmSettings){ argv[1], (uint16_t) atoi(argv[2]), argv[3], argv[4], argv[5],
                (unsigned) atoi(argv[6]), (unsigned) atoi(argv[7]) };
        bus = connect_bus();
        watch = put_watch_start(getenv("ALIDADE_BUS_ADDRESS"));
        swarm = swarm_start(&settings);
        await_fill(swarm, bus, settings.nodes);
        tell("filled");
        swarm_run(swarm, swarm_now() + 2 * SECOND, -1);

        tell("begin");
        put_watch_begin(watch);
        swarm_take_published(swarm);
        swarm_run(swarm, swarm_now() + (uint64_t) atoi(argv[8]) * SECOND, -1);
        put_watch_end(watch);
        published = swarm_take_published(swarm);
        tell("end");

        swarm_run(swarm, 0, STDIN_FILENO);
        swarm_rest(swarm, REST_SECONDS * SECOND);
        missing = count_missing(swarm, bus);
        tell_figures(watch, published, missing, count_lost(swarm, bus, missing));
        return EXIT_SUCCESS;
}
