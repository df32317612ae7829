/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <math.h>

#include "record/figure-text.h"
#include "record/kind.h"

static const struct {
        const AldUnit *unit;
        double value;
        const char *text;
} cases[] = {
        { &ald_unit_bytes, 0, "0 B" },
        { &ald_unit_bytes, 1023, "1023 B" },
        { &ald_unit_bytes, 1024, "1.00 KiB" },
        { &ald_unit_bytes, 0x1p30 * 1.5, "1.50 GiB" },
        { &ald_unit_bytes, 0x1p30 * 1000, "1000 GiB" },
        { &ald_unit_bytes, 0x1p40 - 1, "1.00 TiB" }, /* never 1024 GiB */
        { &ald_unit_bytes, -1, "–" },
        { &ald_unit_bytes, NAN, "–" },
        { &ald_unit_octets, 1500, "1500" },
        { &ald_unit_bytes_per_second, 1.008e12, "1.01 TB/s" },
        { &ald_unit_bits_per_second, 999, "999 b/s" },
        { &ald_unit_bits_per_second, 12345678, "12.3 Mb/s" },
        { &ald_unit_bits_per_second, 999499999, "999 Mb/s" },
        { &ald_unit_bits_per_second, 999500000, "1.00 Gb/s" },
        { &ald_unit_bits_per_second, 0x1p53, "9.01 Pb/s" },
        { &ald_unit_transfers_per_second, 2.5e9, "2.50 GT/s" },
        { &ald_unit_tokens_per_second, 9.5, "9.50 tokens/s" },
        { &ald_unit_teraflops, 82.58, "82.6 TFLOPS" },
        { &ald_unit_teraflops, 0.5, "500 GFLOPS" },
        { &ald_unit_hertz, 2.52e9, "2.52 GHz" },
        { &ald_unit_percent, 0, "0 %" },
        { &ald_unit_percent, 0.01, "<0.1 %" },
        { &ald_unit_percent, 0.42, "0.4 %" },
        { &ald_unit_percent, 3, "3 %" },
        { &ald_unit_percent, 3.14, "3.1 %" },
        { &ald_unit_percent, 9.96, "10 %" },
        { &ald_unit_millicelsius, 61400, "61 °C" },
        { &ald_unit_millicelsius, -5400, "-5 °C" },
        { &ald_unit_millicelsius, -400, "0 °C" },
        { &ald_unit_microwatts, 4.52e6, "4.5 W" },
        { &ald_unit_microwatts, 220e6, "220 W" },
        { &ald_unit_microwatts, 999.4e6, "999 W" },
        { &ald_unit_microwatts, 999.6e6, "1.00 kW" },
        { &ald_unit_microwatts, 1.84e9, "1.84 kW" },
        { &ald_unit_microwatts, 62.5e9, "62.5 kW" },
        { &ald_unit_microjoules, 3.6e12, "3.60 MJ" },
        { &ald_unit_revolutions_per_minute, 1780, "1780 rpm" },
        { &ald_unit_nanoseconds, 120, "120 ns" },
        { &ald_unit_nanoseconds, 18200, "18.2 µs" },
        { &ald_unit_milliseconds, 18200, "18.2 s" },
        { &ald_unit_seconds, 0.8, "800 ms" },
        { &ald_unit_seconds, 1.2, "1.20 s" },
        { &ald_unit_microseconds, 9e6, "9.00 s" },
        { &ald_unit_microseconds, 9755201806.0, "2 h 42 min" },
        { &ald_unit_microseconds, 3 * 86400e6, "3 d" },
        { &ald_unit_microseconds, -1, "–" },
        { &ald_unit_microseconds_since_1970, 1e15, "2001-09-09 01:46:40 UTC" },
        { NULL, 12, "12" },
        { NULL, 1.25, "1.25" },
        { NULL, 0x1p53, "9007199254740992" },
        { NULL, NAN, "–" },
};

static void test_texts(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = ald_format_figure(cases[i].unit, cases[i].value);

                g_assert_cmpstr(text, ==, cases[i].text);
        }
}

/* Of a row or record that is in the tables of the schema. */
static void check_fields(const AldStruct *type)
{
        for (size_t i = 0; i < type->n_fields; i++) {
                const AldField *field = &type->fields[i];
                const AldUnit *told = ald_unit_of_name(field->name);

                if (field->type == ALD_TYPE_ROWS)
                        check_fields(field->rows);
                if (field->unit && field->unit->is_real)
                        g_assert_cmpint(field->type, ==, ALD_TYPE_DOUBLE);
                if (told && (field->type == ALD_TYPE_UINT64 || field->type == ALD_TYPE_INT64 ||
                                    field->type == ALD_TYPE_DOUBLE))
                        g_assert_cmpstr(field->unit ? field->unit->name : "none", ==, told->name);
        }
}

/* A field of a newer peer is shown by its name as that peer shows it by its unit. */
static void test_names_tell_units(void)
{
        for (size_t kind = 0; kind < ALD_N_KINDS; kind++)
                check_fields(ald_kinds[kind].type);
        g_assert_true(ald_unit_of_name("UploadBitsPerSecond") == &ald_unit_bits_per_second);
        g_assert_true(ald_unit_of_name("TimeToLiveUSec") == &ald_unit_microseconds);
        g_assert_true(ald_unit_of_name("AgeUSec") == &ald_unit_microseconds);
        g_assert_true(ald_unit_of_name("MeasuredUSec") == &ald_unit_microseconds_since_1970);
        g_assert_null(ald_unit_of_name("Generation"));
}

/* Each entry has what its users read. */
static void test_entries(void)
{
        for (const AldUnit *const *unit = ald_units; *unit; unit++) {
                g_assert_nonnull((*unit)->name);
                g_assert_nonnull((*unit)->endings[0]);
                g_assert_true((*unit)->symbols && (*unit)->symbols[0]);
                g_assert_true((*unit)->symbols[1] == NULL || (*unit)->step > 1);
                g_assert_true((*unit)->metric_words && (*unit)->metric_base);
                g_assert_cmpint((*unit)->metric_factor, >, 0);
        }
}

static void test_durations(void)
{
        g_autofree char *whole = ald_format_whole_unit(7199e6), *none = ald_format_whole_unit(0.9e6);
        g_autofree char *ahead = ald_format_offset(3200), *behind = ald_format_offset(-1.5e6);

        g_assert_cmpstr(whole, ==, "1 h");
        g_assert_null(none);
        g_assert_cmpstr(ahead, ==, "+3.20 ms");
        g_assert_cmpstr(behind, ==, "-1.50 s");
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/units/texts", test_texts);
        g_test_add_func("/units/names-tell-units", test_names_tell_units);
        g_test_add_func("/units/entries", test_entries);
        g_test_add_func("/units/durations", test_durations);
        return g_test_run();
}
