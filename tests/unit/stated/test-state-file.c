/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib/gstdio.h>
#include <unistd.h>

#include "services/state/state-file.h"
#include "tests/unit/fake-root.h"
#include "tests/unit/log-count.h"
#include "tests/unit/record-maker.h"

static const AldStoreLimits roomy = {
        .max_shown_nodes = 1000,
        .max_shown_bytes = SIZE_MAX / 2,
        .max_nodes = 1000,
        .max_links_per_node = 1000,
        .max_bytes = SIZE_MAX / 2,
};

static bool exists(FakeRoot *root, const char *name)
{
        g_autofree char *path = g_build_filename(root->dir, name, NULL);

        return g_access(path, F_OK) == 0;
}

/* What the state service does at its start; the file must never be fatal. */
static AldStore *load(FakeRoot *root, AldStateFile **ret_file)
{
        const AldId local = id_make(1);
        AldStore *store;

        g_setenv("STATE_DIRECTORY", root->dir, TRUE);
        log_count_reset();
        *ret_file = ald_state_file_new();
        store = ald_state_file_load(*ret_file, &local, &roomy, 1);
        ald_state_file_begin_saving(*ret_file, store);
        return store;
}

/* Starts once; returns the epoch, and whether the dear record was there. */
static uint64_t start(FakeRoot *root, bool *ret_kept)
{
        const AldId local = id_make(1);
        AldStateFile *file;
        g_autoptr(AldStore) store = load(root, &file);
        AldEntry *entry = ald_store_find(store, &local, ALD_KIND_COMPUTE, "");

        *ret_kept = entry && entry->record;
        ald_state_file_free(file);
        return ald_store_epoch(store);
}

static void keep_a_record(FakeRoot *root)
{
        AldStateFile *file;
        g_autoptr(AldStore) store = load(root, &file);
        g_autoptr(AldRecord) record = record_random(ALD_KIND_COMPUTE);

        g_assert_cmpint(ald_store_put_local(store, ALD_KIND_COMPUTE, "", record, 5, 1), ==, ALD_PUT_TAKEN);
        ald_state_file_save(file, store);
        ald_state_file_free(file);
}

static void test_kept(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        uint64_t first, second;
        bool kept;

        keep_a_record(root);
        first = start(root, &kept);
        g_assert_true(kept);
        second = start(root, &kept);
        g_assert_true(kept);
        g_assert_cmpuint(second, >, first);
        g_assert_cmpuint(log_count(""), ==, 0);
        g_assert_false(exists(root, "state.json.damaged"));
}

static void test_epoch_outruns_the_clock(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        const uint64_t tonight = (uint64_t) g_get_real_time() + 10 * UINT64_C(3600000000);
        g_autofree char *saved = g_strdup_printf(
                "{\"version\":1,\"epoch\":%" G_GUINT64_FORMAT ",\"records\":[]}", tonight);
        bool kept;

        fake_root_write(root, "state.json", saved);
        g_assert_cmpuint(start(root, &kept), ==, tonight + 1);
        g_assert_cmpuint(start(root, &kept), ==, tonight + 2);
}

/* Nobody would take its records. */
static void test_epoch_of_a_clock_that_was_wrong(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        const uint64_t now = (uint64_t) g_get_real_time();
        uint64_t epoch;
        bool kept;

        fake_root_write(root, "state.json", "{\"version\":1,\"epoch\":9000000000000000,\"records\":[]}");
        epoch = start(root, &kept);
        g_assert_cmpuint(epoch, >=, now);
        g_assert_cmpuint(epoch, <, now + 3600 * UINT64_C(1000000));
}

static void test_damaged(void)
{
        static const char *const damages[] = {
                "",
                "{\"version\":1,\"epo",
                "[]",
                "{\"version\":2,\"epoch\":1,\"records\":[]}",
                "{\"version\":1,\"epoch\":-1,\"records\":[]}",
                "{\"version\":1,\"epoch\":9007199254740993,\"records\":[]}",
                "{\"version\":1,\"epoch\":1,\"records\":[{}]}",
                ("{\"version\":1,\"epoch\":1,\"records\":[{\"node\":\"00000000000000000000000000000002\","
                 "\"kind\":\"Node1.Compute\",\"epoch\":1,\"seq\":1,\"updated\":1,\"fields\":{}}]}"),
        };

        for (size_t i = 0; i < G_N_ELEMENTS(damages); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();
                g_autofree char *path = g_build_filename(root->dir, "state.json.damaged", NULL);
                g_autofree char *aside = NULL;
                bool kept;

                fake_root_write(root, "state.json", damages[i]);
                start(root, &kept);
                g_assert_false(kept);
                g_assert_cmpuint(log_count("is damaged"), ==, 1);
                g_assert_true(g_file_get_contents(path, &aside, NULL, NULL));
                g_assert_cmpstr(aside, ==, damages[i]);
                /* In its place stands a good one. */
                start(root, &kept);
                g_assert_cmpuint(log_count(""), ==, 0);
        }
}

/* What cannot be read now may be worth something yet, so it is not written over. */
static void test_unreadable(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        bool kept;

        fake_root_write(root, "state.json/inside", "dear");
        start(root, &kept);
        g_assert_cmpuint(log_count("renaming it to"), ==, 1);
        g_assert_true(exists(root, "state.json.damaged/inside"));
        start(root, &kept);
        g_assert_cmpuint(log_count(""), ==, 0);
        fake_root_remove(root, "state.json.damaged");

        if (geteuid() == 0) {
                g_test_skip("root may read everything");
                return;
        }
        keep_a_record(root);
        g_autofree char *path = g_build_filename(root->dir, "state.json", NULL);
        g_assert_cmpint(g_chmod(path, 0), ==, 0);
        start(root, &kept);
        g_assert_false(kept);
        g_assert_true(exists(root, "state.json.damaged"));
}

static void test_directory_is_missing(void)
{
        g_autoptr(FakeRoot) root = fake_root_new();
        g_autofree char *missing = g_build_filename(root->dir, "missing", NULL);
        const AldId local = id_make(1);

        g_setenv("STATE_DIRECTORY", missing, TRUE);
        log_count_reset();
        AldStateFile *file = ald_state_file_new();
        g_autoptr(AldStore) store = ald_state_file_load(file, &local, &roomy, 1);
        ald_state_file_begin_saving(file, store);
        g_assert_cmpuint(log_count("Failed to save results"), ==, 1);
        fake_root_mkdir(root, "missing");
        ald_state_file_save(file, store);
        g_assert_cmpuint(log_count("is writable again"), ==, 1);
        g_assert_true(exists(root, "missing/state.json"));
        ald_state_file_free(file);
}

/* Another process may own the name of the service. */
static void test_nothing_is_written_before_the_name_is_owned(void)
{
        static const char *const contents[] = { "{\"version\":1,\"epoch\":5,\"records\":[]}", "damaged" };

        for (size_t i = 0; i < G_N_ELEMENTS(contents); i++) {
                g_autoptr(FakeRoot) root = fake_root_new();
                g_autofree char *path = g_build_filename(root->dir, "state.json", NULL), *text = NULL;
                const AldId local = id_make(1);
                AldStateFile *file;
                AldStore *store;

                fake_root_write(root, "state.json", contents[i]);
                fake_root_write(root, "state.json.AB12cd", "half");
                g_setenv("STATE_DIRECTORY", root->dir, TRUE);
                file = ald_state_file_new();
                store = ald_state_file_load(file, &local, &roomy, 1);
                ald_state_file_save(file, store);
                ald_state_file_free(file);
                ald_store_free(store);
                g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
                g_assert_cmpstr(text, ==, contents[i]);
                g_assert_true(exists(root, "state.json.AB12cd"));
                g_assert_false(exists(root, "state.json.damaged"));
        }
}

/* It was killed while it wrote. */
static void test_leftovers(void)
{
        static const char *const left[] = { "state.json.AB12cd", "state.json.ZZZZZZ" };
        static const char *const others[] = { "state.json.damaged", "state.json.AB12c", "state.json.AB12cde",
                "state.json-AB12cd", "crl.pem.AB12cd" };
        g_autoptr(FakeRoot) root = fake_root_new();
        bool kept;

        keep_a_record(root);
        for (size_t i = 0; i < G_N_ELEMENTS(left); i++)
                fake_root_write(root, left[i], "half");
        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                fake_root_write(root, others[i], "whole");
        start(root, &kept);
        g_assert_true(kept);
        for (size_t i = 0; i < G_N_ELEMENTS(left); i++)
                g_assert_false(exists(root, left[i]));
        for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
                g_assert_true(exists(root, others[i]));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/state-file/kept", test_kept);
        g_test_add_func("/state-file/epoch-outruns-the-clock", test_epoch_outruns_the_clock);
        g_test_add_func("/state-file/epoch-of-a-clock-that-was-wrong", test_epoch_of_a_clock_that_was_wrong);
        g_test_add_func("/state-file/damaged", test_damaged);
        g_test_add_func("/state-file/unreadable", test_unreadable);
        g_test_add_func("/state-file/leftovers", test_leftovers);
        g_test_add_func("/state-file/nothing-is-written-before-the-name-is-owned",
                test_nothing_is_written_before_the_name_is_owned);
        g_test_add_func("/state-file/directory-is-missing", test_directory_is_missing);
        return g_test_run();
}
