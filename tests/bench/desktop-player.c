/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A state service for the benchmark of the desktop program: NODES nodes of fixture.c, of which each measures
 * its links to the next PEERS ones and has DEVICES GPUs (those of fixture.c, if this is not given), on the
 * bus ALIDADE_BUS_ADDRESS. It answers what a client asks for, and sends its changes to all subscribers, at
 * the rate that standard input sets: a line "RECORDS PAIRS" says how many memories and loads, and how many
 * rates in the graph, change per second.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/bus-cleanup.h"
#include "record/json.h"
#include "record/record-bus.h"
#include "record/update-bus.h"
#include "tests/bench/bus-tools.h"
#include "tests/bench/fixture.h"

#define STATE_PATH "/org/alidade/State1"
#define STATE_NAME "org.alidade.State1"
#define PROPERTIES "org.freedesktop.DBus.Properties"

#define TICK_USEC 10000.0 /* changes are spread over the time, as those of many nodes are */
#define TOTALS_TICKS 50u
#define PAIRS_TICKS 100u /* the real one tells of changes of the graph once a second */
#define PAGE_NODES 64u
#define TIME_TO_LIVE_USEC (UINT64_C(3600) * 1000 * 1000)
#define DEVICES_MAX 16u
#define GIGABIT UINT64_C(1000000000)

typedef struct PlayedNode {
        char id[ALD_ID_STRING_SIZE];
        char name[16];
        AldRecord *records[FIXTURE_KINDS];
        AldRecord *presence;
} PlayedNode;

/* Node a has the lower id. */
typedef struct PlayedPair {
        unsigned a, b;
        uint64_t there, back, revision;
} PlayedPair;

typedef struct Player {
        sd_bus *bus;
        char *subscriber;                     /* the last one; NULL: none */
        unsigned n_nodes, n_pairs, n_devices; /* n_devices 0: those of the fixture */
        PlayedNode *nodes;
        PlayedPair *pairs;
        char device_ids[DEVICES_MAX][16];
        uint64_t now, revision, turn;
        double records_per_second, pairs_per_second; /* to be sent */
        double records_due, pairs_due;
        unsigned ticks, pair;
} Player;

/* Data. */

static uint64_t real_usec(void)
{
        return (uint64_t) g_get_real_time();
}

static AldRecord *make(AldKind kind, const void *fields)
{
        AldRecord *record;

        TRY(ald_record_new(kind, fields, &record));
        record->revision = 1;
        record->updated_usec = real_usec();
        return record;
}

static AldRecord *fixed_record(unsigned node, AldKind kind)
{
        char key[128];
        AldUpdate update = fixture_update(node, kind, 0, 0, key);

        update.record->revision = 1;
        update.record->updated_usec = real_usec();
        return update.record;
}

/* The rows of the first GPU of the fixture, as often as the node shall have GPUs. */
static void *repeat_rows(const Player *player, const AldRows *rows, size_t size)
{
        char *all = g_malloc0_n(player->n_devices, size);

        for (unsigned i = 0; i < player->n_devices; i++) {
                memcpy(all + i * size, rows->items, size);
                /* Id is the first field of all rows. */
                *(const char **) (void *) (all + i * size) = player->device_ids[i];
        }
        return all;
}

/* Replaces a record that lists devices by one of another number of them. */
static AldRecord *other_devices(const Player *player, AldRecord *fixed, size_t rows_at, size_t size)
{
        g_autoptr(AldRecord) record = fixed;
        const AldStruct *type = ald_record_type(record);
        g_autofree void *fields = g_memdup2(ald_record_fields(record), type->size);
        AldRows *rows = (AldRows *) (void *) ((char *) fields + rows_at);
        g_autofree void *all = repeat_rows(player, rows, size);

        rows->items = all;
        rows->n = player->n_devices;
        return make(record->kind, fields);
}

static AldRecord *with_devices(const Player *player, AldRecord *fixed)
{
        if (player->n_devices == 0)
                return fixed;
        if (fixed->kind == ALD_KIND_BACKENDS)
                return other_devices(player, fixed, offsetof(AldBackends, devices), sizeof(AldBackend));
        if (fixed->kind == ALD_KIND_SYSTEM)
                return other_devices(player, fixed, offsetof(AldSystem, devices), sizeof(AldDevice));
        return fixed->kind == ALD_KIND_COMPUTE
                       ? other_devices(player, fixed, offsetof(AldCompute, devices), sizeof(AldComputeDevice))
                       : fixed;
}

/* With figures that differ each time, so that all that shows them has to be drawn again. */

static AldRecord *other_memory(unsigned node)
{
        g_autoptr(AldRecord) fixed = fixed_record(node, ALD_KIND_MEMORY);
        AldMemory fields = *ald_record_as(fixed, MEMORY, AldMemory);

        fields.available_bytes = (uint64_t) (g_random_double_range(0.1, 0.9) * (double) fields.total_bytes);
        return make(ALD_KIND_MEMORY, &fields);
}

static AldRecord *other_system(const Player *player, unsigned node)
{
        g_autoptr(AldRecord) fixed = with_devices(player, fixed_record(node, ALD_KIND_SYSTEM));
        AldSystem fields = *ald_record_as(fixed, SYSTEM, AldSystem);
        g_autofree AldDevice *devices = g_memdup2(fields.devices.items, fields.devices.n * sizeof *devices);

        fields.cpu_usage = g_random_double_range(1, 99);
        fields.temperature_milli_celsius = g_random_int_range(30000, 80000);
        for (size_t i = 0; i < fields.devices.n; i++) {
                devices[i].usage = g_random_double_range(1, 99);
                devices[i].temperature_milli_celsius = g_random_int_range(30000, 90000);
        }
        fields.devices.items = devices;
        return make(ALD_KIND_SYSTEM, &fields);
}

static void make_node(const Player *player, PlayedNode *node, unsigned number)
{
        const AldId id = fixture_id(number);

        ald_id_format(&id, node->id);
        g_snprintf(node->name, sizeof node->name, "node-%u", number);
        for (AldKind kind = 0; kind < FIXTURE_KINDS; kind++)
                node->records[kind] = kind == ALD_KIND_MEMORY ? other_memory(number)
                                      : kind == ALD_KIND_SYSTEM
                                              ? other_system(player, number)
                                              : with_devices(player, fixed_record(number, kind));
        node->presence = make(ALD_KIND_PRESENCE, &(AldPresence){ .state = "online",
                                                         .since_usec = real_usec(),
                                                         .clock_offset_usec = ALD_ABSENT_INT64 });
}

/* Most in both directions alike, as fast as some kind of network is; the verdict of a pair stays. */
static void change_rates(PlayedPair *pair, unsigned number)
{
        static const double gigabits[] = { 0.94, 2.35, 9.41, 23.5, 94 };

        pair->there = (uint64_t) (gigabits[number % G_N_ELEMENTS(gigabits)] * g_random_double_range(0.8, 1) *
                                  (double) GIGABIT);
        pair->back = number % 12 == 5 ? pair->there / 3 : pair->there;
}

static void make_pairs(Player *player, unsigned peers)
{
        player->pairs = g_new0(PlayedPair, (size_t) player->n_nodes * peers);
        for (unsigned i = 0; i < player->n_nodes; i++)
                for (unsigned k = 1; k <= peers; k++) {
                        unsigned peer = (i + k) % player->n_nodes;
                        bool lower = strcmp(player->nodes[i].id, player->nodes[peer].id) < 0;
                        PlayedPair *pair = &player->pairs[player->n_pairs];

                        /* Each two nodes once, in a cluster as small as that. */
                        if (2 * k >= player->n_nodes && (2 * k > player->n_nodes || i > peer))
                                continue;
                        *pair = (PlayedPair){ .a = lower ? i : peer, .b = lower ? peer : i, .revision = 1 };
                        change_rates(pair, player->n_pairs++);
                }
        player->revision = 1;
}

/* Answers. */

static AldRecord *link_of(const Player *player, const PlayedPair *pair, char key[static 128])
{
        AldUpdate update = fixture_link(pair->a, pair->b, 0, key);
        g_autoptr(AldRecord) fixed = update.record;
        AldLinkSocket fields = *ald_record_as(fixed, LINK_SOCKET, AldLinkSocket);

        fields.upload.bits_per_second = pair->there;
        fields.download.bits_per_second = pair->back;
        fields.measured_usec = player->now;
        fields.time_to_live_usec = TIME_TO_LIVE_USEC;
        return make(ALD_KIND_LINK_SOCKET, &fields);
}

static void append_record(GString *lines, const PlayedNode *node, AldRecord *record, const char *key)
{
        AldUpdate update = { .kind = record->kind,
                .key = key,
                .stamp = { 1, 1 },
                .updated_usec = record->updated_usec,
                .record = record };

        TRY(ald_id_parse(node->id, &update.node));
        ald_update_append_text(lines, &update, true);
        g_string_append_c(lines, '\n');
}

static void append_links(const Player *player, GString *lines, unsigned first, unsigned end)
{
        for (unsigned i = 0; i < player->n_pairs; i++) {
                char key[128];

                if (player->pairs[i].a < first || player->pairs[i].a >= end)
                        continue;
                {
                        g_autoptr(AldRecord) link = link_of(player, &player->pairs[i], key);

                        append_record(lines, &player->nodes[player->pairs[i].a], link, key);
                }
        }
}

/* The cursor is the number of the first node of the page. */
static void describe_records(Player *player, sd_bus_message *call, sd_bus_message *reply)
{
        g_autoptr(GString) lines = g_string_new(NULL);
        const char *kind, *after;
        char next[16] = "";
        unsigned first, end;

        TRY(sd_bus_message_read(call, "ss", &kind, &after));
        first = (unsigned) atoi(after);
        end = MIN(first + PAGE_NODES, player->n_nodes);
        for (unsigned i = first; i < end; i++) {
                for (AldKind k = 0; k < FIXTURE_KINDS; k++)
                        append_record(lines, &player->nodes[i], player->nodes[i].records[k], "");
                append_record(lines, &player->nodes[i], player->nodes[i].presence, "");
        }
        append_links(player, lines, first, end);
        if (end < player->n_nodes)
                g_snprintf(next, sizeof next, "%u", end);
        TRY(sd_bus_message_append(reply, "s", next));
        TRY(sd_bus_message_append_array(reply, 'y', lines->str, lines->len));
}

static void describe_totals(const Player *player, AldClusterTotals *totals)
{
        *totals = (AldClusterTotals) ALD_CLUSTER_TOTALS_INIT;
        totals->node_id = player->nodes[0].id;
        totals->nodes = player->n_nodes;
        totals->links = player->n_pairs;
        totals->tflops_fp16 = 1485.0 * player->n_nodes;
        totals->tflops_fp16_left_out = 0;
        totals->memory_bandwidth_bytes_per_second = UINT64_C(6200000000000) * player->n_nodes;
        totals->memory_bandwidth_of = "gpu";
        totals->memory_total_bytes = (UINT64_C(512) << 30) * player->n_nodes;
        totals->hidden = 0;
}

static uint64_t available_bytes(const Player *player)
{
        uint64_t sum = 0;

        for (unsigned i = 0; i < player->n_nodes; i++)
                sum += ald_record_as(player->nodes[i].records[ALD_KIND_MEMORY], MEMORY, AldMemory)
                               ->available_bytes;
        return sum;
}

static void answer_totals(const Player *player, sd_bus_message *reply)
{
        AldClusterTotals totals;

        describe_totals(player, &totals);
        totals.memory_available_bytes = available_bytes(player);
        TRY(ald_record_bus_append_struct(reply, &ald_cluster_totals_struct, &totals));
}

static void append_edge(const Player *player, sd_bus_message *reply, const PlayedPair *pair, bool back)
{
        unsigned number = (unsigned) (pair - player->pairs);
        AldEdgeRow row = ALD_EDGE_ROW_INIT;
        char address[32];

        g_snprintf(address, sizeof address, "10.2.%u.%u", pair->b / 250 % 250, pair->b % 250 + 1);
        row.id = number * UINT64_C(2) + (back ? 2 : 1);
        row.kind = "socket";
        row.source = player->nodes[back ? pair->b : pair->a].id;
        row.sink = player->nodes[back ? pair->a : pair->b].id;
        row.source_port = row.sink_port = "enp23s0f0np0";
        row.source_type = row.sink_type = "ethernet";
        row.presence = "live";
        if (back)
                row.source_address = address;
        else
                row.sink_address = address;
        row.bits_per_second = back ? pair->back : pair->there;
        row.rtt_p50_nsec = 12000;
        row.jitter_nsec = 900;
        row.measured_usec = player->now;
        row.prober = player->nodes[pair->a].id;
        row.due_reason = "expired";
        row.due_usec = player->now + TIME_TO_LIVE_USEC;
        TRY(ald_record_bus_append_row(reply, &ald_edge_row_struct, &row));
}

static void append_pair(const Player *player, sd_bus_message *reply, const PlayedPair *pair)
{
        static const char *const kinds[] = { "socket", NULL };
        AldNodePairRow row = ALD_NODE_PAIR_ROW_INIT;
        unsigned number = (unsigned) (pair - player->pairs);

        row.node = player->nodes[pair->a].id;
        row.peer = player->nodes[pair->b].id;
        row.presence = "live";
        row.kinds = kinds;
        row.type = "ethernet";
        row.to_peer_bits_per_second = pair->there;
        row.from_peer_bits_per_second = pair->back;
        row.to_peer_edge = row.rtt_edge = number * UINT64_C(2) + 1;
        row.from_peer_edge = number * UINT64_C(2) + 2;
        row.rtt_p50_nsec = 12000;
        row.to_peer_measured_usec = row.from_peer_measured_usec = row.rtt_measured_usec = player->now;
        TRY(ald_record_bus_append_row(reply, &ald_node_pair_row_struct, &row));
}

/* All of it is one page; a later call returns what has changed, pair by pair. Returns what the reader had. */
static uint64_t begin_graph(const Player *player, sd_bus_message *call, sd_bus_message *reply)
{
        uint64_t since, after;

        TRY(sd_bus_message_read(call, "tt", &since, &after));
        TRY(sd_bus_message_append(reply, "ttb", player->revision, UINT64_C(0), since == 0));
        return since;
}

static void answer_topology(const Player *player, sd_bus_message *call, sd_bus_message *reply)
{
        uint64_t since = begin_graph(player, call, reply);

        TRY(ald_record_bus_open_rows(reply, &ald_graph_node_row_struct));
        for (unsigned i = 0; since == 0 && i < player->n_nodes; i++) {
                AldGraphNodeRow row = ALD_GRAPH_NODE_ROW_INIT;

                row.node = player->nodes[i].id;
                row.presence = "online";
                row.name = player->nodes[i].name;
                TRY(ald_record_bus_append_row(reply, &ald_graph_node_row_struct, &row));
        }
        TRY(sd_bus_message_close_container(reply));
        TRY(ald_record_bus_open_rows(reply, &ald_edge_row_struct));
        for (unsigned i = 0; i < player->n_pairs * 2; i++)
                if (player->pairs[i / 2].revision > since)
                        append_edge(player, reply, &player->pairs[i / 2], i % 2 == 1);
        TRY(sd_bus_message_close_container(reply));
        TRY(sd_bus_message_append(reply, "asat", 0, 0));
}

static void answer_pairs(const Player *player, sd_bus_message *call, sd_bus_message *reply)
{
        uint64_t since = begin_graph(player, call, reply);

        TRY(ald_record_bus_open_rows(reply, &ald_node_pair_row_struct));
        for (unsigned i = 0; i < player->n_pairs; i++)
                if (player->pairs[i].revision > since)
                        append_pair(player, reply, &player->pairs[i]);
        TRY(sd_bus_message_close_container(reply));
        TRY(sd_bus_message_append(reply, "a(ss)", 0));
        if (since == 0) {
                printf("snapshot\n");
                fflush(stdout);
        }
}

static void answer(Player *player, sd_bus_message *call, sd_bus_message *reply)
{
        if (sd_bus_message_is_method_call(call, PROPERTIES, "GetAll"))
                answer_totals(player, reply);
        else if (sd_bus_message_is_method_call(call, STATE_NAME, "DescribeRecords"))
                describe_records(player, call, reply);
        else if (sd_bus_message_is_method_call(call, STATE_NAME, "GetTopology"))
                answer_topology(player, call, reply);
        else if (sd_bus_message_is_method_call(call, STATE_NAME, "GetPairs"))
                answer_pairs(player, call, reply);
        else if (sd_bus_message_is_method_call(call, STATE_NAME, "GetFindings"))
                TRY(sd_bus_message_append(reply, "aa{sv}", 0));
        else if (sd_bus_message_is_method_call(call, STATE_NAME, "Subscribe")) {
                g_free(player->subscriber);
                player->subscriber = g_strdup(sd_bus_message_get_sender(call));
        }
}

/* Before any of sd-bus's own answers. The whole map is refused, as that of 1000 nodes is too long. */
static int on_call(sd_bus_message *call, void *userdata, sd_bus_error *error)
{
        g_autoptr(AldMessage) reply = NULL;

        if (!sd_bus_message_is_method_call(call, NULL, NULL))
                return 0;
        if (sd_bus_message_is_method_call(call, NULL, "GetManagedObjects"))
                return sd_bus_reply_method_errorf(call, SD_BUS_ERROR_LIMITS_EXCEEDED, "too long");
        TRY(sd_bus_message_new_method_return(call, &reply));
        answer(userdata, call, reply);
        TRY(sd_bus_send(NULL, reply, NULL));
        return 1;
}

/* Changes. */

static void send_to_subscriber(Player *player, sd_bus_message *signal)
{
        TRY(sd_bus_message_set_destination(signal, player->subscriber));
        TRY(sd_bus_send(player->bus, signal, NULL));
}

static void change_record(Player *player)
{
        unsigned number = (unsigned) (player->turn / 2 % player->n_nodes);
        AldKind kind = player->turn++ % 2 == 0 ? ALD_KIND_MEMORY : ALD_KIND_SYSTEM;
        g_autoptr(AldMessage) signal = NULL;
        PlayedNode *node = &player->nodes[number];
        g_autoptr(AldRecord) before = node->records[kind];
        AldRecord *after = kind == ALD_KIND_MEMORY ? other_memory(number) : other_system(player, number);
        char path[128];

        after->revision = before->revision + 1;
        node->records[kind] = after;
        g_snprintf(path, sizeof path, STATE_PATH "/node/%s", node->id);
        TRY(sd_bus_message_new_signal(player->bus, &signal, path, PROPERTIES, "PropertiesChanged"));
        TRY(ald_record_bus_append_changed(signal, after, ald_record_diff(before, after)));
        send_to_subscriber(player, signal);
}

static void change_totals(Player *player)
{
        g_autoptr(AldMessage) signal = NULL;

        TRY(sd_bus_message_new_signal(player->bus, &signal, STATE_PATH, PROPERTIES, "PropertiesChanged"));
        TRY(sd_bus_message_append(
                signal, "sa{sv}as", STATE_NAME, 1, "MemoryAvailableBytes", "t", available_bytes(player), 0));
        send_to_subscriber(player, signal);
}

static void change_pairs(Player *player, unsigned n)
{
        g_autoptr(AldMessage) signal = NULL;

        player->revision++;
        for (; n > 0; n--) {
                PlayedPair *pair = &player->pairs[player->pair];

                change_rates(pair, player->pair);
                pair->revision = player->revision;
                player->pair = (player->pair + 1) % player->n_pairs;
        }
        TRY(sd_bus_message_new_signal(player->bus, &signal, STATE_PATH, STATE_NAME, "TopologyChanged"));
        TRY(sd_bus_message_append(signal, "t", player->revision));
        send_to_subscriber(player, signal);
}

static void tick(Player *player)
{
        player->ticks++;
        if (!player->subscriber)
                return;
        player->records_due += player->records_per_second * TICK_USEC / 1e6;
        for (; player->records_due >= 1; player->records_due--)
                change_record(player);
        if (player->records_per_second > 0 && player->ticks % TOTALS_TICKS == 0)
                change_totals(player);
        if (player->pairs_per_second > 0 && player->ticks % PAIRS_TICKS == 0)
                change_pairs(player, (unsigned) player->pairs_per_second);
}

static bool read_rates(Player *player)
{
        char line[64];
        ssize_t n = read(STDIN_FILENO, line, sizeof line - 1);

        if (n <= 0)
                return false;
        line[n] = '\0';
        if (sscanf(line, "%lf %lf", &player->records_per_second, &player->pairs_per_second) != 2)
                die(line, -EINVAL);
        return true;
}

static void run(Player *player)
{
        double next = now_usec() + TICK_USEC;

        for (;;) {
                struct pollfd fds[] = { { .fd = sd_bus_get_fd(player->bus), .events = POLLIN },
                        { .fd = STDIN_FILENO, .events = POLLIN } };
                int r = sd_bus_process(player->bus, NULL);

                TRY(r);
                if (now_usec() >= next) {
                        tick(player);
                        TRY(sd_bus_flush(player->bus));
                        /* What was missed while an answer was written is not made up for. */
                        next = MAX(next + TICK_USEC, now_usec());
                }
                if (r > 0)
                        continue;
                TRY(sd_bus_flush(player->bus));
                poll(fds, G_N_ELEMENTS(fds), (int) CLAMP((next - now_usec()) / 1e3 + 1, 0, 100));
                if (fds[1].revents && !read_rates(player))
                        return;
        }
}

int main(int argc, char **argv)
{
        Player player = { .now = real_usec() };

        if (argc != 3 && argc != 4)
                die("NODES PEERS [DEVICES]", -EINVAL);
        player.n_nodes = (unsigned) atoi(argv[1]);
        player.nodes = g_new0(PlayedNode, player.n_nodes);
        player.n_devices = argc > 3 ? MIN((unsigned) atoi(argv[3]), DEVICES_MAX) : 0;
        for (unsigned i = 0; i < player.n_devices; i++)
                g_snprintf(player.device_ids[i], sizeof player.device_ids[i], "0000:%02x:00.0", i + 1);
        for (unsigned i = 0; i < player.n_nodes; i++)
                make_node(&player, &player.nodes[i], i);
        make_pairs(&player, (unsigned) atoi(argv[2]));
        player.bus = connect_bus(NULL);
        TRY(sd_bus_add_object(player.bus, NULL, STATE_PATH, on_call, &player));
        TRY(sd_bus_request_name(player.bus, STATE_NAME, 0));
        printf("ready\n");
        fflush(stdout);
        run(&player);
        sd_bus_flush_close_unref(player.bus);
        return 0;
}
