/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* NVIDIA's figures by way of the real helper and a library that behaves as badly as drivers do. */
#include <string.h>

#include "record/message.h"
#include "services/telemetry/gpu/nvml-source.h"
#include "tests/unit/gpu-roots.h"
#include "tests/unit/log-count.h"

#define GIB (UINT64_C(1024) * 1024 * 1024)
#define FIRST "0000:01:00.0"
#define SECOND "0000:02:00.0"

static const char *const both[] = { FIRST, SECOND, NULL };
static const char *const first_only[] = { FIRST, NULL };
static const char *const none[] = { NULL };

static const AldChildTiming patient = { .first = 20000, .answer = 20000, .retry = 1, .retry_max = 4 };
static const AldChildTiming hasty = { .first = 100, .answer = 100, .retry = 1, .retry_max = 4 };

typedef struct Seen {
        AldNvmlSource *source;
        FakeRoot *root; /* for its files alone */
        const char *const *ids;
        unsigned n_told, n_lost;
        AldNvmlDevice devices[2]; /* copies, whose texts are gone */
        AldDevice figures[2];
        char *names[2], *architectures[2], *version, *error;
        guint n_devices;
        unsigned n_with_links, n_with_processes;
        char *processes; /* likewise, of the last answer that lists them */
        size_t n_processes;
        uint64_t unlisted;
        char *links; /* one line each */
} Seen;

static char *describe_links(const AldNvmlAnswer *answer)
{
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < answer->nv_links.n; i++) {
                const AldNvLink *link = ald_rows_at(&answer->nv_links, i);

                g_string_append_printf(text, "%s %s %s%s", link->id, link->device, link->remote ?: "?",
                        link->to_switch == 1 ? " switch" : "");
                if (link->bits_per_second != ALD_ABSENT_UINT64)
                        g_string_append_printf(text, " %" G_GUINT64_FORMAT, link->bits_per_second / 1000000);
                g_string_append_c(text, '\n');
        }
        return g_string_free(text, FALSE);
}

static char *describe_processes(const AldNvmlAnswer *answer)
{
        GString *text = g_string_new(NULL);

        for (size_t i = 0; i < answer->processes.n; i++) {
                const AldNvmlProcess *process = ald_rows_at(&answer->processes, i);

                g_string_append_printf(text, "%s%s", process->id, process->computes == 1 ? " computes" : "");
                if (process->memory_bytes != ALD_ABSENT_UINT64)
                        g_string_append_printf(text, " %" G_GUINT64_FORMAT, process->memory_bytes - GIB);
                if (!isnan(process->usage))
                        g_string_append_printf(text, " %.0f%%", process->usage);
                g_string_append_c(text, '\n');
        }
        return g_string_free(text, FALSE);
}

static void on_told(const AldNvmlAnswer *answer, void *userdata)
{
        Seen *seen = userdata;

        if (!answer) {
                seen->n_lost++;
                return;
        }
        seen->n_told++;
        if (answer->unlisted_processes != ALD_ABSENT_UINT64) {
                seen->n_with_processes++;
                seen->n_processes = answer->processes.n;
                seen->unlisted = answer->unlisted_processes;
                g_free(seen->processes);
                seen->processes = describe_processes(answer);
        } else {
                g_assert_cmpuint(answer->processes.n, ==, 0);
        }
        if (answer->links == 1) {
                seen->n_with_links++;
                g_free(seen->links);
                seen->links = describe_links(answer);
        } else {
                g_assert_cmpuint(answer->nv_links.n, ==, 0);
        }
        /* Beyond the cards are instances. */
        seen->n_devices = (guint) MIN(answer->devices.n, 2);
        g_free(seen->version);
        seen->version = g_strdup(answer->driver_version);
        for (guint i = 0; i < seen->n_devices; i++) {
                const AldNvmlDevice *device = ald_rows_at(&answer->devices, i);

                seen->devices[i] = *device;
                ald_nvml_device_figures(device, &seen->figures[i]);
                g_free(seen->names[i]);
                seen->names[i] = g_strdup(device->name);
                g_free(seen->architectures[i]);
                seen->architectures[i] = g_strdup(device->architecture);
                g_free(seen->error);
                seen->error = g_strdup(device->error);
        }
}

static Seen *begin(const char *mode, const char *library, const AldChildTiming *timing)
{
        Seen *seen = g_new0(Seen, 1);
        g_autofree char *path = g_strdup_printf("%s/%s", g_getenv("ALIDADE_TEST_HELPERS"), library);
        g_autofree char *log = NULL, *until = NULL;

        log_count_reset();
        seen->root = fake_root_new();
        seen->ids = both;
        log = g_build_filename(seen->root->dir, "log", NULL);
        until = g_build_filename(seen->root->dir, "while", NULL);
        fake_root_write(seen->root, "while", "");
        g_setenv("ALIDADE_NVML_LIBRARY", path, TRUE);
        g_setenv("FAKE_NVML", mode, TRUE);
        g_setenv("FAKE_NVML_LOG", log, TRUE);
        g_setenv("FAKE_NVML_WHILE", until, TRUE);
        seen->source = ald_nvml_source_new(g_getenv("ALIDADE_TEST_LIBEXEC"), timing, on_told, seen);
        return seen;
}

static void end(Seen *seen)
{
        ald_nvml_source_free(seen->source);
        fake_root_free(seen->root);
        for (size_t i = 0; i < G_N_ELEMENTS(seen->names); i++) {
                g_free(seen->names[i]);
                g_free(seen->architectures[i]);
        }
        g_free(seen->links);
        g_free(seen->processes);
        g_free(seen->version);
        g_free(seen->error);
        g_free(seen);
}

static bool ask(Seen *seen, const char *const *due)
{
        bool all;

        return ald_nvml_source_ask(seen->source, seen->ids, due, NULL, &all);
}

/* Asks as the collector does, which is deaf to whether it was heard. */
static bool is_told(void *userdata)
{
        Seen *seen = userdata;

        ask(seen, seen->ids);
        return seen->n_told > 0;
}

static bool is_told_of_first(void *userdata)
{
        Seen *seen = userdata;

        ask(seen, first_only);
        return seen->n_devices == 1;
}

static bool is_lost(void *userdata)
{
        Seen *seen = userdata;

        ask(seen, seen->ids);
        return seen->n_lost > 0;
}

static bool is_lost_thrice(void *userdata)
{
        (void) is_lost(userdata);
        return ((Seen *) userdata)->n_lost >= 3;
}

static bool is_over(void *userdata)
{
        return !ald_nvml_source_is_running(((Seen *) userdata)->source);
}

static char *read_log(Seen *seen)
{
        g_autofree char *path = g_build_filename(seen->root->dir, "log", NULL);
        char *text = NULL;

        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        return text;
}

static unsigned count_link_scans(Seen *seen)
{
        g_autofree char *log = read_log(seen);
        unsigned n = 0;

        for (const char *at = log; (at = strstr(at, "links of ")); at++)
                n++;
        return n;
}

static void test_dual(void)
{
        Seen *seen = begin("", "libfake-nvml.so", &patient);
        g_autofree char *log = NULL;

        gpu_wait(is_told, seen);
        g_assert_cmpuint(seen->n_devices, ==, 2);
        g_assert_cmpstr(seen->version, ==, "550.54.14");
        g_assert_cmpstr(seen->names[0], ==, "NVIDIA GeForce RTX 4090");
        g_assert_cmpuint(seen->devices[0].memory_total_bytes, ==, 24 * GIB - GIB / 2);
        g_assert_cmpint(seen->devices[0].unified, ==, 0);
        g_assert_cmpfloat(seen->figures[0].usage, ==, 61);
        /* Without what the driver reserves. */
        g_assert_cmpuint(seen->figures[0].memory_used_bytes, ==, 6 * GIB);
        g_assert_cmpint(seen->figures[0].temperature_milli_celsius, ==, 55000);
        g_assert_cmpuint(seen->figures[0].power_micro_watts, ==, 310500000);
        g_assert_cmpuint(seen->figures[0].clock_hz, ==, 2520000000);
        g_assert_cmpuint(seen->figures[0].compute_processes, ==, 2);
        g_assert_cmpuint(seen->figures[1].compute_processes, ==, 0);
        g_assert_cmpstr(seen->architectures[0], ==, "sm_89");
        g_assert_cmpstr(seen->architectures[1], ==, "sm_86");
        g_assert_cmpstr(seen->links, ==, "");
        g_assert_cmpstr(seen->names[1], ==, "NVIDIA RTX A5000");
        g_assert_cmpfloat(seen->figures[1].usage, ==, 0);
        g_assert_cmpuint(log_count(""), ==, 0);
        log = read_log(seen);
        g_assert_true(g_str_has_prefix(
                log, "init\n00000000:01:00.0\nlinks of 00000000:01:00.0\n00000000:02:00.0\n"));
        end(seen);
}

static void assert_words(const AldDevice *figures, const char *expected)
{
        g_autofree char *text = g_strjoinv(" ", (char **) figures->throttle_reasons);

        g_assert_cmpint(figures->throttled, ==, *expected != '\0');
        g_assert_cmpstr(text, ==, expected);
}

/* A card reports more of itself than its load. */
static void test_live(void)
{
        Seen *seen = begin("", "libfake-nvml.so", &patient);
        const AldDevice *first = &seen->figures[0], *second = &seen->figures[1];

        gpu_wait(is_told, seen);
        g_assert_cmpuint(first->power_limit_micro_watts, ==, 450000000);
        g_assert_cmpuint(first->energy_micro_joules, ==, 7200000000);
        g_assert_cmpfloat(first->fan_percent, ==, 45);
        g_assert_cmpint(first->memory_temperature_milli_celsius, ==, 88000);
        g_assert_cmpuint(first->memory_clock_hz, ==, 10501000000);
        assert_words(first, "power thermal");
        g_assert_cmpfloat(first->encoder_usage, ==, 12);
        g_assert_cmpfloat(first->decoder_usage, ==, 34);
        /* Without fans, a sensor and a video engine; to be idle is no reason. */
        g_assert_true(isnan(second->fan_percent));
        g_assert_cmpint(second->memory_temperature_milli_celsius, ==, ALD_ABSENT_INT64);
        assert_words(second, "");
        g_assert_true(isnan(second->encoder_usage));
        end(seen);
}

/* A device that is not due is not read, and stays open. */
static void test_due(void)
{
        Seen *seen = begin("", "libfake-nvml.so", &patient);
        g_autofree char *log = NULL;

        gpu_wait(is_told, seen);
        g_assert_cmpuint(seen->n_devices, ==, 2);
        gpu_wait(is_told_of_first, seen);
        g_assert_false(ask(seen, none));
        log = read_log(seen);
        g_assert_true(g_str_has_suffix(log, "\n00000000:01:00.0\n"));
        g_assert_cmpuint(count_link_scans(seen), ==, 2);
        end(seen);
}

/* What an old driver lacks is absent, the rest is told. */
static void test_old_driver(void)
{
        Seen *seen = begin("", "libfake-nvml-old.so", &patient);

        gpu_wait(is_told, seen);
        g_assert_cmpstr(seen->version, ==, NULL);
        g_assert_cmpstr(seen->names[1], ==, "NVIDIA RTX A5000");
        g_assert_cmpuint(seen->figures[0].memory_used_bytes, ==, 6 * GIB + GIB / 2);
        g_assert_cmpint(seen->figures[0].temperature_milli_celsius, ==, 55000);
        g_assert_true(isnan(seen->figures[0].usage));
        g_assert_cmpuint(seen->figures[0].power_micro_watts, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(seen->figures[0].clock_hz, ==, ALD_ABSENT_UINT64);
        g_assert_cmpfloat(seen->figures[0].fan_percent, ==, 30);
        g_assert_cmpint(seen->figures[0].throttled, ==, ALD_ABSENT_BOOLEAN);
        g_assert_cmpuint(seen->figures[0].compute_processes, ==, 2);
        g_assert_cmpstr(seen->architectures[0], ==, NULL);
        g_assert_cmpstr(seen->links, ==, "");
        end(seen);
}

/* Links rarely change: they are asked about when the helper or a device is new, and then once a minute. */
static bool is_told_twice(void *userdata)
{
        (void) is_told(userdata);
        return ((Seen *) userdata)->n_told >= 2;
}

static void check_processes(const char *mode, const char *library, const char *expected)
{
        Seen *seen = begin(mode, library, &patient);

        gpu_wait(is_told_twice, seen);
        g_assert_cmpstr(seen->processes, ==, expected);
        g_assert_cmpuint(seen->unlisted, ==, 0);
        /* They are listed less often than figures are read. */
        g_assert_cmpuint(seen->n_with_processes, ==, 1);
        end(seen);
}

/* One of them is in both lists, and its memory only in one. */
static void test_processes(void)
{
        check_processes("", "libfake-nvml.so",
                FIRST ",4711 computes 4711 50%\n" FIRST ",4712 computes 4712 15%\n" FIRST ",900 900 0%\n");
        check_processes("mig", "libfake-nvml.so",
                FIRST "/3-1,4711 computes 4711\n" FIRST "/3-1,4712 computes\n" FIRST
                      "/7-0,4711 computes 4711\n");
        check_processes("errors", "libfake-nvml.so", "");
        /* Rows of the old layout. */
        check_processes("", "libfake-nvml-old.so", FIRST ",4711 computes 4711\n" FIRST ",4712 computes\n");
}

static bool lists_processes(void *userdata)
{
        (void) is_told(userdata);
        return ((Seen *) userdata)->n_with_processes > 0;
}

/* The message has no room for all of them beside links, nor for their memory twice. */
static void test_absurd_processes(void)
{
        Seen *seen = begin("many-processes", "libfake-nvml.so", &patient);

        gpu_wait(lists_processes, seen);
        g_assert_cmpuint(seen->n_processes, >=, 256);
        g_assert_cmpuint(seen->n_processes + seen->unlisted, ==, 10000);
        end(seen);

        seen = begin("odd-processes", "libfake-nvml.so", &patient);
        gpu_wait(is_told, seen);
        g_assert_cmpuint(seen->n_processes, ==, 0);
        g_assert_cmpuint(seen->unlisted, ==, 4);
        end(seen);

        seen = begin("growing", "libfake-nvml.so", &patient);
        gpu_wait(is_told, seen);
        g_assert_cmpuint(seen->n_processes, ==, 0);
        g_assert_cmpuint(seen->unlisted, ==, 4);
        end(seen);

        seen = begin("garbage", "libfake-nvml.so", &patient);
        gpu_wait(is_told, seen);
        g_assert_cmpuint(seen->n_processes, ==, 0);
        g_assert_cmpuint(seen->unlisted, >, 0);
        end(seen);
}

static void test_links(void)
{
        Seen *seen = begin("nvlink", "libfake-nvml.so", &patient);

        seen->ids = first_only;
        gpu_wait(is_told, seen);
        g_assert_cmpstr(seen->links, ==,
                FIRST ",0 " FIRST " " SECOND " 200000\n" FIRST ",1 " FIRST " " SECOND " 200000\n" FIRST
                      ",3 " FIRST " " SECOND "\n");
        g_assert_cmpuint(count_link_scans(seen), ==, 1);
        for (int i = 0; i < 3; i++) {
                seen->n_told = 0;
                gpu_wait(is_told, seen);
        }
        g_assert_cmpuint(seen->n_with_links, ==, 1);
        g_assert_cmpuint(count_link_scans(seen), ==, 1);

        /* An answer that is under way may be told first. */
        seen->ids = both;
        for (unsigned i = 0; seen->n_with_links < 2; i++) {
                g_assert_cmpuint(i, <, 10);
                seen->n_told = 0;
                gpu_wait(is_told, seen);
        }
        g_assert_nonnull(strstr(seen->links, SECOND ",0 " SECOND " " FIRST " 200000\n"));
        g_assert_cmpuint(count_link_scans(seen), ==, 3);
        end(seen);
}

static void test_switch_links(void)
{
        Seen *seen = begin("nvlink-switch", "libfake-nvml.so", &patient);

        seen->ids = first_only;
        gpu_wait(is_told, seen);
        g_assert_true(
                g_str_has_prefix(seen->links, FIRST ",0 " FIRST " 0000:0a:00.0 switch 212496\n" FIRST ",1 "));
        end(seen);
}

/* Peers with invalid addresses or of unknown kinds, and speeds of an unexpected type. */
static void test_odd_links(void)
{
        Seen *seen = begin("nvlink-odd", "libfake-nvml.so", &patient);

        seen->ids = first_only;
        gpu_wait(is_told, seen);
        g_assert_cmpstr(seen->links, ==, FIRST ",0 " FIRST " ?\n");
        end(seen);
}

/* Of a driver that reports more memory in use than there is, neither old nor new is believed. */
static void test_excess(void)
{
        static const struct {
                const char *library;
                uint64_t total;
        } cases[] = { { "libfake-nvml.so", 24 * GIB - GIB / 2 }, { "libfake-nvml-old.so", 24 * GIB } };

        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                Seen *seen = begin("excess", cases[i].library, &patient);

                gpu_wait(is_told, seen);
                g_assert_cmpuint(seen->devices[0].memory_total_bytes, ==, cases[i].total);
                g_assert_cmpuint(seen->figures[0].memory_used_bytes, ==, ALD_ABSENT_UINT64);
                end(seen);
        }
}

static void assert_nothing_told(const AldNvmlDevice *device, const AldDevice *figures)
{
        g_assert_cmpuint(figures->power_limit_micro_watts, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(figures->energy_micro_joules, ==, ALD_ABSENT_UINT64);
        g_assert_true(isnan(figures->fan_percent));
        g_assert_cmpint(figures->memory_temperature_milli_celsius, ==, ALD_ABSENT_INT64);
        g_assert_cmpuint(figures->memory_clock_hz, ==, ALD_ABSENT_UINT64);
        g_assert_true(isnan(figures->encoder_usage));
        g_assert_true(isnan(figures->decoder_usage));
        g_assert_true(isnan(figures->usage));
        g_assert_cmpuint(figures->memory_used_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(device->memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpint(figures->temperature_milli_celsius, ==, ALD_ABSENT_INT64);
        g_assert_cmpuint(figures->power_micro_watts, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(figures->clock_hz, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(figures->compute_processes, ==, ALD_ABSENT_UINT64);
}

static void test_errors(void)
{
        Seen *seen = begin("errors", "libfake-nvml.so", &patient);

        gpu_wait(is_told, seen);
        g_assert_cmpuint(seen->n_devices, ==, 2);
        g_assert_null(seen->names[0]);
        assert_nothing_told(&seen->devices[0], &seen->figures[0]);
        /* An error says nothing of whose memory it is. */
        g_assert_cmpint(seen->devices[0].unified, ==, ALD_ABSENT_BOOLEAN);
        end(seen);
}

static void test_garbage(void)
{
        Seen *seen = begin("garbage", "libfake-nvml.so", &patient);

        gpu_wait(is_told, seen);
        g_assert_null(seen->names[0]);
        assert_nothing_told(&seen->devices[0], &seen->figures[0]);
        /* Bits that nobody knows are no reasons, and do not hide the others. */
        assert_words(&seen->figures[0], "power thermal");
        end(seen);
}

static bool is_percent(double value)
{
        return isnan(value) || (value >= 0 && value <= 100);
}

/* Of a driver that answers something else at each call, what can be is shown, and nothing else. */
static void test_fickle(void)
{
        Seen *seen = begin("fickle", "libfake-nvml.so", &patient);
        const AldDevice *figures = &seen->figures[0];
        unsigned n_limits = 0;

        for (unsigned i = 0; i < 20; i++) {
                seen->n_told = 0;
                gpu_wait(is_told, seen);
                n_limits += figures->power_limit_micro_watts != ALD_ABSENT_UINT64;
                g_assert_true(figures->power_limit_micro_watts == ALD_ABSENT_UINT64 ||
                              figures->power_limit_micro_watts == 450000000 ||
                              figures->power_limit_micro_watts == 101000);
                g_assert_true(is_percent(figures->fan_percent) && is_percent(figures->encoder_usage) &&
                              is_percent(figures->decoder_usage));
                g_assert_true(figures->memory_temperature_milli_celsius == ALD_ABSENT_INT64 ||
                              figures->memory_temperature_milli_celsius == 88000 ||
                              figures->memory_temperature_milli_celsius == 101000);
                g_assert_cmpfloat(figures->usage, ==, 61);
        }
        g_assert_cmpuint(n_limits, >, 0);
        g_assert_cmpuint(n_limits, <, 20);
        g_assert_cmpuint(log_count(""), ==, 0);
        end(seen);
}

/* A GPU that fell off the bus is reported once, and when it is back. */
static void test_lost(void)
{
        Seen *seen = begin("lost", "libfake-nvml.so", &patient);

        seen->ids = first_only;
        for (int i = 0; i < 3; i++) {
                seen->n_told = 0;
                gpu_wait(is_told, seen);
                g_assert_cmpstr(seen->error, ==, "GPU is lost");
                assert_nothing_told(&seen->devices[0], &seen->figures[0]);
        }
        g_assert_cmpuint(log_count("NVML reports nothing about " FIRST ": GPU is lost"), ==, 1);
        fake_root_remove(seen->root, "while");
        do {
                seen->n_told = 0;
                gpu_wait(is_told, seen);
        } while (seen->error);
        g_assert_cmpuint(log_count("reports figures of " FIRST " again"), ==, 1);
        g_assert_cmpfloat(seen->figures[0].usage, ==, 61);
        end(seen);
}

static void test_gb10(void)
{
        static const char *const ids[] = { "000f:01:00.0", NULL };
        Seen *seen = begin("gb10", "libfake-nvml.so", &patient);

        seen->ids = ids;
        gpu_wait(is_told, seen);
        g_assert_cmpstr(seen->names[0], ==, "NVIDIA GB10");
        g_assert_cmpint(seen->devices[0].unified, ==, 1);
        g_assert_cmpuint(seen->devices[0].memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(seen->figures[0].memory_used_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpfloat(seen->figures[0].usage, ==, 12);
        end(seen);
}

static void test_tegra(void)
{
        static const char *const ids[] = { "17000000.gpu", NULL };
        Seen *seen = begin("tegra", "libfake-nvml.so", &patient);

        seen->ids = ids;
        gpu_wait(is_told, seen);
        g_assert_cmpstr(seen->names[0], ==, "Orin (nvgpu)");
        g_assert_cmpint(seen->devices[0].unified, ==, 1);
        g_assert_true(isnan(seen->figures[0].usage));
        end(seen);
}

/* No GPU has 0 bytes of memory. */
static void test_zeros(void)
{
        static const char *const ids[] = { "17000000.gpu", NULL };
        Seen *seen = begin("zeros", "libfake-nvml.so", &patient);

        seen->ids = ids;
        gpu_wait(is_told, seen);
        g_assert_cmpint(seen->devices[0].unified, ==, 1);
        g_assert_cmpuint(seen->devices[0].memory_total_bytes, ==, ALD_ABSENT_UINT64);
        g_assert_cmpuint(seen->figures[0].memory_used_bytes, ==, ALD_ABSENT_UINT64);
        end(seen);
}

static bool is_told_by_index(void *userdata)
{
        static const char *const ids[] = { "5582:00:00.0", "6673:00:00.0", "7764:00:00.0", NULL };
        Seen *seen = userdata;
        bool all;

        ald_nvml_source_ask(seen->source, ids + 1, ids + 1, ids, &all);
        return seen->n_told > 0;
}

/* The second and the third of three GPUs of Windows; NVML knows two. */
static void test_by_index(void)
{
        Seen *seen = begin("index", "libfake-nvml.so", &patient);

        gpu_wait(is_told_by_index, seen);
        g_assert_cmpuint(seen->n_devices, ==, 2);
        g_assert_cmpstr(seen->names[0], ==, "NVIDIA RTX A5000");
        g_assert_null(seen->names[1]);
        end(seen);
}

/* Fails thrice, with one line; then works again, with another. */
static void assert_recovers(const char *mode, const AldChildTiming *timing, const char *reason)
{
        Seen *seen = begin(mode, "libfake-nvml.so", timing);

        gpu_wait(is_lost_thrice, seen);
        g_assert_cmpuint(seen->n_told, ==, 0);
        g_assert_nonnull(ald_nvml_source_reason(seen->source));
        g_assert_nonnull(strstr(ald_nvml_source_reason(seen->source), reason));
        g_assert_cmpuint(log_count("alidade-nvml failed"), ==, 1);
        fake_root_remove(seen->root, "while");
        gpu_wait(is_told, seen);
        g_assert_cmpuint(seen->n_devices, ==, 2);
        g_assert_null(ald_nvml_source_reason(seen->source));
        g_assert_cmpuint(log_count("alidade-nvml works again"), ==, 1);
        end(seen);
}

static void test_init_error(void)
{
        assert_recovers("init-error", &patient, "Driver Not Loaded (error 9)");
}

static void test_crash(void)
{
        assert_recovers("crash", &patient, "signal 11");
}

static void test_hang(void)
{
        static const char *const modes[] = { "hang-init", "hang-sample" };

        for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
                Seen *seen = begin(modes[i], "libfake-nvml.so", &hasty);

                gpu_wait(is_lost, seen);
                g_assert_nonnull(strstr(ald_nvml_source_reason(seen->source), "did not answer in time"));
                gpu_wait(is_over, seen);
                end(seen);
        }
}

static void test_no_library(void)
{
        Seen *seen = begin("", "libno-such.so", &patient);

        gpu_wait(is_lost, seen);
        g_assert_nonnull(strstr(ald_nvml_source_reason(seen->source), "libno-such.so"));
        end(seen);
}

/* Whoever is to be let go of ends the helper; with nobody left there is none. */
static void test_lets_go(void)
{
        Seen *seen = begin("", "libfake-nvml.so", &patient);
        g_autofree char *log = NULL;
        const char *again;

        gpu_wait(is_told, seen);
        seen->ids = first_only;
        seen->n_told = 0;
        gpu_wait(is_told, seen);
        g_assert_cmpuint(seen->n_devices, ==, 1);
        log = read_log(seen);
        again = strstr(log + 1, "init");
        g_assert_nonnull(again);
        /* The new helper never met the other one. */
        g_assert_null(strstr(again, "02:00.0"));

        g_assert_true(ald_nvml_source_is_running(seen->source));
        seen->ids = none;
        g_assert_false(ask(seen, none));
        gpu_wait(is_over, seen);
        g_assert_cmpuint(seen->n_lost, ==, 0);
        g_assert_cmpuint(log_count(""), ==, 0);
        end(seen);
}

static void test_nobody_to_ask(void)
{
        Seen *seen = begin("", "libfake-nvml.so", &patient);

        seen->ids = none;
        g_assert_false(ask(seen, none));
        g_assert_false(ald_nvml_source_is_running(seen->source));
        end(seen);
}

static AldRecord *parse(const char *devices)
{
        g_autofree char *text = g_strdup_printf("{\"Devices\":[%s]}", devices);
        AldRecord *answer = NULL;

        g_assert_cmpint(ald_message_parse(ALD_KIND_NVML_ANSWER, text, strlen(text), ALD_CHILD_MESSAGE_MAX,
                                &answer, NULL),
                ==, 0);
        return answer;
}

/* What a driver may get wrong: none of it is believed, the rest is. */
static void test_implausible(void)
{
        static const char *const wrong[] = { "\"Usage\":101", "\"Usage\":-1", "\"MemoryUsedBytes\":1",
                "\"MemoryUsedBytes\":2,\"MemoryTotalBytes\":1", "\"MemoryTotalBytes\":0",
                "\"TemperatureMilliCelsius\":250001", "\"TemperatureMilliCelsius\":-100001",
                "\"PowerMicroWatts\":20000000001", "\"ClockHz\":0", "\"ClockHz\":20000000001",
                "\"ComputeProcesses\":4194305", "\"PowerLimitMicroWatts\":0",
                "\"PowerLimitMicroWatts\":20000000001", "\"FanPercent\":255",
                "\"MemoryTemperatureMilliCelsius\":250001", "\"MemoryClockHz\":0", "\"EncoderUsage\":101",
                "\"DecoderUsage\":-1", "\"EnergyMicroJoules\":-1", "\"Usage\":\"7\"", "\"ClockHz\":1e300" };

        for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
                g_autofree char *row = g_strdup_printf("{\"Id\":\"%s\",\"Name\":\"x\",%s}", FIRST, wrong[i]);
                g_autoptr(AldRecord) answer = parse(row);
                AldNvmlDevice device = *(const AldNvmlDevice *) ald_rows_find(
                        &ald_record_as(answer, NVML_ANSWER, AldNvmlAnswer)->devices, FIRST);
                AldDevice figures;

                g_test_message("%s", wrong[i]);
                g_assert_cmpstr(device.name, ==, "x");
                ald_nvml_device_figures(&device, &figures);
                g_assert_null(figures.id);
                if (device.memory_total_bytes == 1) /* only more in use than this was wrong */
                        device.memory_total_bytes = ALD_ABSENT_UINT64;
                assert_nothing_told(&device, &figures);
        }
}

static void test_plausible(void)
{
        g_autoptr(AldRecord) answer = parse("{\"Id\":\"" FIRST "\",\"Usage\":100,\"MemoryUsedBytes\":5,"
                                            "\"MemoryTotalBytes\":5,\"TemperatureMilliCelsius\":-100000,"
                                            "\"PowerMicroWatts\":0,\"ClockHz\":1,\"ComputeProcesses\":0}");
        AldDevice figures;

        ald_nvml_device_figures(
                ald_rows_at(&ald_record_as(answer, NVML_ANSWER, AldNvmlAnswer)->devices, 0), &figures);
        g_assert_cmpfloat(figures.usage, ==, 100);
        g_assert_cmpuint(figures.memory_used_bytes, ==, 5);
        g_assert_cmpint(figures.temperature_milli_celsius, ==, -100000);
        g_assert_cmpuint(figures.power_micro_watts, ==, 0);
        g_assert_cmpuint(figures.clock_hz, ==, 1);
        g_assert_cmpuint(figures.compute_processes, ==, 0);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        log_count_install();
        g_test_add_func("/gpu-nvml/dual", test_dual);
        g_test_add_func("/gpu-nvml/live", test_live);
        g_test_add_func("/gpu-nvml/due", test_due);
        g_test_add_func("/gpu-nvml/old-driver", test_old_driver);
        g_test_add_func("/gpu-nvml/links", test_links);
        g_test_add_func("/gpu-nvml/processes", test_processes);
        g_test_add_func("/gpu-nvml/absurd-processes", test_absurd_processes);
        g_test_add_func("/gpu-nvml/switch-links", test_switch_links);
        g_test_add_func("/gpu-nvml/odd-links", test_odd_links);
        g_test_add_func("/gpu-nvml/excess", test_excess);
        g_test_add_func("/gpu-nvml/errors", test_errors);
        g_test_add_func("/gpu-nvml/garbage", test_garbage);
        g_test_add_func("/gpu-nvml/fickle", test_fickle);
        g_test_add_func("/gpu-nvml/lost", test_lost);
        g_test_add_func("/gpu-nvml/gb10", test_gb10);
        g_test_add_func("/gpu-nvml/tegra", test_tegra);
        g_test_add_func("/gpu-nvml/zeros", test_zeros);
        g_test_add_func("/gpu-nvml/by-index", test_by_index);
        g_test_add_func("/gpu-nvml/init-error", test_init_error);
        g_test_add_func("/gpu-nvml/crash", test_crash);
        g_test_add_func("/gpu-nvml/hang", test_hang);
        g_test_add_func("/gpu-nvml/no-library", test_no_library);
        g_test_add_func("/gpu-nvml/lets-go", test_lets_go);
        g_test_add_func("/gpu-nvml/nobody-to-ask", test_nobody_to_ask);
        g_test_add_func("/gpu-nvml/implausible", test_implausible);
        g_test_add_func("/gpu-nvml/plausible", test_plausible);
        return g_test_run();
}
