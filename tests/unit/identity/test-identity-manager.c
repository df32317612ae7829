/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "record/record.h"
#include "services/identity/identity-manager.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"

typedef struct Fixture {
        FakeRoot *root;
        char *state;
        AldIdentityManager *manager;
        AldRecord *last; /* what was published */
        unsigned n_changes;
} Fixture;

static void on_changed(const AldIdentity *identity, void *userdata)
{
        Fixture *f = userdata;

        g_clear_pointer(&f->last, ald_record_unref);
        g_assert_cmpint(ald_record_new(ALD_KIND_IDENTITY, identity, &f->last), ==, 0);
        f->n_changes++;
}

static void start(Fixture *f)
{
        ald_identity_manager_free(f->manager);
        f->manager = ald_identity_manager_new(f->root->fd, f->state);
        ald_identity_manager_watch(f->manager, on_changed, f);
}

static void set_up(Fixture *f, gconstpointer data)
{
        f->root = fake_root_new();
        f->state = g_build_filename(f->root->dir, "state", NULL);
        fake_root_write_all(f->root, "proc/sys/kernel/hostname", "kernel-name\n",
                "sys/class/dmi/id/sys_vendor", "DMI Vendor\n", "sys/class/dmi/id/product_name", "DMI Model\n",
                "sys/class/dmi/id/chassis_type", "3\n", "etc/os-release", "PRETTY_NAME='OS 1'\n", NULL);
        start(f);
}

static void tear_down(Fixture *f, gconstpointer data)
{
        ald_identity_manager_free(f->manager);
        g_clear_pointer(&f->last, ald_record_unref);
        g_free(f->state);
        fake_root_free(f->root);
}

static const AldIdentity *published(const Fixture *f)
{
        return ald_record_as(f->last, IDENTITY, AldIdentity);
}

static void test_start(Fixture *f, gconstpointer data)
{
        g_assert_cmpuint(f->n_changes, ==, 1);
        g_assert_cmpstr(published(f)->friendly_name, ==, "kernel-name");
        g_assert_cmpstr(published(f)->vendor, ==, "DMI Vendor");
        g_assert_cmpstr(published(f)->model_id, ==, "DMI Model");
        g_assert_cmpstr(published(f)->chassis, ==, "desktop");
        g_assert_cmpstr(published(f)->operating_system, ==, "OS 1");
        g_assert_null(published(f)->chip_id);
        g_assert_null(published(f)->hypervisor);
        g_assert_null(published(f)->boot_id);
}

static void check_name(Fixture *f, const AldHostname1 *values, const char *expected)
{
        ald_identity_manager_set_hostname1(f->manager, values);
        g_assert_cmpstr(published(f)->friendly_name, ==, expected);
}

static void test_order_of_names(Fixture *f, gconstpointer data)
{
        check_name(f,
                &(AldHostname1){
                        .pretty_hostname = "Pretty", .static_hostname = "static", .hostname = "transient" },
                "Pretty");
        check_name(f,
                &(AldHostname1){
                        .pretty_hostname = "", .static_hostname = "static", .hostname = "transient" },
                "kernel-name");
        check_name(f, &(AldHostname1){ .pretty_hostname = "  ", .static_hostname = "static" }, "kernel-name");
        check_name(f, &(AldHostname1){ .pretty_hostname = "two\nlines" }, "two lines");
        check_name(f, &(AldHostname1){ 0 }, "kernel-name");

        g_assert_cmpint(ald_identity_manager_set_friendly_name(f->manager, "Given"), ==, 0);
        check_name(f, &(AldHostname1){ .pretty_hostname = "Pretty" }, "Given");
        g_assert_cmpint(ald_identity_manager_set_friendly_name(f->manager, ""), ==, 0);
        g_assert_cmpstr(published(f)->friendly_name, ==, "Pretty");

        fake_root_remove(f->root, "proc/sys/kernel/hostname");
        g_assert_true(ald_identity_manager_reload_host_name(f->manager));
        check_name(f, &(AldHostname1){ .static_hostname = "static", .hostname = "transient" }, "transient");
        check_name(f, &(AldHostname1){ .static_hostname = "static", .hostname = "" }, "static");
        check_name(f, &(AldHostname1){ 0 }, NULL);
}

/* The kernel's name before anybody gave one, and those that each machine has for itself. */
static void test_names_that_are_none(Fixture *f, gconstpointer data)
{
        static const char *const names[] = { "(none)", "localhost", "LOCALHOST", "localhost.localdomain",
                "localhost.example.org", "localhost6", "Unknown" };

        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
                g_autofree char *line = g_strconcat(names[i], "\n", NULL);

                fake_root_write(f->root, "proc/sys/kernel/hostname", line);
                g_assert_true(ald_identity_manager_reload_host_name(f->manager));
                check_name(f, &(AldHostname1){ .pretty_hostname = names[i], .hostname = names[i] }, NULL);
                check_name(f, &(AldHostname1){ .hostname = names[i], .static_hostname = "static" }, "static");
        }
        fake_root_write(f->root, "proc/sys/kernel/hostname", "localhosts\n");
        g_assert_true(ald_identity_manager_reload_host_name(f->manager));
        check_name(f, &(AldHostname1){ .static_hostname = "static" }, "localhosts");
}

/* hostname1 passes on what DMI has. */
static void test_hostname1_without_a_name(Fixture *f, gconstpointer data)
{
        ald_identity_manager_set_hostname1(
                f->manager, &(AldHostname1){ .vendor = "To Be Filled By O.E.M.", .model = "Default_String" });
        g_assert_cmpstr(published(f)->vendor, ==, "DMI Vendor");
        g_assert_cmpstr(published(f)->model_id, ==, "DMI Model");
}

static void test_refresh(Fixture *f, gconstpointer data)
{
        unsigned before = f->n_changes;

        g_assert_false(ald_identity_manager_refresh(f->manager));
        g_assert_cmpuint(f->n_changes, ==, before);
        fake_root_write(f->root, "etc/os-release", "PRETTY_NAME='OS 2'\n");
        g_assert_true(ald_identity_manager_refresh(f->manager));
        g_assert_cmpstr(published(f)->operating_system, ==, "OS 2");
        fake_root_write(f->root, "sys/class/dmi/id/product_name", "Another Model\n");
        g_assert_true(ald_identity_manager_refresh(f->manager));
        g_assert_cmpstr(published(f)->model_id, ==, "Another Model");
        g_assert_false(ald_identity_manager_refresh(f->manager));
}

/* What cannot be read is logged when it is collected, not each time that it is looked at. */
static void test_refresh_is_quiet(Fixture *f, gconstpointer data)
{
        fake_root_remove(f->root, "etc/os-release");
        fake_root_mkdir(f->root, "etc/os-release");
        log_count_reset();
        g_assert_true(ald_identity_manager_refresh(f->manager));
        g_assert_cmpuint(log_count(""), ==, 1);
        g_assert_false(ald_identity_manager_refresh(f->manager));
        g_assert_cmpuint(log_count(""), ==, 1);
}

static void test_hostname1_wins(Fixture *f, gconstpointer data)
{
        ald_identity_manager_set_hostname1(f->manager,
                &(AldHostname1){ .vendor = "H1 Vendor", .model = "H1 Model", .chassis = "tablet" });
        g_assert_cmpstr(published(f)->vendor, ==, "H1 Vendor");
        g_assert_cmpstr(published(f)->model_id, ==, "H1 Model");
        g_assert_cmpstr(published(f)->chassis, ==, "tablet");
        ald_identity_manager_set_hostname1(
                f->manager, &(AldHostname1){ .vendor = "", .model = "H1 Model", .chassis = "" });
        g_assert_cmpstr(published(f)->vendor, ==, "DMI Vendor");
        g_assert_cmpstr(published(f)->model_id, ==, "H1 Model");
        g_assert_cmpstr(published(f)->chassis, ==, "desktop");
}

static void test_name_is_kept(Fixture *f, gconstpointer data)
{
        g_assert_cmpint(ald_identity_manager_set_friendly_name(f->manager, "Kept"), ==, 0);
        start(f);
        g_assert_cmpstr(published(f)->friendly_name, ==, "Kept");
}

static void test_name_not_stored(Fixture *f, gconstpointer data)
{
        unsigned before;

        g_assert_cmpint(ald_identity_manager_set_friendly_name(f->manager, "Old"), ==, 0);
        before = f->n_changes;
        fake_root_remove(f->root, "state");
        fake_root_write(f->root, "state", "in the way");
        g_assert_cmpint(ald_identity_manager_set_friendly_name(f->manager, "New"), <, 0);
        g_assert_cmpint(ald_identity_manager_set_friendly_name(f->manager, ""), <, 0);
        g_assert_cmpstr(published(f)->friendly_name, ==, "Old");
        g_assert_cmpuint(f->n_changes, ==, before);
}

static void test_reload(Fixture *f, gconstpointer data)
{
        ald_identity_manager_set_hostname1(f->manager, &(AldHostname1){ .pretty_hostname = "Pretty" });
        fake_root_write(f->root, "etc/os-release", "PRETTY_NAME='OS 2'\n");
        ald_identity_manager_reload(f->manager);
        g_assert_cmpstr(published(f)->operating_system, ==, "OS 2");
        g_assert_cmpstr(published(f)->friendly_name, ==, "Pretty");
}

static void test_host_name(Fixture *f, gconstpointer data)
{
        unsigned before = f->n_changes;

        g_assert_false(ald_identity_manager_reload_host_name(f->manager));
        g_assert_cmpuint(f->n_changes, ==, before);
        fake_root_write(f->root, "proc/sys/kernel/hostname", "renamed\n");
        g_assert_true(ald_identity_manager_reload_host_name(f->manager));
        g_assert_cmpstr(published(f)->friendly_name, ==, "renamed");
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
#define ADD(name, function) g_test_add("/identity/manager/" name, Fixture, NULL, set_up, function, tear_down)
        ADD("start", test_start);
        ADD("order-of-names", test_order_of_names);
        ADD("names-that-are-none", test_names_that_are_none);
        ADD("hostname1-without-a-name", test_hostname1_without_a_name);
        ADD("refresh", test_refresh);
        ADD("refresh-is-quiet", test_refresh_is_quiet);
        ADD("hostname1-wins", test_hostname1_wins);
        ADD("name-is-kept", test_name_is_kept);
        ADD("name-not-stored", test_name_not_stored);
        ADD("reload", test_reload);
        ADD("host-name", test_host_name);
        return g_test_run();
}
