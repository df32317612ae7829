/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "state/planner/planner.h"
#include "state/results/link-result.h"
#include "state/store/saved.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

/* Days of a whole cluster, each node with a state and a planner of its own, asked every 15 s. */

#define SECOND UINT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define TICK (15 * SECOND)
#define TTL (5 * MINUTE)
#define TTL_MOST (6 * HOUR)
#define START (UINT64_C(1700000000) * SECOND)
#define RATE UINT64_C(1000000000)
/* 1.5 s and 12 ms each way. */
#define PROBE_BYTES(rate) ((rate) / 8 * 3)
#define SPOT_BYTES(rate) ((rate) / 1000 * 3)

/* Hours of the longest runs. */
#define QUIET_HOURS 22
#define FULL_HOURS 11
#define FEW_BYTES_HOURS 36

#define NODES_MAX 20u
#define NETS 2u

/* A path from one node to an address of another. */
typedef struct Path {
        uint64_t tried;    /* CLOCK_MONOTONIC of all, which never jumps; 0: never */
        uint64_t checked;  /* the same, of a success */
        uint64_t measured; /* the same, of a whole measurement */
        uint64_t late;     /* at the most, in percent of the time to live that was shown */
        unsigned failures;
        bool broken;
} Path;

typedef struct SimNode {
        AldStore *store;
        int64_t clock_offset;
        uint64_t epoch, started, jumped, back;
        bool online;
        bool in_use[NETS];      /* in this tick */
        AldId avoid[NODES_MAX]; /* said that they are busy, in the tick before */
        size_t n_avoid;
        uint64_t bytes[NETS];            /* in this hour */
        Path paths[NODES_MAX + 1][NETS]; /* to the others */
} SimNode;

typedef struct World {
        SimNode nodes[NODES_MAX + 1]; /* from 1 on */
        unsigned n;
        uint64_t now;
        uint64_t bytes_per_hour; /* 0: as the planner has it */
        uint64_t rate;
        unsigned nets;
        bool busy; /* one burst of three has no rate */
} World;

static uint64_t realtime(const World *world, unsigned node)
{
        return (uint64_t) ((int64_t) (START + world->now) + world->nodes[node].clock_offset);
}

static void see(World *world, unsigned who, unsigned whom)
{
        AldStore *store = world->nodes[who].store;
        g_autofree char *second = g_strdup_printf(
                ", {'Id': 'net1', 'Type': 'ethernet', 'Addresses': ['10.0.1.%u/24']}", whom);
        g_autofree char *text = g_strdup_printf("{'Interfaces': ["
                                                "{'Id': 'net0', 'Type': 'ethernet', 'Addresses': "
                                                "['10.0.0.%u/24']}%s]}",
                whom, world->nets > 1 ? second : "");

        state_put(store, whom, ALD_KIND_NETWORK, text);
        state_put(store, whom, ALD_KIND_PRESENCE,
                world->nodes[whom].online ? "{'State': 'online'}" : "{'State': 'offline'}");
}

static void see_all(World *world, unsigned who)
{
        for (unsigned whom = 1; whom <= world->n; whom++)
                see(world, who, whom);
}

static void set_online(World *world, unsigned node, bool online)
{
        world->nodes[node].online = online;
        world->nodes[node].back = world->now;
        for (unsigned who = 1; who <= world->n; who++)
                see(world, who, node);
}

/* The state service of a node starts anew from what it kept. */
static void restart(World *world, unsigned node)
{
        SimNode *sim = &world->nodes[node];
        g_autofree char *text = ald_saved_format(sim->store), *error = NULL;
        g_autoptr(AldSaved) saved = NULL;
        AldId id = id_make(node);

        g_assert_cmpint(ald_saved_parse(text, strlen(text), &id, &saved, &error), ==, 0);
        ald_store_free(sim->store);
        sim->store = state_make_of(node, ++sim->epoch);
        ald_saved_restore(saved, sim->store, world->now);
        sim->started = world->now;
        see_all(world, node);
        /* What the others have measured comes by the cluster again. */
        for (unsigned other = 1; other <= world->n; other++) {
                AldNode *theirs = ald_store_local_node(world->nodes[other].store);

                for (AldEntry *entry = ald_node_after(theirs, NULL); other != node && entry;
                        entry = ald_node_after(theirs, entry))
                        if (entry->kind == ALD_KIND_LINK_SOCKET)
                                ald_store_put(sim->store,
                                        &(AldUpdate){ .node = theirs->id,
                                                .kind = entry->kind,
                                                .key = entry->key,
                                                .stamp = entry->stamp,
                                                .updated_usec = entry->updated_usec,
                                                .record = entry->record },
                                        world->now);
        }
}

static World *world_new_of(unsigned n, unsigned nets, uint64_t rate)
{
        World *world = g_new0(World, 1);

        world->n = n;
        world->now = HOUR;
        world->rate = rate;
        world->nets = nets;
        for (unsigned node = 1; node <= n; node++) {
                world->nodes[node].epoch = 1;
                world->nodes[node].online = true;
                world->nodes[node].store = state_make_of(node, 1);
                world->nodes[node].started = world->now;
        }
        for (unsigned node = 1; node <= n; node++)
                see_all(world, node);
        return world;
}

static World *world_new(unsigned n)
{
        return world_new_of(n, NETS, RATE);
}

static void world_free(World *world)
{
        for (unsigned node = 1; node <= world->n; node++)
                ald_store_free(world->nodes[node].store);
        g_free(world);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(World, world_free)

/* The row of the last attempt, to all; then some of it again, as replays do. */
static void spread(World *world, unsigned source, const AldEntry *entry)
{
        const AldUpdate update = { .node = id_make(source),
                .kind = entry->kind,
                .key = entry->key,
                .stamp = entry->stamp,
                .updated_usec = entry->updated_usec,
                .record = entry->record };

        for (unsigned node = 1; node <= world->n; node++)
                for (unsigned again = 0; node != source && again < 2; again++)
                        ald_store_put(world->nodes[node].store, &update, world->now);
}

static AldPlannerInput input_of(const World *world, unsigned node)
{
        const SimNode *sim = &world->nodes[node];

        return (AldPlannerInput){
                .now_realtime = realtime(world, node),
                .now = world->now,
                .started = sim->started,
                .bytes_per_hour = world->bytes_per_hour,
                .max = 16,
                .avoid = sim->avoid,
                .n_avoid = sim->n_avoid,
        };
}

static const AldLinkSocket *row_of(const World *world, unsigned source, const char *key)
{
        AldId id = id_make(source);
        const AldEntry *entry = ald_store_find(world->nodes[source].store, &id, ALD_KIND_LINK_SOCKET, key);

        return entry ? ald_record_as(entry->record, LINK_SOCKET, AldLinkSocket) : NULL;
}

static uint64_t spot_of(const World *world)
{
        return world->busy && g_test_rand_int_range(0, 3) == 0 ? ALD_ABSENT_UINT64 : world->rate;
}

static void fill(
        const World *world, unsigned source, const AldDueProbe *probe, bool success, AldLinkSocket *row)
{
        if (!success) {
                row->failed_usec = realtime(world, source);
                row->failure = "timeout";
                return;
        }
        row->rtt_measured_usec = realtime(world, source);
        row->rtt_p50_nsec = 100000;
        if (probe->scope <= ALD_LINK_SCOPE_CHECK) {
                row->upload.spot_bits_per_second = spot_of(world);
                row->download.spot_bits_per_second = spot_of(world);
        }
        if (probe->scope == ALD_LINK_SCOPE_FULL) {
                row->measured_usec = row->rtt_measured_usec;
                row->upload.bits_per_second = row->download.bits_per_second = world->rate;
        }
}

static void record(World *world, unsigned source, const AldDueProbe *probe, bool success)
{
        AldStore *store = world->nodes[source].store;
        unsigned sink = probe->peer.bytes[3];
        const AldPlannerInput input = input_of(world, source);
        g_autofree char *from = state_id(source), *to = state_id(sink), *key = NULL;
        g_autoptr(AldRecord) told = NULL, merged = NULL;
        AldLinkSocket row = ALD_LINK_SOCKET_INIT;
        AldId id = id_make(source);
        const AldEntry *entry;
        AldTtlBounds bounds;

        row.source = from;
        row.sink = to;
        row.sink_address = probe->address;
        row.source_interface = probe->interface;
        fill(world, source, probe, success, &row);
        told = record_make(ALD_KIND_LINK_SOCKET, &row);
        key = ald_link_result_key(told);
        entry = ald_store_find(store, &id, ALD_KIND_LINK_SOCKET, key);
        bounds = ald_planner_bounds(store, &input, told);
        merged = ald_link_result_merge(entry ? entry->record : NULL, told, &bounds);
        g_assert_cmpint(ald_store_put_local(store, ALD_KIND_LINK_SOCKET, key, merged, 0, world->now), ==,
                ALD_PUT_TAKEN);
        spread(world, source, ald_store_find(store, &id, ALD_KIND_LINK_SOCKET, key));
}

static bool settled(const World *world, unsigned node, uint64_t since)
{
        const SimNode *sim = &world->nodes[node];

        return sim->online && world->now - sim->back > since && world->now - sim->jumped > since;
}

static const AldLinkSocket *row_of_probe(const World *world, unsigned node, const AldDueProbe *probe)
{
        char id[ALD_ID_STRING_SIZE];
        g_autofree char *key = g_strdup_printf("%s,%s", ald_id_format(&probe->peer, id), probe->address);

        return row_of(world, node, key);
}

/* No path is tried more often than it is due, whatever restarts and replays there were. */
static void check_try(World *world, unsigned node, const Path *path, const AldDueProbe *probe)
{
        const AldLinkSocket *row = row_of_probe(world, node, probe);
        AldLinkScope scope = probe->scope;
        uint64_t since = world->now - path->tried;
        uint64_t back_off = MIN(MINUTE << MIN(path->failures, 7) >> 1, HOUR);

        if (path->tried == 0 || world->nodes[node].jumped >= path->tried)
                return;
        /* A check that contradicts the row is repeated at once, and so is a measurement after a change. */
        if (row && probe->reason == ALD_DUE_CHANGED &&
                (row->contradicted_usec != ALD_ABSENT_UINT64 || row->changed))
                return;
        if (path->failures > 0)
                g_assert_cmpuint(since, >=, back_off - back_off / 4);
        else if (scope != ALD_LINK_SCOPE_FULL)
                g_assert_cmpuint(since, >=, world->busy ? ALD_LINK_SPOT_RETRY_USEC : TTL - TTL / 5);
        else if (path->measured > 0)
                g_assert_cmpuint(world->now - path->measured, >=, TTL - TTL / 5);
}

/* Beyond what its row shows. */
static void note_late(World *world, unsigned node, const AldDueProbe *probe, Path *path)
{
        const AldLinkSocket *row = row_of_probe(world, node, probe);
        uint64_t ttl = row ? row->time_to_live_usec : ALD_ABSENT_UINT64;

        if (ttl != ALD_ABSENT_UINT64 && path->measured > 0 && world->now - path->measured > ttl)
                path->late = MAX(path->late, 100 * (world->now - path->measured - ttl) / ttl);
}

static void count_bytes(World *world, unsigned a, unsigned b, unsigned net, AldLinkScope scope)
{
        uint64_t bytes = scope == ALD_LINK_SCOPE_FULL    ? PROBE_BYTES(world->rate)
                         : scope == ALD_LINK_SCOPE_CHECK ? SPOT_BYTES(world->rate)
                                                         : 0;

        world->nodes[a].bytes[net] += bytes;
        world->nodes[b].bytes[net] += bytes;
}

/* A probe that the plan asks for, at once done. False where the other end is busy. */
static bool run_probe(World *world, unsigned node, const AldDueProbe *probe)
{
        unsigned peer = probe->peer.bytes[3], net = (unsigned) (probe->interface[3] - '0');
        SimNode *own = &world->nodes[node], *other = &world->nodes[peer];
        Path *path = &own->paths[peer][net];

        g_assert_true(other->online);
        if (other->in_use[net] || own->in_use[net])
                return false;
        own->in_use[net] = other->in_use[net] = true;
        g_assert_cmpint(probe->address[5], ==, '0' + (int) net);
        check_try(world, node, path, probe);
        count_bytes(world, node, peer, net, probe->scope);
        path->tried = world->now;
        path->failures = path->broken ? path->failures + 1 : 0;
        if (!path->broken)
                path->checked = world->now;
        if (!path->broken && probe->scope == ALD_LINK_SCOPE_FULL) {
                note_late(world, node, probe, path);
                path->measured = world->now;
        }
        record(world, node, probe, !path->broken);
        return true;
}

static void ask(World *world, unsigned node)
{
        SimNode *sim = &world->nodes[node];
        const AldPlannerInput input = input_of(world, node);
        g_autoptr(GArray) probes = ald_planner_compute(sim->store, &input);

        sim->n_avoid = 0;
        g_assert_cmpuint(probes->len, <=, NETS);
        for (guint i = 0; i < probes->len; i++) {
                const AldDueProbe *probe = &g_array_index(probes, AldDueProbe, i);

                for (guint k = 0; k < i; k++) {
                        const AldDueProbe *before = &g_array_index(probes, AldDueProbe, k);

                        g_assert_cmpstr(before->interface, !=, probe->interface);
                        g_assert_false(ald_id_equal(&before->peer, &probe->peer));
                }
                if (!run_probe(world, node, probe) && g_test_rand_bit())
                        sim->avoid[sim->n_avoid++] = probe->peer;
        }
}

/* Of each pair and net that works in some direction somebody has measured lately. */
static void check_fresh(const World *world, uint64_t most)
{
        for (unsigned a = 1; a <= world->n; a++)
                for (unsigned b = a + 1; b <= world->n; b++)
                        for (unsigned net = 0; net < world->nets; net++) {
                                const Path *there = &world->nodes[a].paths[b][net];
                                const Path *back = &world->nodes[b].paths[a][net];

                                if (!settled(world, a, most) || !settled(world, b, most))
                                        continue;
                                if (!there->broken)
                                        g_assert_cmpuint(world->now - there->checked, <=, most);
                                else if (!back->broken && there->failures >= ALD_FAILURES_GIVE_UP)
                                        g_assert_cmpuint(world->now - there->tried, <=, HOUR + most);
                        }
}

static void tick(World *world)
{
        unsigned first = (unsigned) g_test_rand_int_range(0, (gint32) world->n);

        world->now += TICK;
        for (unsigned node = 1; node <= world->n; node++)
                memset(world->nodes[node].in_use, 0, sizeof world->nodes[node].in_use);
        for (unsigned i = 0; i < world->n; i++) {
                unsigned node = (first + i) % world->n + 1;

                if (world->nodes[node].online)
                        ask(world, node);
        }
}

static void forget_bytes(World *world)
{
        for (unsigned node = 1; node <= world->n; node++)
                memset(world->nodes[node].bytes, 0, sizeof world->nodes[node].bytes);
}

/* In the last hour, at each interface. */
static void check_bytes(World *world, uint64_t most)
{
        for (unsigned node = 1; node <= world->n; node++)
                for (unsigned net = 0; net < world->nets; net++)
                        g_assert_cmpuint(world->nodes[node].bytes[net], <=, most);
        forget_bytes(world);
}

/* Every path is measured at full rate in the end, and little later than its row says: by 14 % at the most in
 * a typical run of a full plan, by 22 % in one run of twenty. */
static void check_kept(const World *world)
{
        for (unsigned a = 1; a <= world->n; a++)
                for (unsigned b = a + 1; b <= world->n; b++)
                        for (unsigned net = 0; net < world->nets; net++) {
                                g_assert_cmpuint(world->nodes[a].paths[b][net].measured, >, 0);
                                g_assert_cmpuint(world->nodes[a].paths[b][net].late, <=, 35);
                        }
}

static void check_days(World *world, unsigned hours, uint64_t most_bytes, uint64_t most_old)
{
        for (unsigned i = 0; i < hours * 240; i++) {
                tick(world);
                if (i > 120)
                        check_fresh(world, most_old);
                if (i < 240)
                        forget_bytes(world);
                else if (i % 240 == 239)
                        check_bytes(world, most_bytes);
        }
        check_kept(world);
        /* Only the lower one of each pair measured. */
        for (unsigned a = 1; a <= world->n; a++)
                for (unsigned b = 1; b < a; b++)
                        g_assert_cmpuint(world->nodes[a].paths[b][0].tried, ==, 0);
}

/* The first hour has the first round. Then no hour has more than a gigabyte at a node of 1 Gb/s. */
static void test_quiet_days(void)
{
        for (unsigned n = 2; n <= 12; n += 5) {
                g_autoptr(World) world = world_new_of(n, n < 12 ? NETS : 1, RATE);

                /* Some wait for a free interface for a few ticks. */
                check_days(world, QUIET_HOURS, UINT64_C(1000000000), 2 * TTL + MINUTE);
        }
}

/* A plan that is full keeps what it shows, however slow the line. In each tick an interface has one probe
 * here, so that few are left of the ticks that all checks need. */
static void test_many_on_a_slow_line(void)
{
        g_autoptr(World) world = world_new_of(20, 1, UINT64_C(20000000));

        world->bytes_per_hour = UINT64_C(108000000);
        check_days(world, FULL_HOURS, UINT64_C(120000000), 5 * TTL);
}

/* All rows of the paths that are measured. */
static bool all_rows(const World *world, bool (*has)(const World *world, const AldLinkSocket *row))
{
        for (unsigned a = 1; a <= world->n; a++)
                for (unsigned b = a + 1; b <= world->n; b++)
                        for (unsigned net = 0; net < world->nets; net++) {
                                g_autofree char *id = state_id(b);
                                g_autofree char *key = g_strdup_printf("%s,10.0.%u.%u", id, net, b);
                                const AldLinkSocket *row = row_of(world, a, key);

                                if (!row || !has(world, row))
                                        return false;
                        }
        return true;
}

static bool has_figure(const World *world, const AldLinkSocket *row)
{
        return row->upload.bits_per_second == world->rate && !row->changed;
}

/* Either is a notice to people. */
static bool has_change_or_figure(const World *world, const AldLinkSocket *row)
{
        return row->changed || has_figure(world, row);
}

static uint64_t time_until(World *world, bool (*has)(const World *world, const AldLinkSocket *row))
{
        uint64_t begun = world->now;

        while (!all_rows(world, has)) {
                tick(world);
                g_assert_cmpuint(world->now - begun, <, HOUR);
        }
        return world->now - begun;
}

/* What the first measurements after changes of a short time may take, at an interface of RATE. */
#define CHANGE_BYTES (ALD_PLANNER_CHANGED_SHARES * (2 * RATE / 8 * 3600 / ALD_PLANNER_SHARE))

/* A drop of 40 % is known within 6 min, and a figure within 8, and so is the way back: also of links that are
 * all shaped at once. The planner promises it while there is room for such measurements, so no world has more
 * changes than that. In each tick an interface has one probe here, so a path waits for those of both its
 * ends: each of them may have a check, its repetition and a measurement first.
 */
static void test_a_drop_is_seen_soon(void)
{
        static const unsigned nodes[] = { 2, 3, 3 };

        for (size_t k = 0; k < G_N_ELEMENTS(nodes); k++) {
                unsigned n = nodes[k];
                g_autoptr(World) world = world_new_of(n, 1, RATE);
                const uint64_t changes = CHANGE_BYTES / (PROBE_BYTES(RATE) * (n - 1));
                const uint64_t wait = UINT64_C(3) * 2 * (n - 2) * TICK;

                for (unsigned i = 0; i < 240; i++)
                        tick(world);
                for (unsigned change = 0; change < changes; change++) {
                        uint64_t known;

                        for (gint32 i = g_test_rand_int_range(10, 100); i > 0; i--)
                                tick(world);
                        world->rate = change % 2 ? RATE : RATE / 5 * 3;
                        known = time_until(world, has_change_or_figure);
                        g_assert_cmpuint(known, <=, 6 * MINUTE + wait);
                        g_assert_cmpuint(known + time_until(world, has_figure), <=, 8 * MINUTE);
                }
        }
}

/* The same on machines that are so busy that bursts have no rate now and then, also the first one of the
 * figures: it takes some checks more. */
static void test_a_change_is_seen_on_busy_machines(void)
{
        g_autoptr(World) world = world_new_of(2, 1, RATE);

        world->busy = true;
        for (unsigned i = 0; i < 240; i++)
                tick(world);
        for (unsigned change = 0; change < 60; change++) {
                for (gint32 i = g_test_rand_int_range(10, 100); i > 0; i--)
                        tick(world);
                world->rate = change % 2 ? RATE : RATE / 5 * 3;
                g_assert_cmpuint(time_until(world, has_figure), <=, 8 * MINUTE);
        }
}

/* Links that change again and again use no more than a hundredth of what they carry, with all that is
 * measured besides. */
static void test_flapping_links(void)
{
        static const unsigned minutes[] = { 2, 6, 11 };

        for (size_t i = 0; i < G_N_ELEMENTS(minutes); i++) {
                g_autoptr(World) world = world_new_of(8, 1, RATE);

                for (unsigned k = 0; k < 4 * 240; k++) {
                        if (k >= 240 && k % (4 * minutes[i]) == 0)
                                world->rate = world->rate == RATE ? RATE / 5 * 3 : RATE;
                        tick(world);
                        if (k < 240)
                                forget_bytes(world);
                        else if (k % 240 == 239)
                                check_bytes(world, 2 * RATE / 8 * 3600 / 100);
                }
        }
}

static void jump(World *world, unsigned node, int64_t by)
{
        world->nodes[node].clock_offset += by;
        world->nodes[node].jumped = world->now;
}

static void mishap(World *world)
{
        unsigned node = 1 + (unsigned) g_test_rand_int_range(0, (gint32) world->n);
        unsigned peer = 1 + (unsigned) g_test_rand_int_range(0, (gint32) world->n);
        SimNode *sim = &world->nodes[node];

        switch (g_test_rand_int_range(0, 5)) {
        case 0:
                restart(world, node);
                break;
        case 1:
                set_online(world, node, !sim->online);
                break;
        case 2:
                jump(world, node, (int64_t) SECOND * g_test_rand_int_range(-100000, 100000));
                break;
        default:
                sim->paths[peer][g_test_rand_int_range(0, NETS)].broken = g_test_rand_bit();
                break;
        }
}

static void test_eventful_days(void)
{
        g_autoptr(World) world = world_new(8);

        for (unsigned i = 0; i < 24 * 240; i++) {
                tick(world);
                if (i % 40 == 39)
                        mishap(world);
        }
        /* All is well again, and so is the map, once the longest back-off is over. */
        for (unsigned node = 1; node <= world->n; node++) {
                for (unsigned peer = 1; peer <= world->n; peer++)
                        for (unsigned net = 0; net < NETS; net++)
                                world->nodes[node].paths[peer][net].broken = false;
                if (!world->nodes[node].online)
                        set_online(world, node, true);
        }
        for (unsigned i = 0; i < 300; i++)
                tick(world);
        check_fresh(world, 2 * TTL);
}

/* A path that the lower one cannot use is measured by the other, and left alone once it can. */
static void test_the_other_takes_over(void)
{
        g_autoptr(World) world = world_new(2);
        Path *there = &world->nodes[1].paths[2][0], *back = &world->nodes[2].paths[1][0];
        uint64_t last;

        there->broken = true;
        for (unsigned i = 0; i < 480; i++)
                tick(world);
        g_assert_cmpuint(there->measured, ==, 0);
        g_assert_cmpuint(there->failures, >=, ALD_FAILURES_GIVE_UP);
        g_assert_cmpuint(world->now - back->checked, <=, TTL + TICK);
        g_assert_cmpuint(world->nodes[2].paths[1][1].tried, ==, 0);

        there->broken = false;
        for (unsigned i = 0; i < 260; i++)
                tick(world);
        g_assert_cmpuint(world->now - there->checked, <=, TTL + TICK);
        last = back->tried;
        for (unsigned i = 0; i < 100; i++)
                tick(world);
        g_assert_cmpuint(back->tried, ==, last);
}

/* All clocks jump, all nodes restart: at most one probe for each interface a tick, and all within bounds. */
static void test_no_storm(void)
{
        g_autoptr(World) world = world_new(8);

        for (unsigned i = 0; i < 100; i++)
                tick(world);
        forget_bytes(world);
        for (unsigned round = 0; round < 6; round++) {
                for (unsigned node = 1; node <= world->n; node++) {
                        jump(world, node, round % 2 ? -(int64_t) (48 * HOUR) : (int64_t) (24 * HOUR));
                        if (round % 3 == 0)
                                restart(world, node);
                }
                for (unsigned i = 0; i < 40; i++)
                        tick(world);
                check_fresh(world, 3 * TTL);
        }
        /* An hour, in which each jump made one more due at each interface. */
        check_bytes(world, UINT64_C(1000000000) + 6 * PROBE_BYTES(RATE));
}

/* Where less may be sent than would keep all fresh, each gets older, and none is left out. */
static void test_few_bytes(void)
{
        g_autoptr(World) world = world_new(8);

        world->bytes_per_hour = PROBE_BYTES(RATE) / 2;
        for (unsigned i = 0; i < FEW_BYTES_HOURS * 240; i++) {
                tick(world);
                if (i == 1000)
                        restart(world, 1);
                if (i >= 1200 && i < 1220)
                        jump(world, 1, (int64_t) (24 * HOUR));
                if (i == 1220)
                        jump(world, 1, -(int64_t) (20 * 24 * HOUR));
                if (i > 240)
                        check_fresh(world, 2 * TTL);
                if (i < 2400)
                        forget_bytes(world);
                else if (i % 240 == 239)
                        check_bytes(world, PROBE_BYTES(RATE) + PROBE_BYTES(RATE) / 2);
        }
}

/* What one node of many would do, were every probe done at once. */
static void check_one_of_many(unsigned own, unsigned n, unsigned ticks, unsigned per_ttl)
{
        g_autoptr(AldStore) store = state_make_of(own, 1);
        g_autofree unsigned *probed = g_new0(unsigned, n + 1);
        AldPlannerInput input = { .now_realtime = START / TTL * TTL,
                .now = HOUR,
                .started = HOUR,
                .bytes_per_hour = UINT64_MAX,
                .max = 16 };
        unsigned in_ttl = 0;

        for (unsigned node = 1; node <= n; node++) {
                g_autofree char *text = g_strdup_printf("{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', "
                                                        "'Addresses': ['10.0.%u.%u/16']}]}",
                        node / 250, node % 250 + 1);

                state_put(store, node, ALD_KIND_NETWORK, text);
                state_put(store, node, ALD_KIND_PRESENCE, "{'State': 'online'}");
        }
        for (unsigned i = 0; i < ticks; i++, input.now += TICK, input.now_realtime += TICK) {
                g_autoptr(GArray) probes = ald_planner_compute(store, &input);
                g_autofree char *text = g_strdup_printf(
                        "{'SourceInterface': 'eth0', 'MeasuredUSec': %" G_GUINT64_FORMAT "}",
                        input.now_realtime);

                in_ttl = i % (TTL / TICK) == 0 ? probes->len : in_ttl + probes->len;
                g_assert_cmpuint(probes->len, <=, 1);
                g_assert_cmpuint(in_ttl, <=, per_ttl);
                for (guint k = 0; k < probes->len; k++) {
                        const AldDueProbe *probe = &g_array_index(probes, AldDueProbe, k);
                        unsigned peer = (unsigned) probe->peer.bytes[2] << 8 | probe->peer.bytes[3];

                        g_assert_cmpuint(peer, >, own);
                        probed[peer]++;
                        state_put_path(store, own, peer, probe->address, text);
                }
        }
        /* After whole turns each had as many as any other. */
        for (unsigned peer = own + 1; peer <= n; peer++)
                g_assert_cmpuint(probed[peer], ==, probed[n]);
}

static void test_many_nodes(void)
{
        check_one_of_many(1, 64, 2 * 4 * 20, 16);
        check_one_of_many(3, 1000, 2 * 64 * 20, 16);
        check_one_of_many(900, 1000, 64 * 20, 16);
        check_one_of_many(9990, 10000, 40, 16);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/planner-days/quiet", test_quiet_days);
        g_test_add_func("/planner-days/slow-line", test_many_on_a_slow_line);
        g_test_add_func("/planner-days/drop", test_a_drop_is_seen_soon);
        g_test_add_func("/planner-days/change-busy", test_a_change_is_seen_on_busy_machines);
        g_test_add_func("/planner-days/flapping", test_flapping_links);
        g_test_add_func("/planner-days/eventful", test_eventful_days);
        g_test_add_func("/planner-days/takes-over", test_the_other_takes_over);
        g_test_add_func("/planner-days/no-storm", test_no_storm);
        g_test_add_func("/planner-days/few-bytes", test_few_bytes);
        g_test_add_func("/planner-days/many-nodes", test_many_nodes);
        return g_test_run();
}
