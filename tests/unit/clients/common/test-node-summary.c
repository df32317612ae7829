/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/node-summary.h"
#include "record/figure-text.h"
#include "tests/unit/model-maker.h"

#define NOW 1.7e15
#define ID "000000000000000000000000000000a1"
#define SECOND 1e6

/* A node whose record is so old by its own clock, which is ahead by the offset; NaN: nothing is known of
 * that. */
static const AldEntity *node_make(AldModel *model, const char *state, double age, double offset)
{
        json_t *memory = json_object(), *presence = json_object();

        if (!isnan(age))
                json_object_set_new(memory, "UpdatedUSec",
                        json_integer((json_int_t) (NOW + fmax(offset, 0) - age * SECOND)));
        g_assert_cmpint(model_put_json(model, ID, "Node1.Memory", memory), ==, 0);
        if (state) {
                /* Put just now, which says nothing of the node. */
                json_object_set_new(presence, "UpdatedUSec", json_integer((json_int_t) NOW));
                json_object_set_new(presence, "State", json_string(state));
                if (offset > 0)
                        json_object_set_new(presence, "ClockOffsetUSec", json_integer((json_int_t) offset));
                g_assert_cmpint(model_put_json(model, ID, "Node1.Presence", presence), ==, 0);
        }
        json_decref(memory);
        json_decref(presence);
        return ald_model_get(model, ID);
}

static void test_seen(void)
{
        static const struct {
                const char *state;
                double age, offset;
                AldTone tone;
                const char *text;
        } cases[] = {
                { NULL, 0, 0, ALD_TONE_GOOD, "live" },
                { NULL, -5, 0, ALD_TONE_GOOD, "live" },
                { NULL, 29, 0, ALD_TONE_GOOD, "live" },
                { NULL, 31, 0, ALD_TONE_GOOD, "31 s ago" },
                { NULL, 46, 0, ALD_TONE_WARNING, "46 s ago" },
                { NULL, 301, 0, ALD_TONE_ERROR, "5 min ago" },
                { NULL, NAN, 0, ALD_TONE_PLAIN, ALD_ABSENT_TEXT },
                { "online", 0, 0, ALD_TONE_GOOD, "online" },
                { "online", 20, 3600 * SECOND, ALD_TONE_GOOD, "online" },
                { "online", 35, 3600 * SECOND, ALD_TONE_GOOD, "online, 35 s ago" },
                { "online", 50, 0, ALD_TONE_WARNING, "online, 50 s ago" },
                { "online", NAN, 0, ALD_TONE_GOOD, "online" },
                { "stale", 4, 0, ALD_TONE_WARNING, "stale, 4 s ago" },
                { "offline", 130, 86400 * SECOND, ALD_TONE_ERROR, "offline, 2 min ago" },
                { "offline", NAN, 0, ALD_TONE_ERROR, "offline" },
                { "duplicate", 2, 0, ALD_TONE_ERROR, "duplicate, 2 s ago" },
                { "unknown", 2, 0, ALD_TONE_WARNING, "unknown" },
                { "\033[2J", 2, 0, ALD_TONE_GOOD, "live" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                const AldEntity *node = node_make(model, cases[i].state, cases[i].age, cases[i].offset);
                AldTone tone;
                g_autofree char *text = ald_format_seen(node, NOW, &tone);

                g_assert_cmpstr(text, ==, cases[i].text);
                g_assert_cmpint(tone, ==, cases[i].tone);
        }
}

/* The other services of the node go on, but its figures are as old as what this one sent last. */
static void test_silent_telemetry(void)
{
        static const struct {
                const char *state;
                double telemetry, identity; /* ages in seconds */
                AldTone tone;
                const char *text;
        } cases[] = {
                { NULL, 150, 0, ALD_TONE_GOOD, "live" },
                { NULL, 151, 0, ALD_TONE_WARNING, "2 min ago" },
                { NULL, 400, 20, ALD_TONE_ERROR, "6 min ago" },
                { "online", 151, 0, ALD_TONE_WARNING, "online, 2 min ago" },
                { "offline", 400, 200, ALD_TONE_ERROR, "offline, 6 min ago" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                const AldEntity *node = node_make(model, cases[i].state, cases[i].telemetry, 0);
                json_t *identity = json_pack(
                        "{s:I}", "UpdatedUSec", (json_int_t) (NOW - cases[i].identity * SECOND));
                g_autofree char *seen = NULL;
                AldTone tone;

                g_assert_cmpint(model_put_json(model, ID, "Node1.Identity", identity), ==, 0);
                json_decref(identity);
                seen = ald_format_seen(node, NOW, &tone);
                g_assert_cmpstr(seen, ==, cases[i].text);
                g_assert_cmpint(tone, ==, cases[i].tone);
        }
}

/* A node that is not online is shown with the time since then, by the clock of this machine, however old its
 * records are; one that is with their age. */
static void test_since(void)
{
        static const struct {
                const char *state;
                double since; /* seconds ago */
                AldTone tone;
                const char *text;
        } cases[] = {
                { "unknown", 300, ALD_TONE_WARNING, "unknown for 5 min" },
                { "offline", 300, ALD_TONE_ERROR, "offline for 5 min" },
                { "offline", 400 * 86400, ALD_TONE_ERROR, "offline since 2022-10-10" },
                { "duplicate", 300, ALD_TONE_ERROR, "duplicate for 5 min" },
                { "stale", 300, ALD_TONE_WARNING, "stale for 5 min" },
                { "online", 300, ALD_TONE_GOOD, "online, 35 s ago" },
                { "offline", -300, ALD_TONE_ERROR, "offline, 35 s ago" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                const AldEntity *node = node_make(model, cases[i].state, 35, 7200 * SECOND);
                json_t *presence = json_pack("{s:s, s:I, s:I}", "State", cases[i].state, "SinceUSec",
                        (json_int_t) (NOW - cases[i].since * SECOND), "ClockOffsetUSec",
                        (json_int_t) (7200 * SECOND));
                g_autofree char *seen = NULL;
                AldTone tone;

                g_assert_cmpint(model_put_json(model, ID, "Node1.Presence", presence), ==, 0);
                json_decref(presence);
                seen = ald_format_seen(node, NOW, &tone);
                g_assert_cmpstr(seen, ==, cases[i].text);
                g_assert_cmpint(tone, ==, cases[i].tone);
        }
}

static void test_exclusion(void)
{
        static const char *const states[][2] = { { NULL, NULL }, { "online", NULL }, { "stale", NULL },
                { "offline", "offline" }, { "duplicate", "duplicate" }, { "unknown", "unknown" },
                { "\033[2J", NULL } };

        for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                const AldEntity *node = node_make(model, states[i][0], 3, 0);

                g_assert_cmpstr(ald_node_exclusion(model, node), ==, states[i][1]);
                ald_model_set_node_id(model, ID); /* this machine always counts */
                g_assert_null(ald_node_exclusion(model, node));
                g_assert_null(ald_node_exclusion(model, NULL));
        }
}

/* A state of a newer version says nothing here. */
static void test_unknown_state(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        const AldEntity *node = node_make(model, "hibernating", 1, 0);
        AldTone tone;
        g_autofree char *seen = ald_format_seen(node, NOW, &tone);

        g_assert_cmpstr(seen, ==, "live");
        g_assert_null(ald_node_exclusion(model, node));
}

/* What the clock of the node shows, as far as its offset is known. */
static void test_clocks(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        const AldEntity *node = node_make(model, "online", 40, 7200 * SECOND);

        g_assert_cmpfloat(ald_node_now(node, NOW), ==, NOW + 7200 * SECOND);
        g_assert_cmpfloat(ald_node_now(NULL, NOW), ==, NOW);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/node-summary/seen", test_seen);
        g_test_add_func("/node-summary/silent-telemetry", test_silent_telemetry);
        g_test_add_func("/node-summary/since", test_since);
        g_test_add_func("/node-summary/exclusion", test_exclusion);
        g_test_add_func("/node-summary/unknown-state", test_unknown_state);
        g_test_add_func("/node-summary/clocks", test_clocks);
        return g_test_run();
}
