/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/alerts/alert-key.h"
#include "state/alerts/alerts.h"
#include "tests/unit/findings-check.h"
#include "tests/unit/state-maker.h"

#define SECOND (UINT64_C(1000) * 1000)
#define NODES_MAX 8u

/* A cluster: each node has a port eth0, on the switch of its number or on one that nothing names (0). */
typedef struct Cluster {
        AldStore *store;
        AldAlerts *alerts;
        uint64_t now;
        GArray *notices;
        const AldFindingRow *slower; /* what historyd finds */
} Cluster;

static void add_node(Cluster *cluster, unsigned node, unsigned above)
{
        g_autofree char *neighbour = g_strdup_printf("{'Id': 'eth0,c%u,p%u', 'Interface': 'eth0', "
                                                     "'ChassisId': 'c%u', 'PortId': 'p%u', "
                                                     "'SystemName': 'leaf%u'}",
                above, node, above, node, above);
        g_autofree char *text = g_strdup_printf(
                "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'Carrier': true, "
                "'Addresses': ['192.0.2.%u/24']}], 'Neighbours': [%s]}",
                node, above > 0 ? neighbour : "");
        g_autofree char *name = g_strdup_printf("{'FriendlyName': 'n%u'}", node);

        state_put(cluster->store, node, ALD_KIND_NETWORK, text);
        state_put(cluster->store, node, ALD_KIND_IDENTITY, name);
        state_put_online(cluster->store, node);
}

static void cluster_init(Cluster *cluster, const unsigned *switches, unsigned n)
{
        *cluster = (Cluster){ .store = state_make(), .alerts = ald_alerts_new(), .now = FINDINGS_NOW };
        for (unsigned i = 0; i < n; i++)
                add_node(cluster, i + 1, switches[i]);
}

static void cluster_clear(Cluster *cluster)
{
        ald_store_free(cluster->store);
        ald_alerts_free(cluster->alerts);
        g_clear_pointer(&cluster->notices, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Cluster, cluster_clear)

static void set_link(Cluster *cluster, unsigned from, unsigned to, bool good)
{
        g_autofree char *address = g_strdup_printf("192.0.2.%u", to);
        g_autofree char *text = g_strdup_printf(
                "{'SourceInterface': 'eth0', 'NegotiatedBitsPerSecond': 10000000000, 'MeasuredUSec': 7, "
                "'UploadBitsPerSecond': %s, 'DownloadBitsPerSecond': 9000000000}",
                good ? "9000000000" : "900000000");

        state_put_path(cluster->store, from, to, address, text);
}

static gboolean collect_node(AldNode *node, void *userdata)
{
        const AldPresence *presence = ald_node_as(node, PRESENCE, AldPresence);
        const AldIdentity *identity = ald_node_as(node, IDENTITY, AldIdentity);
        const AldAlertNode row = { .id = node->id,
                .name = identity && identity->friendly_name ? identity->friendly_name : "?",
                .offline = presence && g_strcmp0(presence->state, "offline") == 0,
                .counts = ald_node_counts(node),
                .network = ald_node_as(node, NETWORK, AldNetwork),
                .fabric = ald_node_as(node, FABRIC, AldFabric) };

        ald_alert_paths_add_node(userdata, &row);
        return FALSE;
}

static gboolean collect_link(AldEntry *entry, void *userdata)
{
        AldLink link = ald_link_of(entry);

        ald_alert_paths_add_link(userdata, &link);
        return FALSE;
}

static void look(Cluster *cluster, unsigned seconds)
{
        g_autoptr(AldAlertPaths) paths = ald_alert_paths_new();
        g_autoptr(GPtrArray) findings = ald_findings_compute(cluster->store, FINDINGS_CONTEXT);
        g_autoptr(GPtrArray) all = g_ptr_array_new();

        cluster->now += seconds * SECOND;
        for (guint i = 0; i < findings->len; i++)
                g_ptr_array_add(all, findings->pdata[i]);
        if (cluster->slower)
                g_ptr_array_add(all, (gpointer) cluster->slower);
        ald_store_foreach_node(cluster->store, collect_node, paths);
        ald_store_foreach_link(cluster->store, collect_link, paths);
        g_clear_pointer(&cluster->notices, g_array_unref);
        cluster->notices = ald_alerts_update(cluster->alerts, all, paths, cluster->now);
}

/* What begins once it has lasted: a text for each, sorted by their keys. */
static void check_begins(Cluster *cluster, const char *const *texts)
{
        guint n = g_strv_length((char **) texts);

        look(cluster, 0);
        g_assert_cmpuint(cluster->notices->len, ==, 0);
        look(cluster, 30);
        for (guint i = 0; i < cluster->notices->len; i++)
                g_test_message("%s", g_array_index(cluster->notices, AldAlertNotice, i).alert->row->text);
        g_assert_cmpuint(cluster->notices->len, ==, n);
        for (guint i = 0; i < n; i++) {
                const AldAlertNotice *notice = &g_array_index(cluster->notices, AldAlertNotice, i);

                g_assert_true(notice->begins);
                g_assert_cmpstr(notice->alert->row->text, ==, texts[i]);
        }
}

#define TEXTS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* All pairs, measured from both ends: good unless the function says otherwise. */
static void measure_all(Cluster *cluster, unsigned n, bool (*is_bad)(unsigned from, unsigned to))
{
        for (unsigned from = 1; from <= n; from++)
                for (unsigned to = 1; to <= n; to++)
                        if (from != to)
                                set_link(cluster, from, to, !is_bad(MIN(from, to), MAX(from, to)));
}

static bool is_any(unsigned from, unsigned to)
{
        return true;
}

static bool is_of_node_one(unsigned from, unsigned to)
{
        return from == 1 || to == 1;
}

static bool is_of_node_two(unsigned from, unsigned to)
{
        return from == 2 || to == 2;
}

static bool is_between_halves(unsigned from, unsigned to)
{
        return from <= 2 && to > 2;
}

static bool is_within_first_three(unsigned from, unsigned to)
{
        return from <= 3 && to <= 3;
}

static bool is_single(unsigned from, unsigned to)
{
        return from == 1 && to == 3;
}

static void test_a_switch(void)
{
        static const unsigned switches[] = { 1, 1, 1, 1 };
        g_auto(Cluster) cluster = {};

        cluster_init(&cluster, switches, 4);
        measure_all(&cluster, 4, is_any);
        check_begins(
                &cluster, TEXTS("6 links over switch leaf1 are slow or fail, between n1, n2, n3 and n4."));
        g_assert_cmpuint(g_array_index(cluster.notices, AldAlertNotice, 0).alert->symptoms, ==,
                24); /* each direction is slow, and asymmetric */
}

/* The others on the same switch are well. */
static void test_a_port(void)
{
        static const unsigned switches[] = { 1, 1, 1, 1 };
        g_auto(Cluster) cluster = {};

        cluster_init(&cluster, switches, 4);
        measure_all(&cluster, 4, is_of_node_two);
        check_begins(&cluster, TEXTS("3 links over eth0 on n2 are slow or fail."));
}

static void test_an_uplink(void)
{
        static const unsigned switches[] = { 1, 1, 2, 2 }, nameless[] = { 0, 0, 0, 0 };
        g_auto(Cluster) cluster = {}, other = {};

        cluster_init(&cluster, switches, 4);
        measure_all(&cluster, 4, is_between_halves);
        check_begins(&cluster, TEXTS("4 links between switches leaf1 and leaf2 are slow or fail."));
        cluster_init(&other, nameless, 4);
        measure_all(&other, 4, is_between_halves);
        check_begins(&other,
                TEXTS("4 links between n1, n2, n4 and n3 are slow or fail; they seem to share an uplink."));
}

/* Of two switches, the one whose links are slow; the nodes of the other are well. */
static void test_one_switch_of_two(void)
{
        static const unsigned switches[] = { 1, 1, 1, 2, 2 };
        g_auto(Cluster) cluster = {};

        cluster_init(&cluster, switches, 5);
        for (unsigned from = 1; from <= 5; from++)
                for (unsigned to = from + 1; to <= 5; to++)
                        if ((from <= 3) == (to <= 3))
                                set_link(&cluster, from, to, !is_within_first_three(from, to));
        check_begins(&cluster, TEXTS("3 links over switch leaf1 are slow or fail, between n1, n2 and n3."));
}

static void check_reporter(Cluster *cluster, unsigned node)
{
        g_autofree char *id = state_id(node);

        g_assert_cmpuint(cluster->notices->len, ==, 1);
        g_assert_cmpstr(g_array_index(cluster->notices, AldAlertNotice, 0).alert->row->reporter, ==,
                node > 0 ? id : NULL);
}

/* What one node has measured, or names, is its own report; else a node could have ever new switches, and so
 * ever new alerts that no one reports. */
static void test_reporters(void)
{
        static const unsigned switches[] = { 1, 1, 1, 1 }, named[] = { 9, 0, 0, 0 },
                              uplink[] = { 9, 2, 2, 2 };
        g_auto(Cluster) all = {}, port = {}, one = {}, name = {}, two = {};

        cluster_init(&all, switches, 4);
        measure_all(&all, 4, is_any);
        check_begins(&all, TEXTS("6 links over switch leaf1 are slow or fail, between n1, n2, n3 and n4."));
        check_reporter(&all, 0);
        cluster_init(&port, switches, 4);
        measure_all(&port, 4, is_of_node_two);
        check_begins(&port, TEXTS("3 links over eth0 on n2 are slow or fail."));
        check_reporter(&port, 2);
        cluster_init(&one, switches, 4);
        for (unsigned to = 2; to <= 4; to++)
                set_link(&one, 1, to, false);
        look(&one, 0);
        look(&one, 30);
        check_reporter(&one, 1);
        cluster_init(&name, named, 4);
        measure_all(&name, 4, is_of_node_one);
        look(&name, 0);
        look(&name, 30);
        check_reporter(&name, 1);
        cluster_init(&two, uplink, 4);
        measure_all(&two, 4, is_of_node_one);
        look(&two, 0);
        look(&two, 30);
        check_reporter(&two, 1);
}

/* A single link, or two, has a finding for itself. */
static void test_few_links_are_no_group(void)
{
        static const unsigned switches[] = { 1, 1, 1, 1 };
        g_auto(Cluster) cluster = {};

        cluster_init(&cluster, switches, 4);
        measure_all(&cluster, 4, is_single);
        look(&cluster, 0);
        look(&cluster, 30);
        g_assert_cmpuint(cluster.notices->len, ==, 2);
        g_assert_cmpstr(g_array_index(cluster.notices, AldAlertNotice, 0).alert->row->id, ==,
                "link-below-negotiated");
}

/* One link that recovers does not turn one alert into many. */
static void test_a_group_shrinks(void)
{
        static const unsigned switches[] = { 1, 1, 1, 1 };
        g_auto(Cluster) cluster = {};

        cluster_init(&cluster, switches, 4);
        measure_all(&cluster, 4, is_any);
        look(&cluster, 0);
        look(&cluster, 30);
        set_link(&cluster, 1, 2, true);
        set_link(&cluster, 2, 1, true);
        look(&cluster, 10);
        look(&cluster, 3600);
        g_assert_cmpuint(cluster.notices->len, ==, 0);
        measure_all(&cluster, 4, is_single);
        look(&cluster, 10);
        look(&cluster, 300);
        g_assert_cmpuint(cluster.notices->len, ==, 3);
        g_assert_false(g_array_index(cluster.notices, AldAlertNotice, 2).begins);
        g_assert_cmpstr(g_array_index(cluster.notices, AldAlertNotice, 2).alert->row->id, ==,
                "switch-links-affected");
}

static void test_nodes_of_a_switch_are_offline(void)
{
        static const unsigned switches[] = { 1, 2, 2, 2, 1 };
        g_auto(Cluster) cluster = {};

        cluster_init(&cluster, switches, 5);
        for (unsigned node = 2; node <= 5; node++)
                state_put(cluster.store, node, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        check_begins(
                &cluster, TEXTS("n5 is offline.", "The nodes on switch leaf2 are offline: n2, n3 and n4."));
        state_put_online(cluster.store, 3);
        look(&cluster, 10);
        look(&cluster, 600);
        g_assert_cmpuint(cluster.notices->len, ==, 0);
}

/* A link from node 1 to node 2 is slower than its past. */
static void put_slower(Cluster *cluster, const char *ids[3], AldFindingRow *row)
{
        *row = (AldFindingRow) ALD_FINDING_ROW_INIT;
        row->id = ald_finding_row_id_to_string(ALD_FINDING_ROW_ID_SLOWER_THAN_PAST);
        row->severity = ald_finding_row_severity_to_string(ALD_FINDING_ROW_SEVERITY_WARNING);
        row->nodes = ids;
        row->interface = "eth0";
        row->address = "192.0.2.2";
        row->upload.bits_per_second = 900000000;
        row->past_bits_per_second = 9000000000;
        row->text = "Slower.";
        cluster->slower = row;
}

static void test_what_makes_a_link_slower_than_its_past(void)
{
        static const unsigned switches[] = { 1, 1, 1, 1 };
        g_autofree char *one = state_id(1), *two = state_id(2);
        const char *ids[] = { one, two, NULL };
        g_auto(Cluster) cluster = {}, other = {}, third = {};
        AldFindingRow row;

        cluster_init(&cluster, switches, 4);
        put_slower(&cluster, ids, &row);
        check_begins(&cluster, TEXTS("Slower."));
        cluster_init(&other, switches, 4);
        put_slower(&other, ids, &row);
        measure_all(&other, 4, is_of_node_two);
        check_begins(&other, TEXTS("3 links over eth0 on n2 are slow or fail."));
        cluster_init(&third, switches, 4);
        put_slower(&third, ids, &row);
        state_put(third.store, 2, ALD_KIND_NETWORK,
                "{'Interfaces': [{'Id': 'eth0', 'Type': 'ethernet', 'Carrier': true, "
                "'SpeedBitsPerSecond': 100000000, 'Addresses': ['192.0.2.2/24']}]}");
        check_begins(&third, TEXTS("eth0 on n2 negotiated only 100 Mb/s."));
        g_assert_cmpuint(g_array_index(third.notices, AldAlertNotice, 0).alert->symptoms, ==, 1);
}

static guint count_key(GPtrArray *findings, const char *key)
{
        guint n = 0;

        for (guint i = 0; i < findings->len; i++) {
                g_autofree char *other = ald_alert_key(findings->pdata[i]);

                n += g_str_equal(other, key);
        }
        return n;
}

/* What a place explains is never more than what is wrong, and each trouble has one alert that shows it. */
static void test_random_clusters(void)
{
        for (unsigned round = 0; round < 60; round++) {
                unsigned switches[NODES_MAX], n = (unsigned) g_test_rand_int_range(2, NODES_MAX + 1);
                int odds = g_test_rand_int_range(0, 101);
                g_autoptr(GPtrArray) begun = NULL;
                g_autoptr(GPtrArray) findings = NULL;
                g_auto(Cluster) cluster = {};
                guint shown = 0;

                for (unsigned i = 0; i < n; i++)
                        switches[i] = (unsigned) g_test_rand_int_range(0, 3);
                cluster_init(&cluster, switches, n);
                for (unsigned from = 1; from <= n; from++)
                        for (unsigned to = 1; to <= n; to++)
                                if (from != to && g_test_rand_int_range(0, 100) < 80)
                                        set_link(&cluster, from, to, g_test_rand_int_range(0, 100) >= odds);
                look(&cluster, 0);
                look(&cluster, 30);
                findings = ald_findings_compute(cluster.store, FINDINGS_CONTEXT);
                begun = ald_alerts_begun(cluster.alerts);
                for (guint i = 0; i < begun->len; i++) {
                        const AldAlert *alert = begun->pdata[i];

                        shown += count_key(findings, alert->key);
                        if (alert->row->link_count != ALD_ABSENT_UINT64)
                                g_assert_cmpuint(alert->row->link_count, >=, 3);
                        shown += alert->symptoms;
                }
                g_assert_cmpuint(shown, ==, findings->len);
        }
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/alert-groups/a-switch", test_a_switch);
        g_test_add_func("/alert-groups/a-port", test_a_port);
        g_test_add_func("/alert-groups/an-uplink", test_an_uplink);
        g_test_add_func("/alert-groups/reporters", test_reporters);
        g_test_add_func("/alert-groups/one-switch-of-two", test_one_switch_of_two);
        g_test_add_func("/alert-groups/few-links-are-no-group", test_few_links_are_no_group);
        g_test_add_func("/alert-groups/a-group-shrinks", test_a_group_shrinks);
        g_test_add_func("/alert-groups/nodes-of-a-switch-are-offline", test_nodes_of_a_switch_are_offline);
        g_test_add_func("/alert-groups/what-makes-a-link-slower-than-its-past",
                test_what_makes_a_link_slower_than_its_past);
        g_test_add_func("/alert-groups/random-clusters", test_random_clusters);
        return g_test_run();
}
