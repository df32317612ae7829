/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/planner/probed-kinds.h"
#include "tests/unit/state-maker.h"

#define MINUTE (UINT64_C(60) * 1000 * 1000)
#define HOUR (60 * MINUTE)
#define NOW (UINT64_C(1700000000) * 1000 * 1000)

/* "Id reason" of each that is due. */
static void check(AldStore *store, const AldPlannerInput *input, const char *expected)
{
        g_autoptr(GArray) due = ald_probed_storage.due(store, input);
        g_autoptr(GString) text = g_string_new(NULL);

        for (guint i = 0; i < due->len; i++) {
                const AldDueProbe *probe = &g_array_index(due, AldDueProbe, i);

                g_assert_cmpint(probe->kind, ==, ALD_KIND_STORAGE);
                g_string_append_printf(text, "%s%s %s", i > 0 ? ", " : "", probe->device,
                        ald_due_reason_to_string(probe->reason));
        }
        g_assert_cmpstr(text->str, ==, expected);
}

static char *row(const char *id, const char *more, uint64_t usec)
{
        return g_strdup_printf("{'Id': '%s', 'ModelFiles': 1, '%s': %" G_GUINT64_FORMAT "}", id, more, usec);
}

static void test_due(void)
{
        static const char *const avoid[] = { "/never", "/expired", NULL };
        AldPlannerInput input = { .now = MINUTE, .now_realtime = NOW, .started = MINUTE, .max = 8 };
        g_autoptr(AldStore) store = state_make();
        g_autofree char *fresh = row("/fresh", "MeasuredUSec", NOW - 23 * HOUR);
        g_autofree char *old = row("/expired", "MeasuredUSec", NOW - 24 * HOUR);
        g_autofree char *older = row("/older", "MeasuredUSec", NOW - 25 * HOUR);
        g_autofree char *future = row("/future", "MeasuredUSec", NOW + HOUR);
        g_autofree char *failed = row("/failed", "FailedUSec", NOW - MINUTE);
        g_autofree char *just_failed = row("/just-failed", "FailedUSec", NOW - MINUTE / 2);
        g_autofree char *text = g_strdup_printf(
                "{'FileSystems': [%s, %s, %s, %s, %s, %s, {'Id': '/never', 'ModelFiles': 3}, "
                "{'Id': '/empty', 'ModelFiles': 0}, {'Id': '/asleep'}]}",
                fresh, old, older, future, failed, just_failed);

        check(store, &input, "");
        state_put(store, 1, ALD_KIND_STORAGE, text);
        check(store, &input,
                "/never never, /future future, /older expired, /failed failed, /expired expired");
        input.max = 2;
        check(store, &input, "/never never, /future future");
        input.max = 8;
        input.avoid_devices = avoid;
        input.n_avoid_devices = 2;
        check(store, &input, "/future future, /older expired, /failed failed");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/probed-storage/due", test_due);
        return g_test_run();
}
