/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The connection graph: what the whole of it costs the state service on a real bus (ALIDADE_BUS_ADDRESS),
 * and, in this process, what a change of one record costs, and whether the order of changes matters.
 */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "common/bus-cleanup.h"
#include "record/update-bus.h"
#include "state/topology/graph.h"
#include "tests/bench/bus-tools.h"
#include "tests/bench/fixture.h"

#define GRAPH_NODES 1000u
#define GRAPH_PEERS 8u /* that a node measures; as many measure it */
#define GRAPH_EDGES (GRAPH_NODES * GRAPH_PEERS * 2)
#define ANSWERS 15u
#define CHANGES 4000u
#define NETWORK_CHANGES 400u
#define IDLE_USEC 10000000u /* at most */
#define PER_MESSAGE 64u
#define MAX_WAIT_USEC UINT64_C(60000000)

#define STATE "org.alidade.State1", "/org/alidade/State1", "org.alidade.State1"

static unsigned peer_of(unsigned node, unsigned i)
{
        return (node + i + 1) % GRAPH_NODES;
}

/* Record number i of all: the network of each node, then its links. */
#define NODE_UPDATES (1 + GRAPH_PEERS)
static AldUpdate make_update(unsigned i, uint64_t turn, char key[static 128])
{
        unsigned node = i / NODE_UPDATES, which = i % NODE_UPDATES;

        return which == 0 ? fixture_update(node, ALD_KIND_NETWORK, GRAPH_NODES, turn, key)
                          : fixture_link(node, peer_of(node, which - 1), turn, key);
}

/* On the bus */

static void put_presences(sd_bus *bus)
{
        g_autoptr(AldMessage) message = NULL;
        char id[ALD_ID_STRING_SIZE];

        TRY(sd_bus_message_new_method_call(bus, &message, STATE, "PutPresences"));
        TRY(sd_bus_message_open_container(message, 'a', "(sstxtt)"));
        for (unsigned node = 0; node < GRAPH_NODES; node++) {
                const AldId is = fixture_id(node);

                TRY(sd_bus_message_append(message, "(sstxtt)", ald_id_format(&is, id), "online",
                        UINT64_C(1700000000000000), ALD_ABSENT_INT64, UINT64_C(0), UINT64_C(0)));
        }
        TRY(sd_bus_message_close_container(message));
        TRY(sd_bus_call(bus, message, 0, NULL, NULL));
}

static void put_records(sd_bus *bus)
{
        for (unsigned first = 0; first < GRAPH_NODES * NODE_UPDATES; first += PER_MESSAGE) {
                g_autoptr(AldMessage) message = NULL;

                TRY(sd_bus_message_new_method_call(bus, &message, STATE, "PutRecords"));
                TRY(sd_bus_message_open_container(message, 'a', ALD_UPDATE_SIGNATURE));
                for (unsigned i = first; i < MIN(first + PER_MESSAGE, GRAPH_NODES * NODE_UPDATES); i++) {
                        char key[128];
                        AldUpdate update = make_update(i, 0, key);

                        TRY(ald_update_bus_append(message, &update));
                        ald_record_unref(update.record);
                }
                TRY(sd_bus_message_close_container(message));
                TRY(sd_bus_call(bus, message, 0, NULL, NULL));
        }
}

static unsigned count_rows(sd_bus_message *reply, const char *contents)
{
        unsigned n = 0;

        TRY(sd_bus_message_enter_container(reply, 'a', contents));
        while (sd_bus_message_at_end(reply, false) == 0) {
                TRY(sd_bus_message_skip(reply, contents));
                n++;
        }
        TRY(sd_bus_message_exit_container(reply));
        return n;
}

/* The peer: what libsystemd itself takes to write a message of which it has a copy. */
static double time_copy(sd_bus *bus, sd_bus_message *reply)
{
        g_autoptr(AldMessage) copy = NULL;
        const double before = cpu_usec(getpid());

        TRY(sd_bus_message_rewind(reply, true));
        TRY(sd_bus_message_new_method_call(bus, &copy, "org.alidade.Peer", "/", "org.alidade.Peer", "Copy"));
        TRY(sd_bus_message_copy(copy, reply, true));
        TRY(sd_bus_message_seal(copy, 1, 0));
        return cpu_usec(getpid()) - before;
}

/* All of it is one page. Returns the number of edges. */
static unsigned take_answer(sd_bus *bus, double *ret_copy)
{
        g_autoptr(AldMessage) reply = NULL;
        uint64_t revision, next;
        unsigned n;
        int whole;

        TRY(sd_bus_call_method(bus, STATE, "GetTopology", NULL, &reply, "tt", UINT64_C(0), UINT64_C(0)));
        TRY(sd_bus_message_read(reply, "ttb", &revision, &next, &whole));
        g_assert(next == 0 && whole);
        (void) count_rows(reply, "(ssa{sv})");
        n = count_rows(reply, "(tssssssssa{sv})");
        *ret_copy = time_copy(bus, reply);
        return n;
}

static int on_topology_changed(sd_bus_message *message, void *userdata, sd_bus_error *error)
{
        *(bool *) userdata = true;
        return 0;
}

/* The graph has a share of the service's time: not all of the records are in its first answers. */
static void wait_for_edges(sd_bus *bus)
{
        sd_bus_slot *slot = NULL;
        bool has_changed = false;
        double copy;

        TRY(sd_bus_match_signal(bus, &slot, STATE, "TopologyChanged", on_topology_changed, &has_changed));
        while (take_answer(bus, &copy) != GRAPH_EDGES) {
                has_changed = false;
                while (!has_changed) {
                        int r = sd_bus_process(bus, NULL);

                        TRY(r);
                        if (r == 0 && sd_bus_wait(bus, MAX_WAIT_USEC) <= 0)
                                g_error("The graph does not come to have %u edges", GRAPH_EDGES);
                }
        }
        sd_bus_slot_unref(slot);
}

static void bench_answer(sd_bus *bus, pid_t service)
{
        double cpu[ANSWERS], copy[ANSWERS], before, median;

        for (unsigned i = 0; i < ANSWERS; i++) {
                before = cpu_usec(service);
                g_assert_cmpuint(take_answer(bus, &copy[i]), ==, GRAPH_EDGES);
                cpu[i] = cpu_usec(service) - before;
        }
        median = quantile(cpu, ANSWERS, 0.5);
        printf("\"full_16000_edges_cpu_ms\": %.1f, \"full_to_copy_percent\": %.0f, ", median / 1e3,
                median * 100 / quantile(copy, ANSWERS, 0.5));
}

/* After some seconds, since signals of all objects go out at 200 a second. */
static void bench_idle(pid_t service, unsigned settle_seconds)
{
        unsigned idle_usec = MIN(settle_seconds * (unsigned) G_USEC_PER_SEC, IDLE_USEC);
        double before;

        g_usleep(settle_seconds * G_USEC_PER_SEC);
        before = cpu_usec(service);
        g_usleep(idle_usec);
        printf("\"idle_cpu_percent\": %.1f, ", (cpu_usec(service) - before) * 100 / idle_usec);
}

/* In this process */

typedef struct Local {
        AldStore *store;
        AldGraph *graph;
} Local;

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        Local *local = userdata;

        ald_graph_note_change(local->graph, entry);
}

static void on_removing(AldEntry *entry, void *userdata)
{
        Local *local = userdata;

        ald_graph_note_removal(local->graph, entry);
}

static void local_init(Local *local)
{
        const AldStoreLimits limits = { 2000, 64u << 20, 20000, 4096, (size_t) 1 << 30 };
        const AldId own = fixture_id(UINT32_MAX - 1);

        local->store = ald_store_new(&own, 1, &limits);
        local->graph = ald_graph_new(local->store, 1);
        ald_store_watch(local->store, on_changed, on_removing, local);
}

static void put_local(Local *local, unsigned i, uint64_t turn)
{
        char key[128];
        AldUpdate update = make_update(i, turn, key);

        g_assert(ald_store_put(local->store, &update, 1) == ALD_PUT_TAKEN);
        ald_record_unref(update.record);
}

/* Of a negotiated speed: what is reached by which address stays. */
static void put_speed(Local *local, unsigned node, uint64_t turn)
{
        AldUpdate update = fixture_speed(node, turn);

        g_assert(ald_store_put(local->store, &update, 1) == ALD_PUT_TAKEN);
        ald_record_unref(update.record);
}

/* The update of the graph, with what noting the change cost, but not the merge. */
static double time_update(Local *local)
{
        double start = now_usec();

        (void) ald_graph_update(local->graph);
        return now_usec() - start;
}

static void bench_changes(void)
{
        static double link[CHANGES], network[NETWORK_CHANGES];
        Local local;

        local_init(&local);
        for (unsigned i = 0; i < GRAPH_NODES * NODE_UPDATES; i++)
                put_local(&local, i, 0);
        (void) ald_graph_update(local.graph);
        for (unsigned i = 0; i < CHANGES; i++) {
                unsigned node = (unsigned) g_random_int_range(0, GRAPH_NODES);

                put_local(&local, node * NODE_UPDATES + 1 + i % GRAPH_PEERS, i + 1);
                link[i] = time_update(&local);
        }
        for (unsigned i = 0; i < NETWORK_CHANGES; i++) {
                put_speed(&local, (unsigned) g_random_int_range(0, GRAPH_NODES), i + 1);
                network[i] = time_update(&local) / (4 * GRAPH_PEERS);
        }
        printf("\"link_change_us\": %.2f, \"network_change_us_per_edge\": %.2f", quantile(link, CHANGES, 0.5),
                quantile(network, NETWORK_CHANGES, 0.5));
        ald_graph_free(local.graph);
        local.graph = NULL;
}

int main(int argc, char *argv[])
{
        sd_bus *cluster = connect_bus("org.alidade.Cluster1"), *client = connect_bus(NULL);
        pid_t service;

        if (argc != 2 || atoi(argv[1]) <= 0)
                g_error("Needs a number of seconds");
        wait_for_name(client, "org.alidade.State1");
        service = pid_of(client, "org.alidade.State1");
        put_presences(cluster);
        put_records(cluster);
        wait_for_edges(client);
        printf("{");
        bench_answer(client, service);
        bench_idle(service, (unsigned) atoi(argv[1]));
        bench_changes();
        printf("}\n");
        fflush(stdout);
        /* The state stays as it is until the caller has seen enough. */
        while (getchar() != EOF)
                ;
        sd_bus_flush_close_unref(client);
        sd_bus_flush_close_unref(cluster);
        return 0;
}
