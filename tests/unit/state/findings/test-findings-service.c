/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "tests/unit/findings-check.h"
#include "tests/unit/record-maker.h"
#include "tests/unit/state-maker.h"

#define SECOND UINT64_C(1000000)
#define START (1000 * SECOND) /* CLOCK_MONOTONIC, of the state service */

/* Sends a record again, `seconds` after the start. */
static void send(AldStore *store, unsigned node, AldKind kind, uint64_t seconds)
{
        const AldId id = id_make(node);
        const AldEntry *entry = ald_store_find(store, &id, kind, "");
        const AldIdentity identity = ALD_IDENTITY_INIT;
        const AldMemory memory = ALD_MEMORY_INIT;
        const AldNetwork network = ALD_NETWORK_INIT;
        const uint64_t real = FINDINGS_NOW + seconds * SECOND, now = START + seconds * SECOND;
        g_autoptr(AldRecord) record = NULL;
        const void *fields = kind == ALD_KIND_IDENTITY ? (const void *) &identity
                             : kind == ALD_KIND_MEMORY ? (const void *) &memory
                                                       : (const void *) &network;
        AldUpdate update = { .node = id,
                .kind = kind,
                .key = "",
                .stamp = { 1, entry ? entry->stamp.seq + 1 : 1 },
                .updated_usec = real };

        g_assert_cmpint(ald_record_new(kind, fields, &record), ==, 0);
        update.record = record;
        if (ald_id_equal(&id, &ald_store_local_node(store)->id))
                g_assert_cmpint(ald_store_put_local(store, kind, "", record, real, now), ==, ALD_PUT_TAKEN);
        else
                g_assert_cmpint(ald_store_put(store, &update, now), ==, ALD_PUT_TAKEN);
}

/* What is found `seconds` after the start. */
static GPtrArray *find(AldStore *store, uint64_t seconds)
{
        const AldFindingContext context = { .real = FINDINGS_NOW + seconds * SECOND,
                .clock_is_set = true,
                .now = START + seconds * SECOND,
                .started = START };

        return ald_findings_compute(store, &context);
}

static guint count(AldStore *store, uint64_t seconds)
{
        g_autoptr(GPtrArray) findings = find(store, seconds);

        return findings_count(findings, "service-silent");
}

static void check_silent(AldStore *store, uint64_t seconds, const char *text, const char *remedy)
{
        g_autoptr(GPtrArray) findings = find(store, seconds);
        const AldFindingRow *row = findings_find(findings, "service-silent", 0);

        g_assert_cmpuint(findings_count(findings, "service-silent"), ==, 1);
        g_assert_cmpstr(row->severity, ==, "warning");
        g_assert_cmpstr(row->text, ==, text);
        g_assert_cmpstr(row->remedy, ==, remedy);
        findings_check_words(findings);
}

/* Each of its records counts. */
static void test_this_node(void)
{
        g_autoptr(AldStore) store = state_make();

        send(store, 1, ALD_KIND_IDENTITY, 0);
        send(store, 1, ALD_KIND_MEMORY, 0);
        g_assert_cmpuint(count(store, 150), ==, 0);
        send(store, 1, ALD_KIND_IDENTITY, 150);
        send(store, 1, ALD_KIND_NETWORK, 20);
        g_assert_cmpuint(count(store, 170), ==, 0);
        check_silent(store, 171,
                "alidade-telemetryd on 00000001 has sent nothing since 1970-01-05 04:00:20 UTC, so what it "
                "measures there is out of date.",
                "On 00000001, see \"systemctl status alidade-telemetryd\"; if it hangs, \"systemctl restart "
                "alidade-telemetryd\" helps.");
        send(store, 1, ALD_KIND_MEMORY, 172);
        g_assert_cmpuint(count(store, 172), ==, 0);
        g_assert_cmpuint(count(store, 310), ==, 1); /* the identity */
        g_assert_cmpuint(count(store, 400), ==, 2);
}

/* A service that has hung since before the state service started. */
static void test_nothing_since_the_start(void)
{
        g_autoptr(AldStore) store = state_make();

        g_assert_cmpuint(count(store, 150), ==, 0);
        send(store, 1, ALD_KIND_IDENTITY, 150);
        check_silent(store, 151,
                "alidade-telemetryd on 00000001 sends nothing, so what it measures there is out of date or "
                "unknown.",
                "On 00000001, see \"systemctl status alidade-telemetryd\"; if it hangs, \"systemctl restart "
                "alidade-telemetryd\" helps.");
}

static void note_change(AldEntry *entry, AldRecord *before, void *userdata)
{
        *(bool *) userdata = ald_findings_change_with(entry, before);
}

/* Records that are sent again after so long that the finding may have begun end it at once. */
static void test_records_after_silence(void)
{
        static const struct {
                AldKind kind;
                uint64_t seconds;
                bool changes;
        } cases[] = {
                { ALD_KIND_IDENTITY, 0, true },
                { ALD_KIND_MEMORY, 10, true },
                { ALD_KIND_IDENTITY, 30, false },
                { ALD_KIND_IDENTITY, 180, false },
                { ALD_KIND_MEMORY, 161, true },
                { ALD_KIND_MEMORY, 162, false },
                { ALD_KIND_IDENTITY, 331, true },
                { ALD_KIND_IDENTITY, 300, true }, /* the clock was set back */
                { ALD_KIND_IDENTITY, 330, false },
        };
        g_autoptr(AldStore) store = state_make();
        bool changes;

        ald_store_watch(store, note_change, NULL, &changes);
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                send(store, 2, cases[i].kind, cases[i].seconds);
                g_assert_cmpint(changes, ==, cases[i].changes);
        }
}

/* A clock that was set makes nothing older. */
static void test_set_clock(void)
{
        g_autoptr(AldStore) store = state_make();
        const AldFindingContext later = {
                .real = 20 * FINDINGS_NOW, .clock_is_set = true, .now = START + 10 * SECOND, .started = START
        };
        g_autoptr(GPtrArray) findings = NULL;

        send(store, 1, ALD_KIND_IDENTITY, 0);
        send(store, 1, ALD_KIND_MEMORY, 0);
        findings = ald_findings_compute(store, &later);
        g_assert_cmpuint(findings_count(findings, "service-silent"), ==, 0);
}

/* Of another node, what else it sends is the measure: with mirror=self this machine receives some kinds only,
 * or nothing at all any more. */
static void test_other_nodes(void)
{
        g_autoptr(AldStore) store = state_make();

        send(store, 1, ALD_KIND_IDENTITY, 500);
        send(store, 1, ALD_KIND_MEMORY, 500);
        state_put_online(store, 2);
        send(store, 2, ALD_KIND_IDENTITY, 0);
        g_assert_cmpuint(count(store, 500), ==, 0);
        send(store, 2, ALD_KIND_NETWORK, 0);
        g_assert_cmpuint(count(store, 500), ==, 0);
        send(store, 2, ALD_KIND_IDENTITY, 150);
        g_assert_cmpuint(count(store, 500), ==, 0);
        send(store, 2, ALD_KIND_IDENTITY, 151);
        check_silent(store, 500,
                "alidade-telemetryd on 00000002 has sent nothing since 1970-01-05 04:00:00 UTC, so what it "
                "measures there is out of date.",
                "On 00000002, see \"systemctl status alidade-telemetryd\"; if it hangs, \"systemctl restart "
                "alidade-telemetryd\" helps.");
        state_put(store, 2, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        g_assert_cmpuint(count(store, 500), ==, 0);
}

static void test_history(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        AldFindingContext context = *FINDINGS_CONTEXT;
        g_autoptr(GPtrArray) findings = NULL, none = NULL;
        const AldFindingRow *row;

        context.history_problem = "Cannot use the history /x: database or disk is full";
        findings = ald_findings_compute(store, &context);
        row = findings_find(findings, "history-not-written", 0);
        g_assert_nonnull(row);
        g_assert_cmpstr(row->nodes[0], ==, ID_TEXT(1));
        g_assert_cmpstr(row->text, ==,
                "one records no history at present. Cannot use the history /x: database or disk is full.");
        g_assert_nonnull(row->remedy);
        findings_check_words(findings);
        context.history_problem = NULL;
        none = ald_findings_compute(store, &context);
        g_assert_cmpuint(findings_count(none, "history-not-written"), ==, 0);
}

/* After each number of steps, all nodes but this one are forgotten, and what the caller handed over is gone.
 */
static void test_store_changes_between_steps(void)
{
        for (guint before = 0, n_steps = before + 1; before < n_steps; before++) {
                g_autoptr(AldStore) store = findings_named_store();
                AldFindingContext context = *FINDINGS_CONTEXT;
                g_autofree char *problem = g_strdup("the disk is full");
                g_autoptr(AldFindingsRound) round = NULL;
                g_autoptr(GPtrArray) findings = NULL;
                const AldFindingRow *row;
                guint taken = 0;

                state_put(store, 2, ALD_KIND_IDENTITY, "{'FriendlyName': 'three'}");
                context.history_problem = problem;
                round = ald_findings_round_new(store, &context);
                g_clear_pointer(&problem, g_free);
                for (; !findings; taken++) {
                        if (taken == before)
                                for (unsigned node = 2; node < 9; node++) {
                                        const AldId id = id_make(node);

                                        ald_store_forget(store, &id, 1);
                                }
                        findings = ald_findings_round_step(round);
                }
                n_steps = taken;
                row = findings_find(findings, "history-not-written", 0);
                g_assert_cmpstr(row->nodes[0], ==, ID_TEXT(1));
                g_assert_nonnull(strstr(row->text, "the disk is full"));
                g_assert_cmpuint(findings_count(findings, "friendly-name-shared"), ==, before == taken - 1);
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/findings-service/this-node", test_this_node);
        g_test_add_func("/findings-service/nothing-since-the-start", test_nothing_since_the_start);
        g_test_add_func("/findings-service/records-after-silence", test_records_after_silence);
        g_test_add_func("/findings-service/set-clock", test_set_clock);
        g_test_add_func("/findings-service/other-nodes", test_other_nodes);
        g_test_add_func("/findings-service/history", test_history);
        g_test_add_func("/findings-service/store-changes-between-steps", test_store_changes_between_steps);
        return g_test_run();
}
