/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "services/cluster/mqtt/brokers.h"

static void on_first_changed(AldBroker *first, void *userdata)
{
        g_assert_not_reached(); /* none is ever connected here */
}

static void on_changed(void *userdata)
{
}

static const AldBrokersHandler handler = { .first_changed = on_first_changed, .changed = on_changed };

static void configure(AldBrokers *brokers, const char *const *texts, size_t n)
{
        AldBrokerAddress addresses[4];

        for (size_t i = 0; i < n; i++)
                g_assert_cmpint(ald_broker_address_parse(texts[i], &addresses[i], NULL), ==, 0);
        ald_brokers_configure(brokers, addresses, n);
        g_assert_cmpuint(ald_brokers_count(brokers), ==, n);
}

/* Whatever they are called, and as long as they are there. */
static void test_numbers(void)
{
        static const char *const texts[] = { "10.77.0.2", "10.77.0.3", "10.77.0.4", "host1" };
        AldBrokers *brokers = ald_brokers_new(&handler, NULL);
        uint32_t numbers[G_N_ELEMENTS(texts)];

        configure(brokers, texts, G_N_ELEMENTS(texts));
        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                numbers[i] = ald_broker_number(ald_brokers_get(brokers, i));
                g_assert_cmpuint(numbers[i], !=, 0);
                for (size_t j = 0; j < i; j++)
                        g_assert_cmpuint(numbers[i], !=, numbers[j]);
        }
        configure(brokers, texts + 1, 2);
        g_assert_cmpuint(ald_broker_number(ald_brokers_get(brokers, 0)), ==, numbers[1]);
        g_assert_cmpuint(ald_broker_number(ald_brokers_get(brokers, 1)), ==, numbers[2]);
        configure(brokers, texts, 1);
        g_assert_cmpuint(ald_broker_number(ald_brokers_get(brokers, 0)), >, numbers[3]);
        ald_brokers_free(brokers);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/cluster-brokers/numbers", test_numbers);
        return g_test_run();
}
