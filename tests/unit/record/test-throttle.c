/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The reasons of all drivers in the same words. */
#include <glib.h>

#include "record/throttle.h"

static void assert_words(unsigned reasons, const char *expected)
{
        g_autofree char *text = g_strjoinv(" ", (char **) ald_throttle_words(reasons));

        g_assert_cmpstr(text, ==, expected);
        g_assert_cmpuint(ald_throttle_from_words(ald_throttle_words(reasons)), ==, reasons & 15);
}

static void test_words(void)
{
        static const char *const odd[] = { "thermal", "cosmic", "", "power", NULL };

        for (unsigned reasons = 0; reasons < 16; reasons++)
                g_assert_cmpuint(ald_throttle_from_words(ald_throttle_words(reasons)), ==, reasons);
        assert_words(0, "");
        assert_words(ALD_THROTTLE_POWER | ALD_THROTTLE_SETTING, "power setting");
        assert_words(ALD_THROTTLE_THERMAL | ALD_THROTTLE_HARDWARE, "thermal hardware");
        assert_words(~0u, "power thermal hardware setting");
        g_assert_cmpuint(ald_throttle_from_words(NULL), ==, 0);
        g_assert_cmpuint(ald_throttle_from_words(odd), ==, ALD_THROTTLE_THERMAL | ALD_THROTTLE_POWER);
}

static void test_nvml(void)
{
        g_assert_cmpuint(ald_throttle_from_nvml(0), ==, 0);
        /* Idle, sync boost, and bits of the future. */
        g_assert_cmpuint(ald_throttle_from_nvml(0xfffffffffffffe11), ==, 0);
        g_assert_cmpuint(ald_throttle_from_nvml(0x4), ==, ALD_THROTTLE_POWER);
        g_assert_cmpuint(ald_throttle_from_nvml(0x8 | 0x80), ==, ALD_THROTTLE_HARDWARE);
        g_assert_cmpuint(ald_throttle_from_nvml(0x20), ==, ALD_THROTTLE_THERMAL);
        g_assert_cmpuint(ald_throttle_from_nvml(0x40), ==, ALD_THROTTLE_THERMAL);
        g_assert_cmpuint(ald_throttle_from_nvml(0x2 | 0x100), ==, ALD_THROTTLE_SETTING);
}

static void test_amdgpu(void)
{
        g_assert_cmpuint(ald_throttle_from_amdgpu(0), ==, 0);
        g_assert_cmpuint(ald_throttle_from_amdgpu(1), ==, ALD_THROTTLE_POWER);
        g_assert_cmpuint(ald_throttle_from_amdgpu(UINT64_C(1) << 23), ==, ALD_THROTTLE_POWER);
        g_assert_cmpuint(ald_throttle_from_amdgpu(UINT64_C(1) << 34), ==, ALD_THROTTLE_THERMAL);
        g_assert_cmpuint(ald_throttle_from_amdgpu(UINT64_C(1) << 47), ==, ALD_THROTTLE_HARDWARE);
        g_assert_cmpuint(ald_throttle_from_amdgpu(UINT64_C(0xfeff0000ff00ff00)), ==, 0);
}

static void test_intel(void)
{
        g_assert_cmpuint(ald_throttle_from_intel("reason_pl1"), ==, ALD_THROTTLE_POWER);
        g_assert_cmpuint(ald_throttle_from_intel("throttle_reason_pl4"), ==, ALD_THROTTLE_POWER);
        g_assert_cmpuint(ald_throttle_from_intel("reason_psys_crit"), ==, ALD_THROTTLE_POWER);
        g_assert_cmpuint(ald_throttle_from_intel("reason_vr_thermalert"), ==, ALD_THROTTLE_THERMAL);
        g_assert_cmpuint(ald_throttle_from_intel("reason_vr_tdc"), ==, ALD_THROTTLE_HARDWARE);
        g_assert_cmpuint(ald_throttle_from_intel("throttle_reason_status"), ==, 0);
        g_assert_cmpuint(ald_throttle_from_intel("thermal"), ==, 0);
        g_assert_cmpuint(ald_throttle_from_intel("reason_unheard_of"), ==, 0);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/throttle/words", test_words);
        g_test_add_func("/throttle/nvml", test_nvml);
        g_test_add_func("/throttle/amdgpu", test_amdgpu);
        g_test_add_func("/throttle/intel", test_intel);
        return g_test_run();
}
