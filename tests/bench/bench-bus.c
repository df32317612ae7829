/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state service on a real bus (ALIDADE_BUS_ADDRESS), with peers beside it in the same run: a snapshot of
 * 1000 nodes against an a{sa{sv}} of the same values, PutRecords() against an empty method that takes the
 * same bytes, and how long a change takes from its source to a client, against a peer that only passes it on.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/bus-cleanup.h"
#include "record/record-bus.h"
#include "tests/bench/bus-peer.h"
#include "tests/bench/bus-tools.h"
#include "tests/bench/fixture.h"

#define PER_MESSAGE 64u
#define SNAPSHOTS_MAX 15u
#define PUT_ROUNDS_MAX 150u
#define SAMPLE_USEC 4000u
#define LATE_MAX 5u /* changes that take longer than a second */
#define QUIET_USEC 3e5

#define STATE "org.alidade.State1", "/org/alidade/State1"
#define TELEMETRY "org.alidade.Telemetry1"
#define MEMORY_INTERFACE "org.alidade.Node1.Memory"

/* PutRecords() */

static void append_update(sd_bus_message *message, const AldUpdate *update)
{
        char id[ALD_ID_STRING_SIZE];

        TRY(sd_bus_message_open_container(message, 'r', "ssstttba{sv}"));
        TRY(sd_bus_message_append(message, "ssstttb", ald_id_format(&update->node, id),
                ald_kinds[update->kind].name, update->key, update->stamp.epoch, update->stamp.seq,
                update->updated_usec, 0));
        TRY(ald_record_bus_append(message, update->record, 0));
        TRY(sd_bus_message_close_container(message));
}

/* Which records: all in turn to fill, or at random. */
typedef struct Pick {
        bool random;
        unsigned next;
        uint64_t turn;
} Pick;

static AldUpdate pick(Pick *pick, char key[static 128])
{
        unsigned i = pick->random ? (unsigned) g_random_int_range(0, NODES * NODE_RECORDS) : pick->next;

        pick->next++;
        return fixture_update(i / NODE_RECORDS, i % NODE_RECORDS, NODES, pick->turn, key);
}

static void fill_message(sd_bus_message *message, Pick *from, unsigned n)
{
        TRY(sd_bus_message_open_container(message, 'a', "(ssstttba{sv})"));
        for (unsigned i = 0; i < n; i++) {
                char key[128];
                AldUpdate update = pick(from, key);

                append_update(message, &update);
                ald_record_unref(update.record);
        }
        TRY(sd_bus_message_close_container(message));
}

static double time_call(sd_bus *bus, sd_bus_message *message)
{
        sd_bus_error error = SD_BUS_ERROR_NULL;
        double start = now_usec(), end;
        int r = sd_bus_call(bus, message, 0, &error, NULL);

        end = now_usec();
        if (r < 0) {
                fprintf(stderr, "bench-bus: %s: %s\n", sd_bus_message_get_member(message), error.message);
                exit(EXIT_FAILURE);
        }
        return end - start;
}

static double put(sd_bus *bus, Pick *from, unsigned n, const char *peer_method)
{
        g_autoptr(AldMessage) message = NULL;

        if (peer_method)
                TRY(sd_bus_message_new_method_call(bus, &message, PEER, peer_method));
        else
                TRY(sd_bus_message_new_method_call(bus, &message, STATE, "org.alidade.State1", "PutRecords"));
        fill_message(message, from, n);
        return time_call(bus, message);
}

static void fill_state(sd_bus *bus)
{
        Pick all = { 0 };

        while (all.next < NODES * NODE_RECORDS)
                put(bus, &all, MIN(PER_MESSAGE, NODES * NODE_RECORDS - all.next), NULL);
}

static double per_second(double *usec, unsigned n)
{
        return PER_MESSAGE * 1e6 / quantile(usec, n, 0.5);
}

static void bench_put(sd_bus *bus, unsigned rounds)
{
        double ours[PUT_ROUNDS_MAX], bus_only[PUT_ROUNDS_MAX], read_only[PUT_ROUNDS_MAX];
        Pick random = { .random = true, .turn = 1 };

        for (unsigned i = 0; i < rounds; i++) {
                ours[i] = put(bus, &random, PER_MESSAGE, NULL);
                read_only[i] = put(bus, &random, PER_MESSAGE, "Read");
                random.turn++;
        }
        /* Not in turn with them: called twice as often, the peer would find its memory in a cache. */
        for (unsigned i = 0; i < rounds; i++)
                bus_only[i] = put(bus, &random, PER_MESSAGE, "Put");
        printf("\"put_records_per_s\": %.0f, \"bus_only_records_per_s\": %.0f, ", per_second(ours, rounds),
                per_second(bus_only, rounds));
        printf("\"read_only_records_per_s\": %.0f", per_second(read_only, rounds));
}

/* Snapshots */

/* How long the client waits, and the processor time that the service and the bus took of that. */
typedef struct Snapshots {
        double wall[SNAPSHOTS_MAX], service[SNAPSHOTS_MAX], daemon[SNAPSHOTS_MAX];
} Snapshots;

static void take_snapshot(sd_bus *bus, sd_bus_message *call, pid_t service, Snapshots *to, unsigned i)
{
        pid_t daemon = pid_of(bus, "org.freedesktop.DBus");

        to->service[i] = -cpu_usec(service);
        to->daemon[i] = -cpu_usec(daemon);
        to->wall[i] = time_call(bus, call);
        to->service[i] += cpu_usec(service);
        to->daemon[i] += cpu_usec(daemon);
}

static double median_ms(double *usec, unsigned n)
{
        return quantile(usec, n, 0.5) / 1e3;
}

static void bench_snapshot(sd_bus *bus, unsigned n)
{
        pid_t state = pid_of(bus, "org.alidade.State1"), peer = pid_of(bus, "org.alidade.Bench1");
        Snapshots ours, plain;

        for (unsigned i = 0; i < n; i++) {
                g_autoptr(AldMessage) get_ours = NULL, get_plain = NULL;

                TRY(sd_bus_message_new_method_call(
                        bus, &get_ours, STATE, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"));
                take_snapshot(bus, get_ours, state, &ours, i);
                TRY(sd_bus_message_new_method_call(bus, &get_plain, PEER, "Get"));
                take_snapshot(bus, get_plain, peer, &plain, i);
        }
        printf("\"snapshot_1000_nodes_ms\": %.1f, \"snapshot_service_cpu_ms\": %.1f, "
               "\"snapshot_bus_cpu_ms\": %.1f, ",
                median_ms(ours.wall, n), median_ms(ours.service, n), median_ms(ours.daemon, n));
        printf("\"plain_map_ms\": %.1f, \"plain_map_service_cpu_ms\": %.1f, \"plain_map_bus_cpu_ms\": %.1f, ",
                median_ms(plain.wall, n), median_ms(plain.service, n), median_ms(plain.daemon, n));
}

/* From a source to a client: the bench plays the telemetry service, the state service is the real one. */

typedef struct Latency {
        double sent;
        double heard; /* when the last signal came */
        double *figures;
        unsigned n;
} Latency;

static int on_changed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        Latency *latency = userdata;

        if (sd_bus_message_is_signal(message, NULL, NULL) <= 0)
                return 0;
        latency->heard = now_usec();
        if (latency->sent != 0)
                latency->figures[latency->n++] = latency->heard - latency->sent;
        latency->sent = 0;
        return 0;
}

typedef struct Played {
        uint64_t total, available, revision, updated;
} Played;

static const sd_bus_vtable played_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY(
                "TotalBytes", "t", NULL, offsetof(Played, total), SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("AvailableBytes", "t", NULL, offsetof(Played, available),
                SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY(
                "Revision", "t", NULL, offsetof(Played, revision), SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY(
                "UpdatedUSec", "t", NULL, offsetof(Played, updated), SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_VTABLE_END,
};

/* Two connections of this program: what the source sends reaches the client by way of a service. */
typedef struct Way {
        sd_bus *source, *client;
        const char *path; /* of the object of the source */
        Played played;
        Latency latency;
} Way;

static void send_change(Way *way)
{
        way->played.available += 4096;
        way->played.revision++;
        way->played.updated++;
        TRY(sd_bus_emit_properties_changed(
                way->source, way->path, MEMORY_INTERFACE, "AvailableBytes", "Revision", "UpdatedUSec", NULL));
        TRY(sd_bus_flush(way->source));
}

/* Takes what came on both connections until the time is over, or a change has arrived. */
static void turn(Way *way, double until, bool stop_early)
{
        while (now_usec() < until && (!stop_early || way->latency.sent != 0)) {
                struct pollfd fds[] = {
                        { .fd = sd_bus_get_fd(way->source), .events = POLLIN },
                        { .fd = sd_bus_get_fd(way->client), .events = POLLIN },
                };
                int busy = sd_bus_process(way->client, NULL) + sd_bus_process(way->source, NULL);

                if (busy == 0)
                        poll(fds, G_N_ELEMENTS(fds), (int) MAX((until - now_usec()) / 1e3, 0));
        }
}

/* What the fill left to be told goes first. */
static void wait_until_quiet(Way *way)
{
        way->latency.heard = now_usec();
        while (now_usec() < way->latency.heard + QUIET_USEC)
                turn(way, now_usec() + QUIET_USEC / 10, false);
}

static uint64_t count_records(sd_bus *client)
{
        g_autoptr(AldMessage) reply = NULL;
        const char *digest;
        uint64_t count;

        TRY(sd_bus_call_method(client, STATE, "org.alidade.State1", "GetDigest", NULL, &reply, "s", ""));
        TRY(sd_bus_message_read(reply, "ts", &count, &digest));
        return count;
}

static void start_source(Way *way)
{
        way->played = (Played){ .total = UINT64_C(1) << 36, .updated = UINT64_C(1700000000000000) };
        way->source = connect_bus(NULL);
        TRY(sd_bus_add_object_vtable(
                way->source, NULL, way->path, MEMORY_INTERFACE, played_vtable, &way->played));
}

/* Before other nodes take all places of max-nodes=. */
static void start_telemetry(Way *way)
{
        start_source(way);
        TRY(sd_bus_request_name(way->source, TELEMETRY, 0));
        while (count_records(way->client) == 0)
                turn(way, now_usec() + QUIET_USEC / 10, false);
}

static void subscribe(Way *way, unsigned samples)
{
        way->latency.figures = g_new(double, samples + LATE_MAX);
        TRY(sd_bus_add_filter(way->client, NULL, on_changed, &way->latency));
}

static void send_sample(Way *way)
{
        double start = now_usec();

        way->latency.sent = start;
        send_change(way);
        turn(way, start + 1e6, true);
        turn(way, start + SAMPLE_USEC, false);
}

static void print_way(const Way *way, unsigned samples, const char *name)
{
        if (way->latency.n < samples)
                die("changes did not arrive", -ETIMEDOUT);
        printf("\"%s_p50_us\": %.0f, ", name, quantile(way->latency.figures, samples, 0.5));
        printf("\"%s_p99_us\": %.0f, ", name, quantile(way->latency.figures, samples, 0.99));
        g_free(way->latency.figures);
}

/* In turns with the bare way, so that both have the same beside them. */
static void bench_latency(Way *ours, Way *bare, unsigned samples)
{
        start_source(bare);
        bare->client = connect_bus(NULL);
        subscribe(ours, samples);
        subscribe(bare, samples);
        TRY(sd_bus_call_method(ours->client, STATE, "org.alidade.State1", "Subscribe", NULL, NULL, NULL));
        TRY(sd_bus_call_method(bare->client, "org.alidade.Bench1", "/", "org.alidade.Bench1.Relay",
                "Subscribe", NULL, NULL, NULL));
        send_change(ours);
        wait_until_quiet(ours);
        for (unsigned i = 0; MIN(ours->latency.n, bare->latency.n) < samples && i < samples + LATE_MAX; i++) {
                send_sample(ours);
                send_sample(bare);
        }
        print_way(ours, samples, "source_to_client");
        print_way(bare, samples, "bare_source_to_client");
}

static uint64_t hidden_objects(sd_bus *bus)
{
        uint64_t hidden;

        TRY(sd_bus_get_property_trivial(bus, STATE, "org.alidade.State1", "Hidden", NULL, 't', &hidden));
        return hidden;
}

int main(int argc, char *argv[])
{
        int samples = argc == 2 ? atoi(argv[1]) : 0;
        Way ours = { .path = "/org/alidade/Telemetry1" }, bare = { .path = PEER_SOURCE };
        sd_bus *cluster;
        pid_t peer;

        if (samples <= 0)
                g_error("Needs a number of changes");
        peer = fork();
        if (peer == 0)
                run_peer();
        cluster = connect_bus("org.alidade.Cluster1");
        ours.client = connect_bus(NULL);
        wait_for_name(ours.client, "org.alidade.State1");
        wait_for_name(ours.client, "org.alidade.Bench1");

        start_telemetry(&ours);
        fill_state(cluster);
        printf("{");
        bench_snapshot(ours.client, MIN((unsigned) samples, SNAPSHOTS_MAX));
        printf("\"hidden\": %" PRIu64 ", ", hidden_objects(ours.client));
        bench_latency(&ours, &bare, (unsigned) samples);
        bench_put(cluster, MIN((unsigned) samples, PUT_ROUNDS_MAX));
        printf("}\n");

        sd_bus_flush_close_unref(ours.source);
        sd_bus_flush_close_unref(ours.client);
        sd_bus_flush_close_unref(bare.source);
        sd_bus_flush_close_unref(bare.client);
        sd_bus_flush_close_unref(cluster);
        kill(peer, SIGTERM);
        waitpid(peer, NULL, 0);
        return 0;
}
