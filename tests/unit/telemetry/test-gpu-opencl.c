/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What OpenCL shows, by way of the real helper, and which rows it belongs to. */
#include <errno.h>
#include <string.h>

#include "record/message.h"
#include "services/telemetry/gpu/gpu-cpu.h"
#include "services/telemetry/gpu/opencl-match.h"
#include "services/telemetry/gpu/opencl-source.h"
#include "tests/unit/gpu-roots.h"
#include "tests/unit/log-count.h"

#define GIB (UINT64_C(1024) * 1024 * 1024)

static const AldChildTiming patient = { .first = 20000, .retry = 1, .retry_max = 4 };
static const AldChildTiming hasty = { .first = 100, .retry = 1, .retry_max = 4 };

typedef struct Seen {
        AldOpenclSource *source;
        FakeRoot *root; /* where drivers are named, and where they may write */
        AldRecord *answer;
        const AldRows *devices; /* of the answer */
} Seen;

static void on_told(AldRecord *answer, void *userdata)
{
        Seen *seen = userdata;

        g_clear_pointer(&seen->answer, ald_record_unref);
        seen->answer = ald_record_ref(answer);
        seen->devices = &ald_record_as(answer, OPENCL_ANSWER, AldOpenclAnswer)->devices;
}

/* A mode of NULL is for the drivers of this machine. */
static Seen *begin(const char *mode, const AldChildTiming *timing)
{
        Seen *seen = g_new0(Seen, 1);
        g_autofree char *library = g_strdup_printf("%s/libfake-icd.so\n", g_getenv("ALIDADE_TEST_HELPERS"));
        g_autofree char *vendors = NULL, *run = NULL;

        log_count_reset();
        seen->root = fake_root_new();
        fake_root_write(seen->root, "vendors/fake.icd", library);
        fake_root_mkdir(seen->root, "run");
        vendors = g_build_filename(seen->root->dir, "vendors", NULL);
        run = g_build_filename(seen->root->dir, "run", NULL);
        g_setenv("RUNTIME_DIRECTORY", run, TRUE);
        if (mode) {
                g_setenv("OCL_ICD_VENDORS", vendors, TRUE);
                g_setenv("FAKE_ICD", mode, TRUE);
        } else {
                g_unsetenv("OCL_ICD_VENDORS");
        }
        seen->source = ald_opencl_source_new(g_getenv("ALIDADE_TEST_LIBEXEC"), timing, on_told, seen);
        return seen;
}

static void end(Seen *seen)
{
        g_autofree char *run = g_build_filename(seen->root->dir, "run", NULL);
        g_autoptr(GDir) left = NULL;

        ald_opencl_source_free(seen->source);
        /* What drivers wrote goes with the helper. */
        left = g_dir_open(run, 0, NULL);
        g_assert_null(g_dir_read_name(left));
        g_clear_pointer(&seen->answer, ald_record_unref);
        fake_root_free(seen->root);
        g_free(seen);
}

static bool is_told(void *userdata)
{
        Seen *seen = userdata;

        ald_opencl_source_ask(seen->source);
        return seen->devices != NULL;
}

static bool is_given_up(void *userdata)
{
        Seen *seen = userdata;

        ald_opencl_source_ask(seen->source);
        return !ald_opencl_source_is_wanted(seen->source);
}

/* With PoCL, where this machine has it. */
static void test_this_machine(void)
{
        Seen *seen = begin(NULL, &patient);
        const AldOpenclDevice *cpu = NULL;

        gpu_wait(is_told, seen);
        g_assert_false(ald_opencl_source_is_wanted(seen->source));
        for (size_t i = 0; i < seen->devices->n && !cpu; i++) {
                const AldOpenclDevice *device = ald_rows_at(seen->devices, i);

                if (g_strcmp0(device->class, "cpu") == 0)
                        cpu = device;
        }
        if (cpu) {
                g_assert_nonnull(cpu->name);
                g_assert_nonnull(cpu->driver_version);
                g_assert_cmpint(cpu->unified, ==, 1);
                g_assert_cmpuint(cpu->memory_total_bytes, !=, ALD_ABSENT_UINT64);
        } else {
                g_test_skip("this machine has no OpenCL for its processor");
        }
        end(seen);
}

/* Each vendor's way of reporting the PCI address. */
static void test_addresses(void)
{
        static const struct {
                const char *mode, *first, *second, *name, *architecture;
        } cases[] = {
                { "khr", "0010:01:00.1", "0010:02:00.1", "gfx1100", NULL },
                { "nv", "0010:01:03.1", "0010:02:03.1", "gfx1100", "sm_90" },
                { "amd", "0000:01:1f.0", "0000:02:1f.0", "AMD Radeon RX 7900 XTX", "gfx90a" },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Seen *seen = begin(cases[i].mode, &patient);
                const AldOpenclDevice *first, *second;

                gpu_wait(is_told, seen);
                g_assert_cmpuint(seen->devices->n, ==, 2);
                g_assert_cmpstr(ald_record_as(seen->answer, OPENCL_ANSWER, AldOpenclAnswer)->open_cl, ==,
                        "available");
                first = ald_rows_at(seen->devices, 0);
                second = ald_rows_at(seen->devices, 1);
                g_assert_cmpstr(first->pci, ==, cases[i].first);
                g_assert_cmpstr(second->pci, ==, cases[i].second);
                g_assert_cmpstr(first->name, ==, cases[i].name);
                g_assert_cmpstr(first->architecture, ==, cases[i].architecture);
                g_assert_cmpstr(first->runtime_version, ==, "fake");
                g_assert_cmpstr(first->platform, ==, "Fake OpenCL");
                g_assert_cmpstr(first->class, ==, "gpu");
                g_assert_cmpuint(first->vendor_id, ==, 0x1002);
                g_assert_cmpuint(first->memory_total_bytes, ==, 16 * GIB);
                g_assert_cmpint(first->unified, ==, 0);
                end(seen);
        }
}

/* What identifies the runtime, without the version of OpenCL and how it was built. */
static void test_runtime_versions(void)
{
        static const char *const cases[][2] = {
                { "OpenCL 3.0 CUDA 12.4.131", "CUDA 12.4.131" },
                { "OpenCL 2.1 AMD-APP (3590.0)", "AMD-APP (3590.0)" },
                { "OpenCL 3.0 PoCL 3.1+debian  Linux, None+Asserts, RELOC, SPIR, LLVM 15.0.6",
                        "PoCL 3.1+debian" },
                { "OpenCL 3.0 ", "OpenCL 3.0" },
                { "OpenCL 3.0", "OpenCL 3.0" },
                { "something else", "something else" },
                { " ", NULL },
        };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Seen *seen;

                g_setenv("FAKE_PLATFORM_VERSION", cases[i][0], TRUE);
                seen = begin("plain", &patient);
                gpu_wait(is_told, seen);
                g_assert_cmpstr(((const AldOpenclDevice *) ald_rows_at(seen->devices, 0))->runtime_version,
                        ==, cases[i][1]);
                end(seen);
        }
        g_unsetenv("FAKE_PLATFORM_VERSION");
}

static void test_no_address(void)
{
        Seen *seen = begin("plain", &patient);

        gpu_wait(is_told, seen);
        g_assert_cmpuint(seen->devices->n, ==, 1);
        g_assert_null(((const AldOpenclDevice *) ald_rows_at(seen->devices, 0))->pci);
        end(seen);
}

/* A broken driver is tried three times, not for ever; new devices are a reason to try again. */
static void test_crash(void)
{
        Seen *seen = begin("crash", &patient);

        for (int i = 0; i < 2; i++) {
                gpu_wait(is_given_up, seen);
                g_assert_null(seen->devices);
                g_assert_cmpuint(log_count("alidade-opencl-list failed: it was ended by signal 11"), ==, 1);
                ald_opencl_source_request(seen->source);
        }
        end(seen);
}

static void test_hang(void)
{
        Seen *seen = begin("hang", &hasty);

        gpu_wait(is_given_up, seen);
        g_assert_null(seen->devices);
        g_assert_cmpuint(log_count("failed: it did not answer in time"), ==, 1);
        end(seen);
}

/* What was wanted anew while the helper ran is asked anew. */
static void test_wanted_meanwhile(void)
{
        Seen *seen = begin("plain", &patient);

        ald_opencl_source_ask(seen->source);
        ald_opencl_source_request(seen->source);
        g_assert_true(ald_opencl_source_is_wanted(seen->source));
        gpu_wait(is_told, seen);
        g_assert_false(ald_opencl_source_is_wanted(seen->source));
        g_assert_cmpuint(log_count(""), ==, 0);
        end(seen);
}

static AldRecord *parse(const char *text)
{
        AldRecord *answer = NULL;

        g_assert_cmpint(ald_message_parse(ALD_KIND_OPENCL_ANSWER, text, strlen(text), ALD_CHILD_MESSAGE_MAX,
                                &answer, NULL),
                ==, 0);
        return answer;
}

static const AldOpenclAnswer *answer_of(const AldRecord *record)
{
        return ald_record_as(record, OPENCL_ANSWER, AldOpenclAnswer);
}

#define NVIDIA "NVIDIA CUDA"
#define AMD "AMD Accelerated Parallel Processing"
#define RUSTICL "rusticl"
#define ANSWER(devices) "{\"Devices\":[" devices "]}"
#define DEVICE(id, platform, more) "{\"Id\":\"" id "\",\"Platform\":\"" platform "\"" more "}"
#define GPU(id, platform, name, vendor, more)                                   \
        DEVICE(id, platform,                                                    \
                ",\"Name\":\"" name "\",\"Class\":\"gpu\",\"VendorId\":" vendor \
                ",\"DriverVersion\":\"7\"" more)
#define PCI(address) ",\"Pci\":\"" address "\""
#define POCL(id)                                                                                            \
        DEVICE(id, "Portable Computing Language",                                                           \
                ",\"Name\":\"pthread-x\",\"Class\":\"cpu\",\"DriverVersion\":\"3.1\",\"MemoryTotalBytes\":" \
                "9")

static GPtrArray *machine(void)
{
        GPtrArray *gpus = ald_gpu_list_new();
        AldGpu *nvidia = ald_gpu_new("0000:01:00.0", "x", ALD_BACKEND_CLASS_GPU);
        AldGpu *radeon = ald_gpu_new("0000:03:00.0", "x", ALD_BACKEND_CLASS_GPU);
        AldGpu *screen = ald_gpu_new("0000:05:00.0", "x", ALD_BACKEND_CLASS_GPU);
        AldGpu *cpu = ald_gpu_new(ALD_CPU_ID, NULL, ALD_BACKEND_CLASS_CPU);

        nvidia->pci_vendor = 0x10de;
        nvidia->vendor = g_strdup("NVIDIA");
        radeon->pci_vendor = 0x1002;
        radeon->vendor = g_strdup("AMD");
        radeon->fallback_name = g_strdup("AMD 1002:744c");
        screen->pci_vendor = 0x1af4;
        screen->is_display = true;
        cpu->sysfs.name = g_strdup("A processor");
        g_ptr_array_add(gpus, nvidia);
        g_ptr_array_add(gpus, radeon);
        g_ptr_array_add(gpus, screen);
        g_ptr_array_add(gpus, cpu);
        return gpus;
}

static void match(GPtrArray *gpus, const char *text)
{
        g_autoptr(AldRecord) answer = parse(text);

        ald_opencl_match(answer_of(answer), gpus);
}

static const char *platform_of(const GPtrArray *gpus, const char *id)
{
        const AldGpu *gpu = ald_gpu_list_find(gpus, id);

        g_assert_nonnull(gpu);
        return gpu->opencl_platform;
}

static void test_match_by_address(void)
{
        g_autoptr(GPtrArray) gpus = machine();
        AldBackend row;

        match(gpus, ANSWER(POCL("0") "," GPU("1", AMD, "Radeon RX", "4098", PCI("0000:03:00.0")) "," GPU(
                            "2", NVIDIA, "RTX", "4318", PCI("0000:01:00.0"))));
        g_assert_cmpuint(gpus->len, ==, 4);
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0"), ==, "NVIDIA CUDA");
        g_assert_cmpstr(platform_of(gpus, "0000:03:00.0"), ==, "AMD Accelerated Parallel Processing");
        g_assert_cmpstr(platform_of(gpus, ALD_CPU_ID), ==, "Portable Computing Language");
        g_assert_cmpstr(platform_of(gpus, "0000:05:00.0"), ==, NULL);
        ald_gpu_backend(ald_gpu_list_find(gpus, ALD_CPU_ID), &row);
        g_assert_cmpstr(row.name, ==, "A processor");
        g_assert_cmpstr(row.driver_version, ==, "3.1");
        ald_gpu_backend(ald_gpu_list_find(gpus, "0000:03:00.0"), &row);
        g_assert_cmpstr(row.name, ==, "Radeon RX");

        /* Nothing remains of what is no longer told. */
        match(gpus, ANSWER(""));
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0"), ==, NULL);
        ald_gpu_backend(ald_gpu_list_find(gpus, "0000:03:00.0"), &row);
        g_assert_cmpstr(row.name, ==, "AMD 1002:744c");
        g_assert_cmpuint(row.memory_total_bytes, ==, ALD_ABSENT_UINT64);
}

/* A screen that OpenCL computes with is a device after all. */
static void test_match_display(void)
{
        g_autoptr(GPtrArray) gpus = machine();

        match(gpus, ANSWER(GPU("0", RUSTICL, "venus", "6900", PCI("0000:05:00.0"))));
        g_assert_true(ald_gpu_is_shown(ald_gpu_list_find(gpus, "0000:05:00.0")));
        match(gpus, ANSWER(""));
        g_assert_false(ald_gpu_is_shown(ald_gpu_list_find(gpus, "0000:05:00.0")));
}

static void test_match_by_vendor(void)
{
        g_autoptr(GPtrArray) gpus = machine();

        match(gpus, ANSWER(GPU("0", AMD, "gfx1100", "4098", "")));
        g_assert_cmpuint(gpus->len, ==, 4);
        g_assert_cmpstr(platform_of(gpus, "0000:03:00.0"), ==, "AMD Accelerated Parallel Processing");

        /* Two that it may be: neither is guessed. */
        ald_gpu_list_find(gpus, "0000:01:00.0")->pci_vendor = 0x1002;
        match(gpus, ANSWER(GPU("0", AMD, "gfx1100", "4098", "")));
        g_assert_cmpuint(gpus->len, ==, 5);
        g_assert_cmpstr(platform_of(gpus, "gfx1100"), ==, "AMD Accelerated Parallel Processing");
        g_assert_cmpstr(platform_of(gpus, "0000:03:00.0"), ==, NULL);

        /* Unless only one of them shares the memory of the host as it does. */
        ald_gpu_list_find(gpus, "0000:01:00.0")->sysfs.unified = 1;
        ald_gpu_list_find(gpus, "0000:03:00.0")->sysfs.unified = 0;
        match(gpus, ANSWER(GPU("0", AMD, "gfx1100", "4098", ",\"Unified\":false")));
        g_assert_cmpuint(gpus->len, ==, 4);
        g_assert_cmpstr(platform_of(gpus, "0000:03:00.0"), ==, "AMD Accelerated Parallel Processing");
}

/* The vendor's platform is taken, wherever it stands in the list. */
static void test_match_twice_shown(void)
{
        static const char *const answers[] = {
                ANSWER(GPU("0", RUSTICL, "radeonsi", "4098", "") "," GPU(
                        "1", AMD, "gfx1100", "4098", PCI("0000:03:00.0"))),
                ANSWER(GPU("0", AMD, "gfx1100", "4098", "") "," GPU(
                        "1", RUSTICL, "radeonsi", "4098", PCI("0000:03:00.0"))),
                ANSWER(GPU("0", "Clover", "radeonsi", "4098", "") "," GPU("1", AMD, "gfx1100", "4098", "")),
        };

        for (size_t i = 0; i < G_N_ELEMENTS(answers); i++) {
                g_autoptr(GPtrArray) gpus = machine();

                match(gpus, answers[i]);
                g_assert_cmpuint(gpus->len, ==, 4);
                g_assert_cmpstr(platform_of(gpus, "0000:03:00.0"), ==, "AMD Accelerated Parallel Processing");
        }
}

static void add_instance(GPtrArray *gpus, const char *id, const char *name)
{
        AldGpu *instance = ald_gpu_new(id, NULL, ALD_BACKEND_CLASS_GPU);

        instance->parent = g_strdup("0000:01:00.0");
        instance->nvml.name = g_strdup(name);
        g_ptr_array_add(gpus, instance);
}

#define MIG_DEVICE(name) \
        ANSWER(GPU("0", NVIDIA, name, "4318", PCI("0000:01:00.0") ",\"MemoryTotalBytes\":1024"))

/* OpenCL shows an instance at the address of its card, which is something else. */
static void test_match_mig(void)
{
        g_autoptr(GPtrArray) gpus = machine();

        /* NVML has not reported it yet. */
        match(gpus, MIG_DEVICE("A100 MIG 1g.5gb"));
        g_assert_cmpuint(gpus->len, ==, 4);
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0"), ==, NULL);

        add_instance(gpus, "0000:01:00.0/7-0", "A100 MIG 1g.5gb");
        match(gpus, MIG_DEVICE("A100"));
        g_assert_cmpuint(gpus->len, ==, 5);
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0"), ==, NULL);
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0/7-0"), ==, "NVIDIA CUDA");

        add_instance(gpus, "0000:01:00.0/1-0", "A100 MIG 3g.20gb");
        match(gpus, MIG_DEVICE("A100 MIG 3g.20gb"));
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0/1-0"), ==, "NVIDIA CUDA");
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0/7-0"), ==, NULL);

        /* One of two alike: nobody knows which. */
        add_instance(gpus, "0000:01:00.0/8-0", "A100 MIG 1g.5gb");
        match(gpus, MIG_DEVICE("A100 MIG 1g.5gb"));
        g_assert_cmpuint(gpus->len, ==, 7);
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0"), ==, NULL);
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0/7-0"), ==, NULL);
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0/8-0"), ==, NULL);

        /* Without an address it may be that of any card. */
        match(gpus, ANSWER(GPU("0", NVIDIA, "A100 MIG 1g.5gb", "4318", "")));
        g_assert_cmpuint(gpus->len, ==, 7);
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0"), ==, NULL);
}

/* Parts of a card without rows of their own get none by way of OpenCL, and are not the whole. */
static void test_match_parts(void)
{
        g_autoptr(GPtrArray) gpus = machine();

        ald_gpu_list_find(gpus, "0000:03:00.0")->is_partitioned = true;
        match(gpus, ANSWER(GPU("0", AMD, "MI300X", "4098", PCI("0000:03:00.0")) "," GPU("1", AMD, "MI300X",
                            "4098", PCI("0000:03:00.7")) "," GPU("2", AMD, "MI300X", "4098", "")));
        g_assert_cmpuint(gpus->len, ==, 4);
        g_assert_cmpstr(platform_of(gpus, "0000:03:00.0"), ==, NULL);

        ald_gpu_add_function(ald_gpu_list_find(gpus, "0000:01:00.0"), "0000:02:00.4");
        match(gpus, ANSWER(GPU("0", NVIDIA, "A100", "4318", PCI("0000:02:00.4")) "," GPU(
                            "1", NVIDIA, "A100", "4318", PCI("0000:01:00.0"))));
        g_assert_cmpuint(gpus->len, ==, 4);
        g_assert_cmpstr(platform_of(gpus, "0000:01:00.0"), ==, "NVIDIA CUDA");
}

static void test_match_none(void)
{
        g_autoptr(GPtrArray) gpus = machine();
        AldBackend row;

        match(gpus, ANSWER(GPU("0", NVIDIA, "odd", "7", "") "," GPU("1", NVIDIA, "odd", "7", "") "," GPU(
                            "2", NVIDIA, "far", "4318", PCI("0000:77:00.0") ",\"MemoryTotalBytes\":1024")));
        g_assert_cmpuint(gpus->len, ==, 7);
        g_assert_cmpstr(platform_of(gpus, "odd"), ==, "NVIDIA CUDA");
        g_assert_cmpstr(platform_of(gpus, "odd#2"), ==, "NVIDIA CUDA");
        ald_gpu_backend(ald_gpu_list_find(gpus, "0000:77:00.0"), &row);
        g_assert_cmpstr(row.class, ==, "gpu");
        g_assert_cmpstr(row.name, ==, "far");
        g_assert_cmpuint(row.memory_total_bytes, ==, 1024);
}

/* What is not an object is not an answer; of one, what is invalid is left out. */
static void test_nonsense(void)
{
        static const char *const bad[] = { "", "[]", "{\"Devices\":[]", "null", "\xff" };
        static const char *const empty[] = { "{}", "{\"Devices\":1}", "{\"Devices\":[1,null,[],{}]}",
                ANSWER("{\"Id\":\"0\"}"), ANSWER("{\"Platform\":\"p\"}"), ANSWER(DEVICE("", "p", "")),
                ANSWER(DEVICE("0", "\\u001b[31m", "")) };
        AldRecord *answer = NULL;

        for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
                g_assert_cmpint(ald_message_parse(ALD_KIND_OPENCL_ANSWER, bad[i], strlen(bad[i]),
                                        ALD_CHILD_MESSAGE_MAX, &answer, NULL),
                        ==, -EBADMSG);
        g_assert_null(answer);
        for (size_t i = 0; i < G_N_ELEMENTS(empty); i++) {
                answer = parse(empty[i]);
                g_assert_cmpuint(answer_of(answer)->devices.n, ==, 0);
                g_clear_pointer(&answer, ald_record_unref);
        }
}

static void test_nonsense_of_a_device(void)
{
        g_autoptr(AldRecord) answer = parse(ANSWER(
                DEVICE("0", "p", ",\"MemoryTotalBytes\":-1,\"Class\":7,\"Vendor\":[]" PCI("../../x"))));
        const AldOpenclDevice *device = ald_rows_find(&answer_of(answer)->devices, "0");
        g_autoptr(GPtrArray) gpus = machine();

        g_assert_cmpuint(device->memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_null(device->class);
        g_assert_null(device->vendor);
        ald_opencl_match(answer_of(answer), gpus);
        g_assert_null(ald_gpu_list_find(gpus, "../../x"));
        g_assert_cmpstr(platform_of(gpus, "opencl"), ==, "p");
        g_assert_cmpint(ald_gpu_list_find(gpus, "opencl")->class, ==, ALD_BACKEND_CLASS_ACCELERATOR);
}

static void test_too_many(void)
{
        g_autoptr(GString) text = g_string_new("{\"Devices\":[");
        g_autoptr(AldRecord) answer = NULL;

        for (unsigned i = 0; i < 1100; i++)
                g_string_append_printf(text, "%s{\"Id\":\"%04u\",\"Platform\":\"p\"}", i > 0 ? "," : "", i);
        g_string_append(text, "]}");
        answer = parse(text->str);
        g_assert_cmpuint(answer_of(answer)->devices.n, ==, 1024);
        g_assert_nonnull(ald_rows_find(&answer_of(answer)->devices, "1023"));
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/gpu-opencl/this-machine", test_this_machine);
        g_test_add_func("/gpu-opencl/addresses", test_addresses);
        g_test_add_func("/gpu-opencl/no-address", test_no_address);
        g_test_add_func("/gpu-opencl/runtime-versions", test_runtime_versions);
        g_test_add_func("/gpu-opencl/crash", test_crash);
        g_test_add_func("/gpu-opencl/hang", test_hang);
        g_test_add_func("/gpu-opencl/wanted-meanwhile", test_wanted_meanwhile);
        g_test_add_func("/gpu-opencl/match-by-address", test_match_by_address);
        g_test_add_func("/gpu-opencl/match-display", test_match_display);
        g_test_add_func("/gpu-opencl/match-by-vendor", test_match_by_vendor);
        g_test_add_func("/gpu-opencl/match-twice-shown", test_match_twice_shown);
        g_test_add_func("/gpu-opencl/match-mig", test_match_mig);
        g_test_add_func("/gpu-opencl/match-parts", test_match_parts);
        g_test_add_func("/gpu-opencl/match-none", test_match_none);
        g_test_add_func("/gpu-opencl/nonsense", test_nonsense);
        g_test_add_func("/gpu-opencl/nonsense-of-a-device", test_nonsense_of_a_device);
        g_test_add_func("/gpu-opencl/too-many", test_too_many);
        return g_test_run();
}
