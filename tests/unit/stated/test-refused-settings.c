/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/state/refused-settings.h"
#include "tests/unit/record-maker.h"

#define STATED "alidade-stated"
#define TELEMETRYD "alidade-telemetryd"

typedef struct Fixture {
        AldStateManager *manager;
        unsigned changes;
} Fixture;

static void on_changed(AldEntry *entry, AldRecord *before, void *userdata)
{
        ((Fixture *) userdata)->changes++;
}

static void on_removing(AldEntry *entry, void *userdata)
{
}

static void set_up(Fixture *f, gconstpointer data)
{
        const AldId local = id_make(1);
        AldConfig *config = ald_config_load(ald_state_config_keys, "/nonexistent");

        g_unsetenv("STATE_DIRECTORY");
        f->manager = ald_state_manager_new(&local, config);
        ald_config_free(config);
        ald_state_manager_watch(f->manager, on_changed, on_removing, f);
}

static void tear_down(Fixture *f, gconstpointer data)
{
        ald_state_manager_free(f->manager);
}

static const AldConfiguration *stored(Fixture *f)
{
        return ald_node_as(
                ald_store_local_node(ald_state_manager_store(f->manager)), CONFIGURATION, AldConfiguration);
}

static AldServiceProblems problems(const char *service, const AldConfigurationProblemRow *rows, size_t n)
{
        return (AldServiceProblems){ service, { &ald_configuration_problem_row_struct, rows, n } };
}

static const AldConfigurationProblemRow of_state[] = {
        { .file = "/a.conf", .line = 12, .group = "state", .key = "max-nodes", .reason = "too large" },
        { .file = "/a.conf", .line = 3, .group = "stat", .reason = "unknown group" },
};
static const AldConfigurationProblemRow of_telemetry[] = {
        { .file = "/a.conf", .line = 3, .group = "stat", .reason = "unknown group" },
        { .file = "/b.conf", .line = ALD_ABSENT_UINT64, .reason = "Permission denied" },
};

static const AldRefusedSetting *find(Fixture *f, const char *id)
{
        const AldConfiguration *configuration = stored(f);

        return configuration ? ald_rows_find(&configuration->problems, id) : NULL;
}

static void test_merge(Fixture *f, gconstpointer data)
{
        const AldServiceProblems services[] = {
                problems(STATED, of_state, G_N_ELEMENTS(of_state)),
                problems("alidade-identityd", NULL, 0),
                problems(TELEMETRYD, of_telemetry, G_N_ELEMENTS(of_telemetry)),
        };
        const AldRefusedSetting *setting;

        ald_refused_settings_update(f->manager, services, G_N_ELEMENTS(services));
        g_assert_cmpuint(stored(f)->problems.n, ==, 3);
        setting = find(f, "/a.conf:12 [state] max-nodes");
        g_assert_nonnull(setting);
        g_assert_cmpstr(setting->service, ==, STATED);
        g_assert_cmpstr(setting->file, ==, "/a.conf");
        g_assert_cmpuint(setting->line, ==, 12);
        g_assert_cmpstr(setting->group, ==, "state");
        g_assert_cmpstr(setting->key, ==, "max-nodes");
        g_assert_cmpstr(setting->reason, ==, "too large");
        setting = find(f, "/a.conf:3 [stat]");
        g_assert_nonnull(setting);
        g_assert_null(setting->service);
        g_assert_null(setting->key);
        setting = find(f, "/b.conf");
        g_assert_nonnull(setting);
        g_assert_cmpstr(setting->service, ==, TELEMETRYD);
        g_assert_cmpuint(setting->line, ==, ALD_ABSENT_UINT64);
}

static void test_changes(Fixture *f, gconstpointer data)
{
        AldServiceProblems services[] = {
                problems(STATED, of_state, G_N_ELEMENTS(of_state)),
                problems(TELEMETRYD, of_telemetry, G_N_ELEMENTS(of_telemetry)),
        };

        ald_refused_settings_update(f->manager, services, G_N_ELEMENTS(services));
        g_assert_cmpuint(f->changes, ==, 1);
        ald_refused_settings_update(f->manager, services, G_N_ELEMENTS(services));
        g_assert_cmpuint(f->changes, ==, 1);
        /* The other service has left the bus. */
        services[1].rows.n = 0;
        ald_refused_settings_update(f->manager, services, G_N_ELEMENTS(services));
        g_assert_cmpuint(f->changes, ==, 2);
        g_assert_cmpuint(stored(f)->problems.n, ==, 2);
        g_assert_cmpstr(find(f, "/a.conf:3 [stat]")->service, ==, STATED);
        services[0].rows.n = 0;
        ald_refused_settings_update(f->manager, services, G_N_ELEMENTS(services));
        g_assert_cmpuint(f->changes, ==, 3);
        g_assert_null(stored(f));
        ald_refused_settings_update(f->manager, services, G_N_ELEMENTS(services));
        g_assert_cmpuint(f->changes, ==, 3);
}

/* Brokers of earlier versions are not asked to pass on what nobody has to say. */
static void test_nothing_refused(Fixture *f, gconstpointer data)
{
        const AldServiceProblems none = problems(STATED, NULL, 0);

        ald_refused_settings_update(f->manager, &none, 1);
        g_assert_cmpuint(f->changes, ==, 0);
        g_assert_null(stored(f));
}

static void test_limits(Fixture *f, gconstpointer data)
{
        g_autofree char *longest = g_strnfill(ALD_STRING_MAX, 'x');
        AldConfigurationProblemRow rows[ALD_REFUSED_SETTINGS_MAX + 5];
        const AldServiceProblems services = problems(STATED, rows, G_N_ELEMENTS(rows));

        for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
                rows[i] = (AldConfigurationProblemRow){ longest, i + 1, longest, longest, longest };
        rows[1].file = NULL; /* it cannot be found, and so not be mended */
        ald_refused_settings_update(f->manager, &services, 1);
        g_assert_cmpuint(stored(f)->problems.n, ==, ALD_REFUSED_SETTINGS_MAX);
        for (guint i = 0; i < ALD_REFUSED_SETTINGS_MAX; i++) {
                const AldRefusedSetting *setting = ald_rows_at(&stored(f)->problems, i);

                g_assert_cmpuint(setting->line, !=, 2);
                g_assert_cmpstr(setting->reason, ==, longest);
        }
}

#define TEST(name, function) g_test_add("/refused-settings/" name, Fixture, NULL, set_up, function, tear_down)

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        TEST("merge", test_merge);
        TEST("changes", test_changes);
        TEST("nothing-refused", test_nothing_refused);
        TEST("limits", test_limits);
        return g_test_run();
}
