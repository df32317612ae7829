/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/placement/pinned-devices.h"
#include "tests/unit/model-maker.h"

#define FIRST "00000000000000000000000000000001"
#define SECOND "00000000000000000000000000000002"

static void put(AldModel *model, unsigned number, const char *name)
{
        g_autofree char *records = g_strdup_printf("{'Node1.Identity':{'FriendlyName':'%s'},"
                                                   "'Node1.Backends':{'Devices':[{'Id':'0000:01:00.0/"
                                                   "1','Class':'gpu'},{'Id':'cpu','Class':'cpu'}]}}",
                name);

        model_put_node(model, number, records);
}

static void test_names(void)
{
        static const struct {
                const char *text;
                AldPinResult result;
                const char *node, *rest;
        } cases[] = {
                { "a", ALD_PIN_FOUND, FIRST, "" },
                { "a/cpu", ALD_PIN_FOUND, FIRST, "/cpu" },
                { FIRST "/cpu", ALD_PIN_FOUND, FIRST, "/cpu" },
                /* A slash in the device, and in the name of a node. */
                { "a/0000:01:00.0/1", ALD_PIN_FOUND, FIRST, "/0000:01:00.0/1" },
                { "rack/b", ALD_PIN_FOUND, SECOND, "" },
                { "rack/b/cpu", ALD_PIN_FOUND, SECOND, "/cpu" },
                { "rack/b/0000:01:00.0/1", ALD_PIN_FOUND, SECOND, "/0000:01:00.0/1" },
                { "a/gpu", ALD_PIN_NO_DEVICE, NULL, NULL },
                { "a/", ALD_PIN_NO_DEVICE, NULL, NULL },
                { "rack/b/gpu", ALD_PIN_NO_DEVICE, NULL, NULL },
                { "0", ALD_PIN_AMBIGUOUS, NULL, NULL },
                { "0/cpu", ALD_PIN_AMBIGUOUS, NULL, NULL },
                { "c", ALD_PIN_NO_NODE, NULL, NULL },
                { "c/cpu", ALD_PIN_NO_NODE, NULL, NULL },
                { "/cpu", ALD_PIN_NO_NODE, NULL, NULL },
                { "////////////////cpu", ALD_PIN_NO_NODE, NULL, NULL },
        };
        g_autoptr(AldModel) model = ald_model_new();

        put(model, 1, "a");
        put(model, 2, "rack/b");
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *found = NULL, *expected = NULL, *candidates = NULL;

                g_assert_cmpint(ald_pin_resolve(model, cases[i].text, true, &found, &candidates), ==,
                        cases[i].result);
                g_assert_cmpstr(
                        candidates, ==, cases[i].result == ALD_PIN_AMBIGUOUS ? FIRST ", " SECOND : NULL);
                if (cases[i].node)
                        expected = g_strconcat(cases[i].node, cases[i].rest, NULL);
                g_assert_cmpstr(found, ==, expected);
        }
}

/* A client is a node, whatever its name contains. */
static void test_without_devices(void)
{
        g_autoptr(AldModel) model = ald_model_new();
        g_autofree char *found = NULL, *candidates = NULL;

        put(model, 1, "rack/b");
        g_assert_cmpint(
                ald_pin_resolve(model, "rack/b/cpu", false, &found, &candidates), ==, ALD_PIN_NO_NODE);
        g_assert_cmpint(ald_pin_resolve(model, "rack/b", false, &found, &candidates), ==, ALD_PIN_FOUND);
        g_assert_cmpstr(found, ==, FIRST);
        g_assert_null(candidates);
}

/* A name with a slash that several nodes have is no name of a node and a device, and one of the first digits
 * of the id of another node names neither. */
static void test_ambiguous(void)
{
        static const char *const texts[] = { "rack/b", "rack/b/cpu", "000000", "000000/cpu" };
        g_autoptr(AldModel) model = ald_model_new();

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                g_autofree char *found = NULL, *candidates = NULL;

                put(model, 1, i < 2 ? "rack/b" : "a");
                put(model, 2, i < 2 ? "rack/b" : "000000");
                g_assert_cmpint(
                        ald_pin_resolve(model, texts[i], true, &found, &candidates), ==, ALD_PIN_AMBIGUOUS);
                g_assert_null(found);
                g_assert_nonnull(strstr(candidates, FIRST));
                g_assert_nonnull(strstr(candidates, SECOND));
        }
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/plan-pins/names", test_names);
        g_test_add_func("/plan-pins/without-devices", test_without_devices);
        g_test_add_func("/plan-pins/ambiguous", test_ambiguous);
        return g_test_run();
}
