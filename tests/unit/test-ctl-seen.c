/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "clients/alidadectl/describe.h"
#include "clients/alidadectl/fields.h"
#include "clients/alidadectl/seen.h"
#include "clients/alidadectl/text.h"

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
        g_assert_cmpint(ald_model_put(model, ID, "Node1.Memory", memory), ==, 0);
        if (state) {
                /* Put just now, which says nothing of the node. */
                json_object_set_new(presence, "UpdatedUSec", json_integer((json_int_t) NOW));
                json_object_set_new(presence, "State", json_string(state));
                if (offset > 0)
                        json_object_set_new(presence, "ClockOffsetUSec", json_integer((json_int_t) offset));
                g_assert_cmpint(ald_model_put(model, ID, "Node1.Presence", presence), ==, 0);
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
                const char *style, *text;
        } cases[] = {
                { NULL, 0, 0, ALD_STYLE_GOOD, "live" },
                { NULL, -5, 0, ALD_STYLE_GOOD, "live" },
                { NULL, 29, 0, ALD_STYLE_GOOD, "live" },
                { NULL, 31, 0, ALD_STYLE_GOOD, "31 s ago" },
                { NULL, 46, 0, ALD_STYLE_WARNING, "46 s ago" },
                { NULL, 301, 0, ALD_STYLE_ERROR, "5 min ago" },
                { NULL, NAN, 0, "", ALD_ABSENT_TEXT },
                { "online", 0, 0, ALD_STYLE_GOOD, "online" },
                { "online", 20, 3600 * SECOND, ALD_STYLE_GOOD, "online" },
                { "online", 35, 3600 * SECOND, ALD_STYLE_GOOD, "online, 35 s ago" },
                { "online", 50, 0, ALD_STYLE_WARNING, "online, 50 s ago" },
                { "online", NAN, 0, ALD_STYLE_GOOD, "online" },
                { "stale", 4, 0, ALD_STYLE_WARNING, "stale, 4 s ago" },
                { "offline", 130, 86400 * SECOND, ALD_STYLE_ERROR, "offline, 2 min ago" },
                { "offline", NAN, 0, ALD_STYLE_ERROR, "offline" },
                { "duplicate", 2, 0, ALD_STYLE_ERROR, "duplicate, 2 s ago" },
                { "unknown", 2, 0, ALD_STYLE_WARNING, "unknown" },
                { "\033[2J", 2, 0, ALD_STYLE_GOOD, "live" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                const AldEntity *node = node_make(model, cases[i].state, cases[i].age, cases[i].offset);
                g_autofree char *text = ald_format_seen(node, NOW);
                g_autofree char *expected = cases[i].style[0] ? g_strconcat(cases[i].style, cases[i].text,
                                                                        ALD_STYLE_NORMAL, NULL)
                                                              : g_strdup(cases[i].text);

                g_assert_cmpstr(text, ==, expected);
        }
}

/* Since when nobody says how it is, whatever its records say of their age. */
static void test_unknown_since(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        const AldEntity *node = node_make(model, "unknown", 3, 0);
        json_t *presence = json_pack(
                "{s:s, s:I}", "State", "unknown", "SinceUSec", (json_int_t) (NOW - 300 * SECOND));
        g_autofree char *seen = NULL;

        g_assert_cmpint(ald_model_put(model, ID, "Node1.Presence", presence), ==, 0);
        json_decref(presence);
        seen = ald_format_seen(node, NOW);
        g_assert_cmpstr(seen, ==, ALD_STYLE_WARNING "unknown, 5 min ago" ALD_STYLE_NORMAL);
}

static void test_gone(void)
{
        static const char *const states[][2] = { { NULL, NULL }, { "online", NULL }, { "stale", NULL },
                { "offline", "offline" }, { "duplicate", "duplicate" }, { "unknown", "unknown" },
                { "\033[2J", NULL } };

        for (size_t i = 0; i < G_N_ELEMENTS(states); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                const AldEntity *node = node_make(model, states[i][0], 3, 0);

                g_assert_cmpstr(ald_node_gone(model, node), ==, states[i][1]);
                ald_model_set_node_id(model, ID); /* this machine always counts */
                g_assert_null(ald_node_gone(model, node));
                g_assert_null(ald_node_gone(model, NULL));
        }
}

static void test_presence_of_other_types(void)
{
        static const char *const hostile[] = { "{'State':7}", "{'State':['online']}",
                "{'State':'online','ClockOffsetUSec':'x'}", "{'ClockOffsetUSec':true}" };

        for (size_t i = 0; i < G_N_ELEMENTS(hostile); i++) {
                g_autoptr(AldModel) model = ald_model_new();
                g_autofree char *text = g_strdelimit(g_strdup(hostile[i]), "'", '"'), *seen = NULL;
                json_t *presence = json_loads(text, 0, NULL);

                node_make(model, NULL, 1, 0);
                g_assert_cmpint(ald_model_put(model, ID, "Node1.Presence", presence), ==, 0);
                json_decref(presence);
                seen = ald_format_seen(ald_model_get(model, ID), NOW);
                g_assert_nonnull(strstr(seen, i == 2 ? "online" : "live"));
                g_assert_cmpfloat(ald_node_now(ald_model_get(model, ID), NOW), ==, NOW);
        }
}

/* Each record is as old as the clock of its source says; what this machine says goes by its own. */
static void test_ages_of_records(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autoptr(GString) out = g_string_new(NULL);
        const AldEntity *node = node_make(model, "online", 40, 7200 * SECOND);

        ald_describe_records(out, node, 0, NOW);
        g_assert_nonnull(strstr(out->str, "Node1.Memory" ALD_STYLE_DIM " 40 s ago"));
        g_assert_nonnull(strstr(out->str, "Node1.Presence" ALD_STYLE_DIM " live"));
        g_assert_nonnull(strstr(out->str, "ClockOffsetUSec: +2 h\n"));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/ctl-seen/seen", test_seen);
        g_test_add_func("/ctl-seen/unknown-since", test_unknown_since);
        g_test_add_func("/ctl-seen/gone", test_gone);
        g_test_add_func("/ctl-seen/presence-of-other-types", test_presence_of_other_types);
        g_test_add_func("/ctl-seen/ages-of-records", test_ages_of_records);
        return g_test_run();
}
