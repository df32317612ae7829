/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/broker/quota.h"

#define MIB ((size_t) 1024 * 1024)
#define NOW (UINT64_C(1000) * G_USEC_PER_SEC)
#define NODE "0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210"

static char *topic(unsigned i)
{
        return g_strdup_printf("alidade/1/lab/" NODE "/Link1.Socket/%u", i);
}

/* How many topics of this size a node gets in, with so much time between that its rate is no bound. */
static unsigned fill(AldQuota *quota, size_t size)
{
        for (unsigned i = 0;; i++) {
                g_autofree char *name = topic(i);

                if (!ald_quota_admit(quota, NODE, name, size, true, NOW + i * 60 * G_USEC_PER_SEC))
                        return i;
        }
}

static void test_kept(void)
{
        g_autoptr(AldQuota) quota = ald_quota_new();
        g_autofree char *first = topic(0);
        uint64_t later = NOW + UINT64_C(1000000) * G_USEC_PER_SEC;

        g_assert_cmpuint(fill(quota, MIB), ==, ALD_QUOTA_KEPT_BYTES / MIB - 1);
        /* Another one has its own share, what is there can be replaced, and what is not kept passes. */
        g_assert_true(ald_quota_admit(quota, OTHER, "alidade/1/lab/" OTHER "/status", MIB, true, later));
        g_assert_true(ald_quota_admit(quota, NODE, first, MIB, true, later));
        g_assert_true(ald_quota_admit(quota, NODE, "alidade/1/lab/" NODE "/alive", MIB, false, later));
        g_assert_false(ald_quota_admit(quota, NODE, "alidade/1/lab/" NODE "/crl", MIB, true, later));
        /* What is cleared makes room. */
        g_assert_true(ald_quota_admit(quota, NODE, first, 0, true, later));
        g_assert_true(ald_quota_admit(quota, NODE, "alidade/1/lab/" NODE "/crl", MIB, true, later));
}

static void test_topics_cost(void)
{
        g_autoptr(AldQuota) quota = ald_quota_new();
        unsigned n = fill(quota, 1);

        g_assert_cmpuint(n, >, 40000); /* as many as a node has, at most, twice */
        g_assert_cmpuint(n, <=, ALD_QUOTA_KEPT_BYTES / ALD_QUOTA_TOPIC_BYTES);
}

static void test_rate(void)
{
        g_autoptr(AldQuota) quota = ald_quota_new();
        g_autofree char *name = topic(0), *longer = g_strnfill(ALD_QUOTA_TOPIC_MAX + 1, 'x');
        unsigned n = 0;

        while (ald_quota_admit(quota, NODE, name, MIB, false, NOW))
                n++;
        g_assert_cmpuint(n, ==, ALD_QUOTA_BURST_BYTES / MIB);
        for (unsigned second = 1; second <= 10; second++)
                n += ald_quota_admit(quota, NODE, name, MIB, false, NOW + second * G_USEC_PER_SEC);
        g_assert_cmpuint(n, ==, ALD_QUOTA_BURST_BYTES / MIB + 10);
        n = 0;
        while (ald_quota_admit(quota, OTHER, name, 0, false, NOW))
                n++;
        g_assert_cmpuint(n, ==, ALD_QUOTA_BURST_MESSAGES);
        g_assert_false(ald_quota_admit(quota, OTHER, longer, 0, false, NOW + G_USEC_PER_SEC));
}

/* What is earned between two messages is not lost, whatever part of it is used. */
static void test_rate_of_uneven_messages(void)
{
        g_autoptr(AldQuota) quota = ald_quota_new();
        g_autofree char *name = topic(0);
        const uint64_t pause = 19 * G_USEC_PER_SEC / 10 / ALD_QUOTA_RATE_MESSAGES;
        const size_t size = (size_t) (ALD_QUOTA_RATE_BYTES * pause / G_USEC_PER_SEC) - 8;
        uint64_t now = NOW;

        while (ald_quota_admit(quota, NODE, name, MIB, false, now))
                ;
        for (unsigned i = 0; i < 10000; i++) {
                now += pause;
                if (i > 10)
                        g_assert_true(ald_quota_admit(quota, NODE, name, size, false, now));
        }
}

static void test_refused(void)
{
        g_autoptr(AldQuota) quota = ald_quota_new();
        const AldQuotaAccount *found[2] = { NULL, NULL };

        g_assert_true(ald_quota_admit(quota, OTHER, "t", 1, true, NOW));
        g_assert_cmpuint(ald_quota_find_refused(quota, 0, found, 2), ==, 0);
        g_assert_false(ald_quota_admit(quota, OTHER, "t", 100 * MIB, true, NOW));
        for (unsigned i = 0; i < 2; i++)
                g_assert_false(ald_quota_admit(quota, NODE, "t", 100 * MIB, true, NOW));
        g_assert_cmpuint(ald_quota_find_refused(quota, NOW, found, 2), ==, 2);
        g_assert_cmpstr(found[0]->node, ==, NODE);
        g_assert_cmpuint(found[0]->refused, ==, 2);
        g_assert_cmpstr(found[1]->node, ==, OTHER);
        g_assert_cmpuint(found[1]->kept_topics, ==, 1);
        g_assert_cmpuint(ald_quota_find_refused(quota, NOW, found, 1), ==, 1);
        g_assert_cmpstr(found[0]->node, ==, NODE);
        g_assert_cmpuint(ald_quota_find_refused(quota, NOW + 1, found, 2), ==, 0);
}

/* What the broker was found to keep counts as if it had been let in. */
static void test_noted(void)
{
        g_autoptr(AldQuota) quota = ald_quota_new();
        uint64_t later = NOW + UINT64_C(3600) * G_USEC_PER_SEC;

        for (unsigned i = 0; i < 40; i++) {
                g_autofree char *name = topic(i);

                ald_quota_note(quota, NODE, name, MIB, NOW);
        }
        for (unsigned i = 0; i < 2; i++) {
                g_autofree char *name = topic(i), *fresh = topic(100 + i);

                g_assert_false(ald_quota_admit(quota, NODE, fresh, MIB, true, later));
                /* It may be replaced by what is no larger, and cleared. */
                g_assert_true(ald_quota_admit(quota, NODE, name, MIB, true, later));
                g_assert_true(ald_quota_admit(quota, NODE, name, 0, true, later));
        }
        ald_quota_note(quota, NODE, "t", 0, NOW);
        g_assert_true(ald_quota_admit(quota, NODE, "t", MIB, true, later));
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/broker-quota/kept", test_kept);
        g_test_add_func("/broker-quota/topics-cost", test_topics_cost);
        g_test_add_func("/broker-quota/rate", test_rate);
        g_test_add_func("/broker-quota/rate-of-uneven-messages", test_rate_of_uneven_messages);
        g_test_add_func("/broker-quota/refused", test_refused);
        g_test_add_func("/broker-quota/noted", test_noted);
        return g_test_run();
}
