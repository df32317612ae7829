/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The answers of alidade-probe-storage. */
#include <errno.h>

#include "services/link-probe/kinds/probe-kinds.h"
#include "services/link-probe/kinds/storage-answer.h"

#define NOW UINT64_C(1700000000000000)
#define PLACE        \
        "\"Id\":\"/" \
        "srv\",\"FileSystemType\":\"ext4\",\"Disks\":[\"sda\"],\"ModelFiles\":2,\"AttemptBytes\":240"
#define FIGURES "\"ReadBytesPerSecond\":1000,\"ReadInterval\":1.5,\"MeasuredUSec\":5"

static void test_arguments(void)
{
        char *more[] = { (char *) "--bytes=5", (char *) "--", (char *) "/srv/models", NULL };
        AldProbeTarget target = { .kind = &ald_probe_storage, .device = (char *) "/srv", .arguments = more };
        g_autoptr(GPtrArray) arguments = ald_probe_storage.make_arguments(NULL, &target);
        g_autofree char *text = NULL;

        g_ptr_array_add(arguments, NULL);
        text = g_strjoinv(" ", (char **) arguments->pdata);
        g_assert_cmpstr(
                text, ==, "--json --progress-fd=3 --file-system=/srv --give-way --bytes=5 -- /srv/models");
        target.force = true;
        g_ptr_array_unref(arguments);
        g_free(text);
        arguments = ald_probe_storage.make_arguments(NULL, &target);
        g_ptr_array_add(arguments, NULL);
        text = g_strjoinv(" ", (char **) arguments->pdata);
        g_assert_cmpstr(text, ==, "--json --progress-fd=3 --file-system=/srv --bytes=5 -- /srv/models");
}

/* A copy has arguments of its own. */
static void test_copy(void)
{
        char *more[] = { (char *) "--bytes=5", NULL };
        const AldProbeTarget target = { .device = (char *) "/srv", .arguments = more };
        AldProbeTarget copy = ald_probe_target_copy(&target);

        g_assert_cmpstr(copy.arguments[0], ==, "--bytes=5");
        g_assert_true(copy.arguments != target.arguments);
        ald_probe_target_clear(&copy);
        g_assert_null(copy.arguments);
}

static void check_failed(const char *output, const char *failure, bool force, const char *reason,
        bool other_work, uint64_t bytes)
{
        g_auto(AldProbeAnswer) answer = { 0 };

        ald_storage_answer_read(output, failure, "/srv", force, &answer);
        g_assert_cmpint(answer.verdict, ==, ALD_PROBE_FAILED);
        g_assert_cmpstr(answer.reason, ==, reason);
        g_assert_cmpint(answer.other_work, ==, other_work);
        g_assert_cmpuint(ald_storage_answer_bytes(&answer), ==, bytes);
}

static void test_failures(void)
{
        check_failed("{\"FileSystems\":[{" PLACE
                     "}],\"Errors\":[{\"Id\":\"/srv\",\"error\":\"busy\",\"message\":\"other programs use "
                     "sda\"}]}",
                NULL, false, "busy: other programs use sda", true, 240);
        check_failed("{\"FileSystems\":[{\"Id\":\"/srv\",\"FileSystemType\":\"ext4\"}],"
                     "\"Errors\":[{\"Id\":\"/srv\",\"error\":\"fresh\"}]}",
                NULL, true, "fresh: no reason", false, 0);
        check_failed("{\"FileSystems\":[{" PLACE "," FIGURES ",\"Flags\":[\"busy\"]}]}", NULL, false,
                "busy: other programs use its disks", true, 240);
        check_failed(
                "{\"FileSystems\":[{" PLACE "}]}", NULL, false, "the probe returned no figures", false, 240);
        check_failed("{\"FileSystems\":[{\"Id\":\"/other\"," FIGURES "}]}", NULL, false,
                "the probe returned no figures", false, 0);
        check_failed("{\"error\":\"no-device\",\"message\":\"no models were found\"}", NULL, false,
                "no models were found", false, 0);
        check_failed("nonsense", NULL, false, "the probe returned no result", false, ALD_ABSENT_UINT64);
        check_failed("", "did not finish in time", false, "the probe did not finish in time", false,
                ALD_ABSENT_UINT64);
}

static AldRecord *read_good(const char *output, const char *id, bool force)
{
        g_auto(AldProbeAnswer) answer = { 0 };

        ald_storage_answer_read(output, NULL, id, force, &answer);
        g_assert_cmpint(answer.verdict, ==, ALD_PROBE_DONE);
        return g_steal_pointer(&answer.result);
}

static void test_result(void)
{
        AldProbeTarget target = { .kind = &ald_probe_storage, .device = (char *) "/srv" };
        g_autoptr(AldRecord) record = NULL, marked = NULL;
        g_auto(AldProbeAnswer) answer = { 0 };
        const AldStorageFileSystem *row;

        ald_storage_answer_read("{\"FileSystems\":[{\"Id\":\"/a\"},{" PLACE "," FIGURES
                                ",\"Flags\":[\"busy\"]}]}\n",
                NULL, "/srv", true, &answer);
        g_assert_cmpint(answer.verdict, ==, ALD_PROBE_DONE);
        g_assert_cmpuint(
                ald_record_as(answer.result, STORAGE_RESULT, AldStorageResult)->file_systems.n, ==, 1);
        g_assert_cmpint(ald_storage_answer_record(&target, &answer, NOW, &record), ==, 0);
        row = ald_rows_at(&ald_record_as(record, STORAGE, AldStorage)->file_systems, 0);
        g_assert_cmpstr(row->id, ==, "/srv");
        g_assert_cmpstr(row->disks[0], ==, "sda");
        g_assert_cmpuint(row->read_bytes_per_second, ==, 1000);
        g_assert_cmpuint(row->attempt_bytes, ==, 240);
        /* The times are those of the service. */
        g_assert_cmpuint(row->measured_usec, ==, NOW);
        g_assert_cmpuint(row->attempted_usec, ==, NOW);
        g_assert_cmpuint(row->used_bytes, ==, ALD_ABSENT_UINT64);
        /* The mark is there already. */
        target.despite_work = true;
        g_assert_cmpint(ald_storage_answer_record(&target, &answer, NOW, &marked), ==, 0);
        row = ald_rows_at(&ald_record_as(marked, STORAGE, AldStorage)->file_systems, 0);
        g_assert_cmpuint(g_strv_length((char **) row->flags), ==, 1);
}

static void test_join(void)
{
        g_autoptr(AldRecord)
                first = read_good("{\"FileSystems\":[{\"Id\":\"/a\"," FIGURES "}]}", "/a", false);
        g_autoptr(AldRecord)
                second = read_good("{\"FileSystems\":[{\"Id\":\"/b\"," FIGURES "}]}", "/b", false);
        g_autoptr(AldRecord) both = NULL;

        g_assert_cmpint(ald_probe_answer_join(first, second, &both), ==, 0);
        g_assert_cmpuint(ald_record_as(both, STORAGE_RESULT, AldStorageResult)->file_systems.n, ==, 2);
}

static void test_progress(void)
{
        g_autofree char *phase = NULL;
        double fraction = -1;

        g_assert_cmpint(ald_storage_progress_read("{\"fraction\":0.5}", &phase, &fraction), ==, -EBADMSG);
        g_assert_cmpint(ald_storage_progress_read("{", &phase, &fraction), <, 0);
        g_assert_null(phase);
        g_assert_cmpint(
                ald_storage_progress_read("{\"phase\":\"read\",\"fraction\":0.5}", &phase, &fraction), ==, 0);
        g_assert_cmpstr(phase, ==, "read");
        g_assert_cmpfloat(fraction, ==, 0.5);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/link-probe-storage/arguments", test_arguments);
        g_test_add_func("/link-probe-storage/copy", test_copy);
        g_test_add_func("/link-probe-storage/failures", test_failures);
        g_test_add_func("/link-probe-storage/result", test_result);
        g_test_add_func("/link-probe-storage/join", test_join);
        g_test_add_func("/link-probe-storage/progress", test_progress);
        return g_test_run();
}
