/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "state/alerts/alert-key.h"
#include "tests/unit/findings-check.h"
#include "tests/unit/state-maker.h"

#define ID "configuration-refused"
#define RELOAD_ALL                                                                                       \
        "Correct it as alidade.conf(5) describes, then run \"systemctl reload 'alidade-*.service'\" on " \
        "two."

static AldStore *store_with(const char *row)
{
        AldStore *store = findings_named_store();
        g_autofree char *text = g_strdup_printf("{'Problems': [{'Id': 'a'%s}]}", row);

        state_put(store, 2, ALD_KIND_CONFIGURATION, text);
        state_put_online(store, 2);
        return store;
}

static void check(const char *row, const char *text, const char *remedy)
{
        g_autoptr(AldStore) store = store_with(row);

        findings_check(store, ID, ALD_FINDING_ROW_SEVERITY_WARNING, NODES(2), text, remedy);
}

static void test_words(void)
{
        check(", 'Service': 'alidade-stated', 'File': '/etc/a.conf', 'Line': 12, 'Group': 'state', "
              "'Key': 'max-nodes', 'Reason': 'too large'",
                "On two, alidade-stated refuses [state] max-nodes in line 12 of /etc/a.conf: too large.",
                "Correct it as alidade.conf(5) describes, then run \"systemctl reload alidade-stated\" on "
                "two.");
        check(", 'File': '/etc/a.conf', 'Line': 12, 'Group': 'state', 'Key': 'max-nodes', "
              "'Reason': 'too large'",
                "On two, [state] max-nodes in line 12 of /etc/a.conf is refused: too large.", RELOAD_ALL);
        check(", 'File': '/etc/a.conf', 'Line': 3, 'Group': 'stat', 'Reason': 'unknown group'",
                "On two, [stat] in line 3 of /etc/a.conf is refused: unknown group.", RELOAD_ALL);
        check(", 'File': '/etc/a.conf', 'Reason': 'left out: too large'",
                "The configuration of two is incomplete, see /etc/a.conf: left out: too large.", RELOAD_ALL);
        check(", 'File': '/etc/a.conf', 'Line': 7, 'Reason': 'left out: no key'",
                "The configuration of two is incomplete, see line 7 of /etc/a.conf: left out: no key.",
                RELOAD_ALL);
}

/* Another version may leave out anything, and add fields. */
static void test_missing_fields(void)
{
        check(", 'File': '/etc/a.conf', 'Value': 'a'",
                "The configuration of two is incomplete, see /etc/a.conf.", RELOAD_ALL);
        check("", "The configuration of two is incomplete.", RELOAD_ALL);
}

/* A peer chooses the name, and people copy the command of the remedy. */
static void test_name_of_service(void)
{
        static const char *const names[] = { "alidade-stated; reboot", "sshd", "alidade-\\\" -x", "" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *row = g_strdup_printf(
                        ", 'Service': '%s', 'File': '/a', 'Group': 'b', 'Key': 'c', 'Reason': 'd'", names[i]);

                check(row, "On two, [b] c in /a is refused: d.", RELOAD_ALL);
        }
}

static void test_end(void)
{
        g_autoptr(AldStore) store = store_with(", 'File': '/a', 'Reason': 'b'");

        state_put(store, 2, ALD_KIND_PRESENCE, "{'State': 'offline'}");
        g_assert_cmpuint(findings_count_now(store, ID), ==, 0);
        state_put_online(store, 2);
        g_assert_cmpuint(findings_count_now(store, ID), ==, 1);
        state_put(store, 2, ALD_KIND_CONFIGURATION, "{'Problems': []}");
        g_assert_cmpuint(findings_count_now(store, ID), ==, 0);
}

/* It is the same finding when its line moves, or when another service reports it as well. */
static void test_identity(void)
{
        AldFindingRow row = ALD_FINDING_ROW_INIT;
        g_autofree char *key = NULL, *moved = NULL, *other = NULL;

        row.id = ID;
        row.path = "/a";
        row.group = "state";
        row.key = "max-nodes";
        row.line = 3;
        row.service = "alidade-stated";
        key = ald_alert_key(&row);
        row.line = 4;
        row.service = NULL;
        moved = ald_alert_key(&row);
        row.key = "expiry-h";
        other = ald_alert_key(&row);
        g_assert_cmpstr(key, ==, moved);
        g_assert_cmpstr(key, !=, other);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/findings-configuration/words", test_words);
        g_test_add_func("/findings-configuration/missing-fields", test_missing_fields);
        g_test_add_func("/findings-configuration/name-of-service", test_name_of_service);
        g_test_add_func("/findings-configuration/end", test_end);
        g_test_add_func("/findings-configuration/identity", test_identity);
        return g_test_run();
}
