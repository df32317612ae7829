/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/cluster-config.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

/* What allows less than a default takes the place of a value that is refused. */
static void test_what_is_refused(void)
{
        static const struct {
                const char *text;
                AldMirrorMode mirror;
                bool discovery;
                unsigned n_brokers;
        } cases[] = {
                { "", ALD_MIRROR_ALL, true, 0 },
                { "mirror=on-demand\n", ALD_MIRROR_ON_DEMAND, true, 0 },
                { "mirror=on_demand\n", ALD_MIRROR_NONE, true, 0 },
                { "mirror=\"all\"\n", ALD_MIRROR_NONE, true, 0 },
                { "mirror=\n", ALD_MIRROR_NONE, true, 0 },
                { "discovery=false\n", ALD_MIRROR_ALL, false, 0 },
                { "discovery=no\n", ALD_MIRROR_ALL, false, 0 },
                { "brokers=192.0.2.1;192.0.2.2\n", ALD_MIRROR_ALL, true, 2 },
                { "brokers=192.0.2.1;1883:1883:1883:z\n", ALD_MIRROR_ALL, true, 0 },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();
                g_autofree char *text = g_strconcat("[cluster]\n", cases[i].text, NULL);
                g_autoptr(AldClusterConfig) cluster = NULL;
                AldConfig *config;

                fake_root_write(root, "alidade.conf", text);
                config = ald_config_load(ald_cluster_config_keys, root->dir);
                cluster = ald_cluster_config_new(config);
                g_assert_cmpint(cluster->mirror, ==, cases[i].mirror);
                g_assert_cmpint(cluster->discovery, ==, cases[i].discovery);
                g_assert_cmpuint(cluster->brokers->len, ==, cases[i].n_brokers);
                ald_config_free(config);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/cluster-config/what-is-refused", test_what_is_refused);
        return g_test_run();
}
