/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/unit/findings-check.h"
#include "tests/unit/state-maker.h"

#define DAY (UINT64_C(24) * 3600 * 1000 * 1000)
#define RENEWS                                                                          \
        "Check that the machine on which the cluster was created is running, and that " \
        "alidade-cluster-renewal.timer is active on both; or "

#define BY_HAND(node)                                         \
        "run \"alidadectl cluster renew USER@HOST\" on " node \
        ", where HOST is that machine; on that machine "      \
        "itself, leave out USER@HOST."

static void put_end(AldStore *store, unsigned node, const char *field, int64_t left)
{
        g_autofree char *text = g_strdup_printf(
                "{'ClusterName': 'lab', '%s': %" G_GINT64_FORMAT "}", field, (int64_t) FINDINGS_NOW + left);

        state_put(store, node, ALD_KIND_MEMBERSHIP, text);
        state_put_online(store, node);
}

static void put_presence(AldStore *store, unsigned node, const char *state)
{
        g_autofree char *text = g_strdup_printf("{'State': '%s'}", state);

        state_put(store, node, ALD_KIND_PRESENCE, text);
}

static void test_node(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_end(store, 2, "CertificateExpiryUSec", 31 * DAY);
        g_assert_cmpuint(findings_count_now(store, "certificate-expires"), ==, 0);
        put_end(store, 2, "CertificateExpiryUSec", 20 * DAY);
        findings_check(store, "certificate-expires", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "The certificate of two expires in 20 d.", RENEWS BY_HAND("two"));
        put_end(store, 2, "CertificateExpiryUSec", -1);
        findings_check(store, "certificate-expires", ALD_FINDING_ROW_SEVERITY_ERROR, NODES(2),
                "The certificate of two has expired; no broker accepts it any more.", RENEWS BY_HAND("two"));
        /* That explains why it is offline. */
        put_presence(store, 2, "offline");
        g_assert_cmpuint(findings_count_now(store, "certificate-expires"), ==, 1);
        put_end(store, 2, "CertificateExpiryUSec", 20 * DAY);
        put_presence(store, 2, "offline");
        g_assert_cmpuint(findings_count_now(store, "certificate-expires"), ==, 0);
}

static void test_own(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_end(store, 1, "CertificateExpiryUSec", 3 * DAY / 2);
        findings_check(store, "certificate-expires", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(1),
                "The certificate of one expires in 1 d 12 h.", RENEWS BY_HAND("one"));
}

static void test_broker(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_end(store, 2, "BrokerExpiryUSec", 30 * DAY);
        findings_check(store, "broker-certificate-expires", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2),
                "The certificate of the broker on two expires in 30 d.", RENEWS BY_HAND("two"));
        put_end(store, 2, "BridgeExpiryUSec", -2 * (int64_t) DAY);
        findings_check(store, "bridge-certificate-expires", ALD_FINDING_ROW_SEVERITY_ERROR, NODES(2),
                "The certificate of the bridge on two has expired; the bridge no longer connects the sites.",
                RENEWS "have a new one signed for two with \"alidadectl cluster sign-bridge\"; see "
                       "alidade-cluster(7).");
}

/* It is the same on all nodes. */
static void test_authority(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_end(store, 2, "AuthorityExpiryUSec", 20 * DAY);
        g_assert_cmpuint(findings_count_now(store, "authority-certificate-expires"), ==, 0);
        put_end(store, 1, "AuthorityExpiryUSec", 20 * DAY);
        findings_check(store, "authority-certificate-expires", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(1),
                "The certificate of the authority of cluster lab expires in 20 d.",
                "It cannot be renewed: run \"alidadectl cluster leave\" on each node, then create the "
                "cluster anew "
                "on one of them and join it on the others.");
}

/* A clock that was never set judges nothing. */
static void test_unset_clock(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        g_autoptr(GPtrArray) findings = NULL;

        put_end(store, 2, "CertificateExpiryUSec", 20 * DAY);
        findings = ald_findings_compute(store, &(AldFindingContext){ .real = FINDINGS_NOW });
        g_assert_cmpuint(findings_count(findings, "certificate-expires"), ==, 0);
}

static void test_refused(void)
{
        g_autoptr(AldStore) store = findings_named_store();
        g_autofree char *three = state_id(3), *text = NULL, *remedy = NULL;

        text = g_strdup_printf("{'RefusedPublishers': [{'Id': '%s', 'KeptBytes': 33554432, 'KeptTopics': 31, "
                               "'RefusedMessages': 369}, {'Id': 'nobody', 'RefusedMessages': 5}]}",
                three);
        remedy = g_strdup_printf("If the key of three was stolen, or this does not stop, run \"alidadectl "
                                 "cluster revoke %s\" on the machine on which the cluster was created.",
                three);
        state_put(store, 2, ALD_KIND_MEMBERSHIP, text);
        state_put_online(store, 2);
        findings_check(store, "broker-refuses-node", ALD_FINDING_ROW_SEVERITY_WARNING, NODES(3, 2),
                "The broker on two refuses part of what three publishes, as two reports: it keeps 32.0 MiB "
                "and has refused 369 messages.",
                remedy);
        put_presence(store, 2, "offline");
        g_assert_cmpuint(findings_count_now(store, "broker-refuses-node"), ==, 0);
}

static void test_no_broker(void)
{
        g_autoptr(AldStore) store = findings_named_store();

        put_presence(store, 1, "stale");
        findings_check(store, "no-broker", ALD_FINDING_ROW_SEVERITY_ERROR, NODES(1),
                "This machine cannot reach any broker of its cluster; what it shows of other nodes is out of "
                "date.",
                "Run \"alidadectl cluster status\" to see why; check that the broker is running and that the "
                "network leads to it.");
        state_put(store, 1, ALD_KIND_MEMBERSHIP, "{'ClusterName': 'lab'}");
        findings_check(store, "no-broker", ALD_FINDING_ROW_SEVERITY_ERROR, NODES(1),
                "This machine cannot reach any broker of cluster lab; what it shows of other nodes is out of "
                "date.",
                "Run \"alidadectl cluster status\" to see why; check that the broker is running and that the "
                "network leads to it.");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/findings-membership/node", test_node);
        g_test_add_func("/findings-membership/own", test_own);
        g_test_add_func("/findings-membership/broker", test_broker);
        g_test_add_func("/findings-membership/authority", test_authority);
        g_test_add_func("/findings-membership/unset-clock", test_unset_clock);
        g_test_add_func("/findings-membership/refused", test_refused);
        g_test_add_func("/findings-membership/no-broker", test_no_broker);
        return g_test_run();
}
