/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of holders from all sources, what is work among them, and what is shown of them to whom. */
#include <string.h>

#include "record/message.h"
#include "services/telemetry/holders/holder-rows.h"
#include "services/telemetry/holders/work-watch.h"

#define MIB (UINT64_C(1024) * 1024)
#define NVIDIA "0000:01:00.0"
#define RADEON "0000:03:00.0"
#define ARC "0000:04:00.0"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const AldGpuTarget nvidia = { .id = NVIDIA,
        .driver = "nvidia",
        .memory_bytes = 1000 * MIB,
        .is_listed = true,
        .is_listed_fully = true };
static const AldGpuTarget radeon = {
        .id = RADEON, .driver = "amdgpu", .memory_bytes = 1000 * MIB, .is_listed = true
};
static const AldGpuTarget arc = { .id = ARC, .driver = "xe", .memory_bytes = 1000 * MIB };

typedef struct Case {
        GArray *targets, *processes;
        AldRecord *answer;
        AldHolderList *list;
        AldHolderRows *rows;
        GString *text;
        uint64_t unlisted;
} Case;

static Case *begin(void)
{
        Case *fixture = g_new0(Case, 1);

        fixture->targets = g_array_new(FALSE, FALSE, sizeof(AldGpuTarget));
        fixture->processes = g_array_new(FALSE, FALSE, sizeof(AldGpuProcess));
        fixture->rows = ald_holder_rows_new();
        fixture->text = g_string_new(NULL);
        g_array_append_val(fixture->targets, nvidia);
        g_array_append_val(fixture->targets, radeon);
        g_array_append_val(fixture->targets, arc);
        return fixture;
}

static void end(Case *fixture)
{
        g_array_unref(fixture->targets);
        g_array_unref(fixture->processes);
        g_clear_pointer(&fixture->answer, ald_record_unref);
        ald_holder_list_free(fixture->list);
        ald_holder_rows_free(fixture->rows);
        g_string_free(fixture->text, TRUE);
        g_free(fixture);
}

static void add(Case *fixture, const char *device, guint pid, bool computes, uint64_t mib, double usage)
{
        g_array_append_val(fixture->processes,
                ((AldGpuProcess){ device, pid, computes,
                        mib == ALD_ABSENT_UINT64 ? ALD_ABSENT_UINT64 : mib * MIB, usage }));
}

/* Merges what was added with an answer of the witness in JSON, or none. */
static void merge(Case *fixture, const char *answer)
{
        g_autofree char *reason = NULL;

        g_clear_pointer(&fixture->list, ald_holder_list_free);
        g_clear_pointer(&fixture->answer, ald_record_unref);
        fixture->list = ald_holder_list_new(fixture->targets, fixture->processes, fixture->unlisted);
        if (!answer)
                return;
        g_assert_cmpint(ald_message_parse(ALD_KIND_PROCESSES_ANSWER, answer, strlen(answer), 256 * 1024,
                                &fixture->answer, &reason),
                >=, 0);
        ald_holder_list_add_witnessed(
                fixture->list, ald_record_as(fixture->answer, PROCESSES_ANSWER, AldProcessesAnswer));
}

static const char *describe(Case *fixture)
{
        g_string_truncate(fixture->text, 0);
        for (guint i = 0; i < fixture->rows->holders->len; i++) {
                const AldHolder *row = &g_array_index(fixture->rows->holders, AldHolder, i);

                g_string_append_printf(fixture->text, "%s %s %s %u", row->id, row->owner_kind ?: "-",
                        row->owner ?: "-", (unsigned) row->processes);
                if (row->memory_bytes != ALD_ABSENT_UINT64)
                        g_string_append_printf(fixture->text, " %uM", (unsigned) (row->memory_bytes / MIB));
                if (!isnan(row->usage))
                        g_string_append_printf(fixture->text, " %.0f%%", row->usage);
                if (row->pid != ALD_ABSENT_UINT64)
                        g_string_append_printf(fixture->text, " pid %u", (unsigned) row->pid);
                if (row->program || row->user)
                        g_string_append_printf(
                                fixture->text, " %s of %s", row->program ?: "-", row->user ?: "-");
                g_string_append_c(fixture->text, '\n');
        }
        return fixture->text->str;
}

static const char *for_cluster(Case *fixture, AldSharing sharing)
{
        ald_holder_rows_for_cluster(fixture->rows, fixture->list, sharing);
        return describe(fixture);
}

static const char *for_user(Case *fixture, uid_t uid)
{
        ald_holder_rows_for_user(fixture->rows, fixture->list, uid);
        return describe(fixture);
}

static const char *devices(Case *fixture)
{
        ald_holder_rows_for_cluster(fixture->rows, fixture->list, ALD_SHARING_NONE);
        g_assert_cmpuint(fixture->rows->holders->len, ==, 0);
        g_string_truncate(fixture->text, 0);
        for (guint i = 0; i < fixture->rows->devices->len; i++) {
                const AldHeldDevice *row = &g_array_index(fixture->rows->devices, AldHeldDevice, i);

                g_string_append_printf(fixture->text, "%s %u", row->id, (unsigned) row->holders);
                if (row->held_bytes != ALD_ABSENT_UINT64)
                        g_string_append_printf(fixture->text, " %uM", (unsigned) (row->held_bytes / MIB));
                g_string_append(fixture->text, "; ");
        }
        return fixture->text->str;
}

#define PROCESSES                                                                                            \
        "\"Processes\":[{\"Id\":\"10\",\"Program\":\"ollama\",\"Uid\":990,\"User\":\"ollama\","              \
        "\"ControlGroup\":"                                                                                  \
        "\"/system.slice/"                                                                                   \
        "ollama.service\"},{\"Id\":\"11\",\"Program\":\"ollama\",\"Uid\":990,"                               \
        "\"ControlGroup\":\"/system.slice/"                                                                  \
        "ollama.service\"},{\"Id\":\"20\",\"Program\":\"python3\",\"Uid\":1000,"                             \
        "\"User\":\"alice\",\"ControlGroup\":\"/user.slice/user-1000.slice/"                                 \
        "session-1.scope\"},{\"Id\":\"21\","                                                                 \
        "\"Program\":\"blender\",\"Uid\":1001,\"User\":\"bob\",\"ControlGroup\":\"/user.slice/x\"},{\"Id\":" \
        "\"30\",\"Program\":\"train\",\"Uid\":0,\"User\":\"root\",\"ControlGroup\":\"/docker/" ID "\"}]"

#define CLIENT(pid, device, more) \
        "{\"Id\":\"" pid "," device "\",\"Process\":\"" pid "\",\"Device\":\"" device "\"" more "}"

static void fill(Case *fixture)
{
        add(fixture, NVIDIA, 10, true, 300, 40);
        add(fixture, NVIDIA, 11, true, 100, 30);
        add(fixture, NVIDIA, 20, true, 50, ALD_ABSENT_DOUBLE);
        add(fixture, NVIDIA, 21, false, 20, 0);
        add(fixture, RADEON, 30, true, 500, ALD_ABSENT_DOUBLE);
        merge(fixture, "{\"Complete\":true," PROCESSES ",\"Clients\":["
                /* The same holder as by KFD, which knows less of its memory. */
                CLIENT("30", RADEON, ",\"MemoryBytes\":629145600,\"Usage\":70") "," CLIENT(
                        "21", ARC, ",\"MemoryBytes\":1048576,\"Usage\":3") ","
                /* NVML knows better, and one that passes the device on holds nothing. */
                CLIENT("99", NVIDIA, ",\"MemoryBytes\":5") "," CLIENT("98", ARC, ",\"MemoryBytes\":0") "]}");
}

static void test_levels(void)
{
        Case *fixture = begin();

        fill(fixture);
        g_assert_cmpstr(devices(fixture), ==, NVIDIA " 4 470M; " RADEON " 1 600M; " ARC " 1 1M; ");
        g_assert_cmpstr(for_cluster(fixture, ALD_SHARING_NONE), ==, "");
        g_assert_cmpstr(for_cluster(fixture, ALD_SHARING_UNITS), ==,
                RADEON ",container,docker:0123456789ab container docker:0123456789ab 1 600M 70%\n" NVIDIA
                       ",unit,ollama.service unit ollama.service 2 400M 70%\n" NVIDIA
                       ",session session - 2 70M\n" ARC ",session session - 1 1M 3%\n");
        g_assert_cmpstr(for_cluster(fixture, ALD_SHARING_ALL), ==,
                RADEON ",30 container docker:0123456789ab 1 600M 70% pid 30 train of root\n" NVIDIA
                       ",10 unit ollama.service 1 300M 40% pid 10 ollama of ollama\n" NVIDIA
                       ",11 unit ollama.service 1 100M 30% pid 11 ollama of 990\n" NVIDIA
                       ",20 session - 1 50M pid 20 python3 of alice\n" NVIDIA
                       ",21 session - 1 20M 0% pid 21 blender of bob\n" ARC
                       ",21 session - 1 1M 3% pid 21 blender of bob\n");
        end(fixture);
}

/* A user sees the units of others, but no name of theirs. */
static void test_users(void)
{
        Case *fixture = begin();
        g_autofree char *root = NULL;

        fill(fixture);
        root = g_strdup(for_cluster(fixture, ALD_SHARING_ALL));
        g_assert_cmpstr(for_user(fixture, 0), ==, root);
        g_assert_cmpstr(for_user(fixture, 1000), ==,
                RADEON ",container,docker:0123456789ab container docker:0123456789ab 1 600M 70%\n" NVIDIA
                       ",unit,ollama.service unit ollama.service 2 400M 70%\n" NVIDIA
                       ",20 session - 1 50M pid 20 python3 of alice\n" NVIDIA
                       ",session session - 1 20M 0%\n" ARC ",session session - 1 1M 3%\n");
        g_assert_null(strstr(for_user(fixture, 1000), "bob"));
        g_assert_null(strstr(for_user(fixture, 65534), "alice"));
        g_assert_null(strstr(for_user(fixture, (uid_t) -1), " pid "));
        ald_holder_rows_for_user(fixture->rows, NULL, 0);
        g_assert_cmpuint(fixture->rows->holders->len, ==, 0);
        end(fixture);
}

/* Nobody knows who they are, not even root; numbers stay. */
static void test_without_the_witness(void)
{
        Case *fixture = begin();

        add(fixture, NVIDIA, 10, true, 300, 40);
        add(fixture, NVIDIA, 11, false, ALD_ABSENT_UINT64, ALD_ABSENT_DOUBLE);
        merge(fixture, NULL);
        g_assert_cmpstr(devices(fixture), ==, NVIDIA " 2; " RADEON " 0 0M; ");
        g_assert_cmpstr(for_cluster(fixture, ALD_SHARING_UNITS), ==, NVIDIA ", - - 2\n");
        g_assert_cmpstr(
                for_user(fixture, 0), ==, NVIDIA ",10 - - 1 300M 40% pid 10\n" NVIDIA ",11 - - 1 pid 11\n");
        g_assert_cmpstr(for_user(fixture, 1000), ==, NVIDIA ", - - 2\n");
        end(fixture);
}

/* The list reports a device as unused only after all processes were read. */
static void test_known_devices(void)
{
        Case *fixture = begin();

        merge(fixture, "{\"Complete\":true}");
        g_assert_cmpstr(devices(fixture), ==, NVIDIA " 0 0M; " RADEON " 0 0M; " ARC " 0 0M; ");
        merge(fixture, "{\"Complete\":false}");
        g_assert_cmpstr(devices(fixture), ==, NVIDIA " 0 0M; " RADEON " 0 0M; ");
        merge(fixture, "{\"Complete\":true,\"Unlisted\":3}");
        g_assert_cmpstr(devices(fixture), ==, NVIDIA " 0 0M; " RADEON " 0 0M; ");
        g_assert_cmpuint(fixture->list->left_out, ==, 3);
        merge(fixture, "{\"Clients\":[" CLIENT("7", ARC, "") "]}");
        g_assert_cmpstr(devices(fixture), ==, NVIDIA " 0 0M; " RADEON " 0 0M; " ARC " 1; ");
        end(fixture);
}

static void test_which_device(void)
{
        static const AldGpuTarget mali = { .id = "fde60000.gpu", .driver = "panthor" };
        static const AldGpuTarget instance = { .id = NVIDIA "/1-0",
                .parent = NVIDIA,
                .is_listed_fully = true,
                .is_listed = true,
                .memory_bytes = ALD_ABSENT_UINT64 };
        g_autoptr(GPtrArray) functions = g_ptr_array_new();
        Case *fixture = begin();

        g_ptr_array_add(functions, (char *) "0000:04:00.1");
        g_array_index(fixture->targets, AldGpuTarget, 2).functions = functions;
        g_array_append_val(fixture->targets, mali);
        g_array_append_val(fixture->targets, instance);
        /* The holders of its instances hold the card. */
        add(fixture, NVIDIA "/1-0", 5, true, 10, ALD_ABSENT_DOUBLE);
        add(fixture, "0000:77:00.0", 5, true, 10, ALD_ABSENT_DOUBLE);
        merge(fixture,
                "{\"Clients\":[" CLIENT("7", "0000:04:00.1", "") "," CLIENT("8", "panthor", "") "," CLIENT(
                        "9", "panfrost", "") "," CLIENT("x", ARC, "") "," CLIENT("0", ARC, "") "]}");
        g_assert_cmpstr(devices(fixture), ==,
                NVIDIA " 1 10M; " RADEON " 0 0M; " ARC " 1; fde60000.gpu 1; " NVIDIA "/1-0 1 10M; ");
        /* A driver of two devices does not tell which. */
        g_array_append_val(fixture->targets, mali);
        merge(fixture, "{\"Clients\":[" CLIENT("8", "panthor", "") "]}");
        g_assert_cmpuint(fixture->list->holders->len, ==, 1);
        end(fixture);
}

static void note(Case *fixture, AldWorkWatch *watch, const char *answer)
{
        merge(fixture, answer);
        ald_work_watch_note(watch, fixture->list);
}

static uint64_t work_on(Case *fixture, const char *id, uint64_t listed)
{
        return ald_work_count(ald_holder_list_find(fixture->list, id), listed);
}

#define NAMED \
        "\"Processes\":[{\"Id\":\"5\",\"Program\":\"render\"},{\"Id\":\"6\",\"Program\":\"gnome-shell\"}]"
#define ARC_CLIENT(pid, mib, usage) \
        CLIENT(pid, ARC, ",\"HasComputeEngine\":true,\"MemoryBytes\":" mib "000000,\"Usage\":" usage)

/* Whatever the interface that it uses: who keeps an engine busy, or much of the memory in use, works. */
static void test_work(void)
{
        g_autoptr(AldWorkWatch) watch = ald_work_watch_new();
        Case *fixture = begin();

        note(fixture, watch, "{\"Complete\":true," NAMED ",\"Clients\":[" ARC_CLIENT("5", "1", "90") "]}");
        /* That was not long enough. */
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, 0);
        note(fixture, watch, "{\"Complete\":true," NAMED ",\"Clients\":[" ARC_CLIENT("5", "1", "0") "]}");
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, 1);
        note(fixture, watch, "{\"Complete\":true," NAMED ",\"Clients\":[" ARC_CLIENT("5", "1", "39") "]}");
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, 0);
        note(fixture, watch, "{\"Complete\":true," NAMED ",\"Clients\":[" ARC_CLIENT("5", "1", "1") "]}");
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, 1);

        /* 30 % of 1000 MiB are 314.6 million bytes. */
        for (unsigned i = 0; i < 2; i++)
                note(fixture, watch,
                        "{\"Complete\":true," NAMED ",\"Clients\":[" ARC_CLIENT("5", "314", "1") "]}");
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, 0);
        note(fixture, watch, "{\"Complete\":true," NAMED ",\"Clients\":[" ARC_CLIENT("5", "315", "1") "]}");
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, 1);
        for (unsigned i = 0; i < 2; i++)
                note(fixture, watch,
                        "{\"Complete\":true," NAMED ",\"Clients\":[" ARC_CLIENT("5", "315", "0") "]}");
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, 0);

        /* A display server does neither, and one without a name may be one. */
        for (unsigned i = 0; i < 2; i++)
                note(fixture, watch,
                        "{\"Complete\":true," NAMED
                        ",\"Clients\":[" ARC_CLIENT("6", "900", "90") "," ARC_CLIENT("7", "900", "90") "]}");
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, 0);
        end(fixture);
}

/* An engine that has worked once is enough, as a queue of KFD is. */
static void test_compute(void)
{
        g_autoptr(AldWorkWatch) watch = ald_work_watch_new();
        Case *fixture = begin();

        /* Nobody can tell. */
        note(fixture, watch, NULL);
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(work_on(fixture, RADEON, ALD_ABSENT_UINT64), ==, 0);

        note(fixture, watch,
                "{\"Complete\":true," NAMED ",\"Clients\":[" CLIENT("5", ARC, ",\"Computed\":true") "]}");
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, 1);
        note(fixture, watch,
                "{\"Complete\":true," NAMED ",\"Clients\":[" CLIENT("6", ARC, ",\"Computed\":true") "]}");
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, ALD_ABSENT_UINT64);
        note(fixture, watch,
                "{\"Complete\":false," NAMED ",\"Clients\":[" CLIENT("5", ARC, ",\"Usage\":0") "]}");
        g_assert_cmpuint(work_on(fixture, ARC, ALD_ABSENT_UINT64), ==, ALD_ABSENT_UINT64);

        /* A process that both sources show counts once. */
        add(fixture, RADEON, 5, true, 1, ALD_ABSENT_DOUBLE);
        add(fixture, RADEON, 9, true, 1, ALD_ABSENT_DOUBLE);
        note(fixture, watch, "{" NAMED ",\"Clients\":[" CLIENT("5", RADEON, ",\"Computed\":true") "]}");
        g_assert_cmpuint(work_on(fixture, RADEON, ALD_ABSENT_UINT64), ==, 2);

        /* NVML counts those that compute; one that draws all the time works as well. */
        add(fixture, NVIDIA, 6, false, 1, 90);
        add(fixture, NVIDIA, 5, false, 1, 90);
        add(fixture, NVIDIA, 8, true, 1, 90);
        for (unsigned i = 0; i < 2; i++)
                note(fixture, watch, "{" NAMED "}");
        g_assert_cmpuint(work_on(fixture, NVIDIA, 7), ==, 8);
        end(fixture);
}

/* 5,000 processes: what has no room is counted, and those with the most memory stay. */
static void test_many(void)
{
        Case *fixture = begin();

        for (guint i = 0; i < 5000; i++)
                add(fixture, NVIDIA, 100 + i, true, i, 1);
        merge(fixture, "{\"Complete\":true}");
        g_assert_cmpuint(fixture->list->holders->len, ==, ALD_HOLDERS_KEPT_MAX);
        ald_holder_rows_for_cluster(fixture->rows, fixture->list, ALD_SHARING_ALL);
        g_assert_cmpuint(fixture->rows->holders->len, <=, ALD_HOLDER_ROWS_MAX);
        g_assert_cmpuint(fixture->rows->holders->len, >=, 512);
        g_assert_cmpuint(fixture->rows->holders->len + fixture->rows->left_out, ==, 5000);
        g_assert_cmpuint(g_array_index(fixture->rows->holders, AldHolder, 0).memory_bytes, ==,
                (ALD_HOLDERS_KEPT_MAX - 1) * MIB);

        /* They fit into a record. */
        {
                AldProcesses processes = ALD_PROCESSES_INIT;
                g_autoptr(AldRecord) record = NULL;

                processes.holders.items = fixture->rows->holders->data;
                processes.holders.n = fixture->rows->holders->len;
                g_assert_cmpint(ald_record_new(ALD_KIND_PROCESSES, &processes, &record), >=, 0);
        }
        ald_holder_rows_for_cluster(fixture->rows, fixture->list, ALD_SHARING_UNITS);
        g_assert_cmpuint(fixture->rows->holders->len, ==, 1);
        end(fixture);
}

/* NVML counts all that compute, but does not list them, nor what they hold. */
static void test_unlisted(void)
{
        Case *fixture = begin();

        fixture->unlisted = 4000;
        g_array_index(fixture->targets, AldGpuTarget, 0).n_compute = 4001;
        add(fixture, NVIDIA, 10, true, 1, 1);
        add(fixture, RADEON, 10, true, 1, 1);
        merge(fixture, "{\"Complete\":true}");
        g_assert_cmpstr(devices(fixture), ==, NVIDIA " 4001; " RADEON " 1 1M; " ARC " 0 0M; ");
        g_assert_cmpuint(fixture->rows->left_out, ==, 4000);
        end(fixture);
}

static void test_sharing_words(void)
{
        g_assert_cmpint(ald_sharing_from_string("none"), ==, ALD_SHARING_NONE);
        g_assert_cmpint(ald_sharing_from_string("units"), ==, ALD_SHARING_UNITS);
        g_assert_cmpint(ald_sharing_from_string("all"), ==, ALD_SHARING_ALL);
        g_assert_cmpint(ald_sharing_from_string("All"), ==, -1);
        g_assert_cmpint(ald_sharing_from_string(""), ==, -1);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/holders/levels", test_levels);
        g_test_add_func("/holders/users", test_users);
        g_test_add_func("/holders/without-the-witness", test_without_the_witness);
        g_test_add_func("/holders/known-devices", test_known_devices);
        g_test_add_func("/holders/which-device", test_which_device);
        g_test_add_func("/holders/work", test_work);
        g_test_add_func("/holders/compute", test_compute);
        g_test_add_func("/holders/many", test_many);
        g_test_add_func("/holders/unlisted", test_unlisted);
        g_test_add_func("/holders/sharing-words", test_sharing_words);
        return g_test_run();
}
