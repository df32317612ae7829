/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "record/field.h"
#include "services/witness/drm-fdinfo.h"

#define HEAD "pos:\t0\nflags:\t02100002\nmnt_id:\t24\nino:\t1033\n"
#define MIB (UINT64_C(1024) * 1024)
#define UNKNOWN ALD_ABSENT_UINT64

/* As drivers of Linux 6.1 to 6.17 write it. */
#define AMDGPU                                                                                             \
        HEAD "drm-driver:\tamdgpu\ndrm-client-id:\t42\ndrm-pdev:\t0000:03:00.0\npasid:\t32770\n"           \
             "drm-total-cpu:\t0\ndrm-total-gtt:\t80 MiB\ndrm-total-vram:\t6144 MiB\ndrm-shared-vram:\t12 " \
             "MiB\n"                                                                                       \
             "drm-resident-vram:\t6100 MiB\ndrm-purgeable-vram:\t0\ndrm-memory-vram:\t6246400 KiB\n"       \
             "drm-memory-gtt: \t81920 KiB\namd-requested-vram:\t6291456 KiB\n"                             \
             "drm-engine-gfx:\t12000000000 ns\ndrm-engine-compute:\t7000000000 ns\n"
#define OLD_AMDGPU                                                                                       \
        HEAD "lock:\t1: FLOCK  ADVISORY  WRITE 9 00:06:9 0 "                                             \
             "EOF\npasid:\t32770\ndrm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-memory-vram:\t2048 " \
             "KiB\n"
#define I915                                                                                                 \
        HEAD "drm-driver:\ti915\ndrm-client-id:\t17\ndrm-pdev:\t0000:00:02.0\ndrm-total-system0:\t96 MiB\n"  \
             "drm-resident-system0:\t96 MiB\ndrm-total-stolen-system0:\t2 MiB\ndrm-engine-render:\t500 ns\n" \
             "drm-engine-copy:\t0 ns\ndrm-engine-video:\t0 ns\ndrm-engine-capacity-video:\t2\n"
#define ARC_I915                                                                                            \
        HEAD "drm-driver:\ti915\ndrm-client-id:\t9\ndrm-pdev:\t0000:03:00.0\ndrm-total-system0:\t3 MiB\n"   \
             "drm-total-local0:\t900 MiB\ndrm-resident-local0:\t512 MiB\ndrm-total-stolen-local0:\t1 MiB\n" \
             "drm-engine-render:\t1 ns\ndrm-engine-compute:\t0 ns\n"
#define XE                                                                                          \
        HEAD "drm-driver:\txe\ndrm-client-id:\t5\ndrm-pdev:\t0000:03:00.0\ndrm-total-system:\t0\n"  \
             "drm-total-gtt:\t192 KiB\ndrm-total-vram0:\t3072 MiB\ndrm-resident-vram0:\t3000 MiB\n" \
             "drm-total-vram1:\t64 MiB\ndrm-resident-vram1:\t24 MiB\ndrm-total-stolen:\t0\n"        \
             "drm-cycles-rcs:\t28257900\ndrm-total-cycles-rcs:\t7655183225\n"                       \
             "drm-cycles-ccs:\t1000\ndrm-total-cycles-ccs:\t7655183225\ndrm-engine-capacity-ccs:\t4\n"
#define PANFROST                                                                                           \
        HEAD "drm-driver:\tpanfrost\ndrm-client-id:\t3\ndrm-engine-fragment:\t1846584880 ns\n"             \
             "drm-cycles-fragment:\t1424359409\ndrm-maxfreq-fragment:\t799999987 Hz\n"                     \
             "drm-curfreq-fragment:\t799999987 Hz\ndrm-total-memory:\t290 MiB\ndrm-resident-memory:\t290 " \
             "MiB\n"
#define AMDXDNA                                                                                \
        HEAD "drm-driver:\tamdxdna_accel_driver\ndrm-client-id:\t7\ndrm-pdev:\t0000:c4:00.1\n" \
             "drm-engine-npu-amdxdna:\t99 ns\ndrm-total-memory:\t64 MiB\n"
#define IVPU                                                                                              \
        HEAD "drm-driver:\tintel_vpu\ndrm-client-id:\t8\ndrm-pdev:\t0000:00:0b.0\ndrm-total-memory:\t16 " \
             "MiB\n"
#define NOUVEAU HEAD "drm-driver:\tnouveau\ndrm-client-id:\t2\ndrm-pdev:\t0000:01:00.0\n"

static const struct {
        const char *text, *device, *driver;
        uint64_t client, memory_bytes;
        bool has_compute, computed;
        unsigned n_engines;
} drivers[] = {
        { AMDGPU, "0000:03:00.0", "amdgpu", 42, 6100 * MIB, true, true, 2 },
        { OLD_AMDGPU, "0000:03:00.0", "amdgpu", UNKNOWN, 2 * MIB, true, false, 0 },
        { I915, "0000:00:02.0", "i915", 17, UNKNOWN, false, false, 3 },
        { ARC_I915, "0000:03:00.0", "i915", 9, 512 * MIB, true, false, 2 },
        { XE, "0000:03:00.0", "xe", 5, 3024 * MIB, true, true, 2 },
        { PANFROST, "panfrost", "panfrost", 3, UNKNOWN, false, false, 1 },
        { AMDXDNA, "0000:c4:00.1", "amdxdna_accel_driver", 7, UNKNOWN, true, true, 1 },
        { IVPU, "0000:00:0b.0", "intel_vpu", 8, UNKNOWN, false, false, 0 },
        { NOUVEAU, "0000:01:00.0", "nouveau", 2, UNKNOWN, false, false, 0 },
};

static void test_drivers(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(drivers); i++) {
                AldFdinfo info;

                g_assert_true(ald_fdinfo_parse(drivers[i].text, &info));
                g_assert_cmpstr(info.device, ==, drivers[i].device);
                g_assert_cmpstr(info.driver, ==, drivers[i].driver);
                g_assert_cmpuint(info.client, ==, drivers[i].client);
                g_assert_cmpuint(info.memory_bytes, ==, drivers[i].memory_bytes);
                g_assert_cmpint(info.has_compute, ==, drivers[i].has_compute);
                g_assert_cmpint(info.computed, ==, drivers[i].computed);
                g_assert_cmpuint(info.n_engines, ==, drivers[i].n_engines);
        }
}

static void test_other_descriptors(void)
{
        static const char *const texts[] = {
                "",
                HEAD,
                HEAD "eventfd-count: 0\n",
                "tfd: 5 events: 19 data: 5 pos:0 ino:61af sdev:7\n",
                "drm-driver:\n",
                HEAD "drm-driver:\t \n",
                HEAD "xdrm-driver: xe\n",
                /* A process chose the name of this dma-buf. */
                HEAD "size:\t4096\ncount:\t1\nexp_name:\tudmabuf\nname:\t\ndrm-driver:xe\ndrm-cycles-ccs:9\n",
                HEAD "iff:\ttap0\ndrm-driver:\txe\n",
        };

        for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
                AldFdinfo info;

                g_assert_false(ald_fdinfo_parse(texts[i], &info));
        }
}

/* What no driver means is no figure. */
static void test_odd_figures(void)
{
        static const char *const odd[] = { "-1 KiB", "", "x", "1 TiB", "1073741825 MiB",
                "99999999999999999999", "1125899906842625", "0x10", "4096 kB" };

        for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
                g_autofree char *text = g_strdup_printf(
                        HEAD "drm-driver: xe\ndrm-resident-vram0: %s\ndrm-engine-: 5 ns\n", odd[i]);
                AldFdinfo info;

                g_assert_true(ald_fdinfo_parse(text, &info));
                g_assert_cmpuint(info.memory_bytes, ==, UNKNOWN);
                g_assert_cmpuint(info.n_engines, ==, 0);
        }
}

/* One that is invented has no PCI address, and the name of a device is never too long. */
static void test_odd_devices(void)
{
        AldFdinfo info;

        g_assert_true(ald_fdinfo_parse(
                HEAD "drm-driver: a-driver-with-a-name-that-no-driver-has\ndrm-pdev: ../../etc\n", &info));
        g_assert_cmpstr(info.device, ==, "a-driver-with-a-name-that-no-dr");
        g_assert_cmpstr(info.driver, ==, info.device);
}

static void test_too_many_engines(void)
{
        GString *text = g_string_new(HEAD "drm-driver: xe\n");
        AldFdinfo info;

        for (unsigned i = 0; i < 10 * ALD_FDINFO_ENGINES_MAX; i++)
                g_string_append_printf(text, "drm-engine-e%u: 1 ns\n", i);
        g_assert_true(ald_fdinfo_parse(text->str, &info));
        g_assert_cmpuint(info.n_engines, ==, ALD_FDINFO_ENGINES_MAX);
        g_string_free(text, TRUE);
}

static AldFdinfo parse(const char *engines)
{
        g_autofree char *text = g_strconcat(HEAD "drm-driver: xe\n", engines, NULL);
        AldFdinfo info;

        g_assert_true(ald_fdinfo_parse(text, &info));
        return info;
}

static double usage(const char *before, const char *now)
{
        AldFdinfo earlier = parse(before), later = parse(now);

        return ald_fdinfo_usage(&earlier, &later, 1000);
}

static void test_usage(void)
{
        /* The busiest engine counts, in ns of the 1000 that have passed. */
        g_assert_cmpfloat(usage("drm-engine-a: 5 ns\ndrm-engine-b: 0 ns\n",
                                  "drm-engine-a: 105 ns\ndrm-engine-b: 250 ns\n"),
                ==, 25);
        /* Two engines of one name. */
        g_assert_cmpfloat(usage("drm-engine-v: 0 ns\ndrm-engine-capacity-v: 2\n",
                                  "drm-engine-v: 500 ns\ndrm-engine-capacity-v: 2\n"),
                ==, 25);
        /* Cycles of those that there were. */
        g_assert_cmpfloat(usage("drm-cycles-c: 10\ndrm-total-cycles-c: 100\n",
                                  "drm-cycles-c: 60\ndrm-total-cycles-c: 200\n"),
                ==, 50);
        /* An engine that was not used before is first listed now. */
        g_assert_cmpfloat(usage("", "drm-engine-a: 300 ns\n"), ==, 30);
        /* Never more than all. */
        g_assert_cmpfloat(usage("", "drm-engine-a: 1900 ns\n"), ==, 100);
}

static void test_no_usage(void)
{
        g_assert_true(isnan(usage("", "")));
        /* A client was closed. */
        g_assert_true(isnan(usage("drm-engine-a: 300 ns\n", "drm-engine-a: 100 ns\n")));
        /* The clock of the cycles did not move, or was not known. */
        g_assert_true(isnan(usage(
                "drm-cycles-c: 1\ndrm-total-cycles-c: 9\n", "drm-cycles-c: 2\ndrm-total-cycles-c: 9\n")));
        g_assert_true(isnan(usage("", "drm-cycles-c: 2\ndrm-total-cycles-c: 9\n")));
}

static void test_sum(void)
{
        AldFdinfo sum = parse("drm-resident-vram0: 1 MiB\ndrm-engine-a: 5 ns\ndrm-cycles-ccs: 0\n");
        const AldFdinfo other = parse("drm-resident-vram0: 2 MiB\ndrm-engine-b: 7 ns\ndrm-engine-a: 5 ns\n"
                                      "drm-cycles-ccs: 9\ndrm-total-cycles-ccs: 100\n");

        ald_fdinfo_add(&sum, &other);
        g_assert_cmpuint(sum.memory_bytes, ==, 3 * MIB);
        g_assert_cmpuint(sum.n_engines, ==, 3);
        g_assert_cmpuint(sum.engines[0].busy, ==, 10);
        g_assert_cmpuint(sum.engines[1].busy, ==, 9);
        g_assert_cmpuint(sum.engines[1].total, ==, 100);
        g_assert_true(sum.computed);
}

int main(int argc, char *argv[])
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/drm-fdinfo/drivers", test_drivers);
        g_test_add_func("/drm-fdinfo/other-descriptors", test_other_descriptors);
        g_test_add_func("/drm-fdinfo/odd-figures", test_odd_figures);
        g_test_add_func("/drm-fdinfo/odd-devices", test_odd_devices);
        g_test_add_func("/drm-fdinfo/too-many-engines", test_too_many_engines);
        g_test_add_func("/drm-fdinfo/usage", test_usage);
        g_test_add_func("/drm-fdinfo/no-usage", test_no_usage);
        g_test_add_func("/drm-fdinfo/sum", test_sum);
        return g_test_run();
}
