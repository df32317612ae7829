/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "clients/common/format.h"

static const struct {
        char *(*format)(double value);
        double value;
        const char *expected;
} cases[] = {
        { ald_format_bytes, 0, "0 B" },
        { ald_format_bytes, 1023, "1023 B" },
        { ald_format_bytes, 1024, "1.00 KiB" },
        { ald_format_bytes, 1024.0 * 1024 * 1024 * 64, "64.0 GiB" },
        { ald_format_bytes, 1024.0 * 1024 * 1024 * 128, "128 GiB" },
        { ald_format_bytes, 1024.0 * 1024 * 1024 - 1, "1.00 GiB" }, /* never 1024 MiB */
        { ald_format_bytes, 9007199254740992.0, "8.00 PiB" },
        { ald_format_bytes, -1, "–" },
        { ald_format_bytes, NAN, "–" },
        { ald_format_bytes, INFINITY, "–" },
        { ald_format_bits_per_second, 25e9, "25.0 Gb/s" },
        { ald_format_bits_per_second, 999.9e6, "1.00 Gb/s" },
        { ald_format_bytes_per_second, 1.008e12, "1.01 TB/s" },
        { ald_format_tflops, 82.58, "82.6 TFLOPS" },
        { ald_format_tflops, 0.5, "500 GFLOPS" },
        { ald_format_tflops, 1650, "1.65 PFLOPS" },
        { ald_format_percent, 0, "0 %" },
        { ald_format_percent, 0.4, "0.4 %" },
        { ald_format_percent, 12.5, "12 %" },
        { ald_format_percent, 100, "100 %" },
        { ald_format_percent, NAN, "–" },
        { ald_format_nsec, 18200, "18.2 µs" },
        { ald_format_nsec, 120, "120 ns" },
        { ald_format_count, 12, "12" },
        { ald_format_count, NAN, "–" },
};

static void test_numbers(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
                g_autofree char *text = cases[i].format(cases[i].value);

                g_assert_cmpstr(text, ==, cases[i].expected);
        }
}

static const struct {
        const char *field;
        double greatest, value;
        const char *unit, *expected;
} shared_unit_cases[] = {
        { "AvailableBytes", 50.0 * (1 << 30), 48.0 * (1 << 30), "GiB", "48.0" },
        { "AvailableBytes", 50.0 * (1 << 30), 3.0 * (1 << 20), "GiB", "0.0029" },
        { "AvailableBytes", 50.0 * (1 << 30), 1.0 * (1 << 19), "GiB", "<0.001" },
        { "AvailableBytes", 50.0 * (1 << 30), 0, "GiB", "0" },
        { "AvailableBytes", 900, 12, "B", "12" },
        { "UploadBitsPerSecond", 999.9e6, 94.1e6, "Gb/s", "0.094" },
        { "MemoryBandwidthBytesPerSecond", 1.2e12, 0.94e12, "TB/s", "0.94" },
        { "RttP50NSec", 12e6, 30400, "ms", "0.030" },
        { "GemmTflops", 82.6, 82.6, "TFLOPS", "82.6" },
        { "GemmTflops", 0.5, 0.25, "GFLOPS", "250" },
        { "TemperatureMilliCelsius", 61000, -5400, "°C", "-5.40" },
        { "PowerMicroWatts", 220e6, 4.5e6, "W", "4.50" },
        { "CpuUsage", 98, 12.5, "%", "12.5" },
        { "CpuUsage", 98, 3, "%", "3" },
        { "ComputeProcesses", 3, 1.25, "", "1.25" },
        { "ComputeProcesses", 3, 2, "", "2" },
        { "ComputeProcesses", NAN, NAN, "", "–" },
};

static void test_shared_units(void)
{
        for (size_t i = 0; i < G_N_ELEMENTS(shared_unit_cases); i++) {
                AldFigureUnit unit = ald_figure_unit(
                        ald_unit_of_name(shared_unit_cases[i].field), shared_unit_cases[i].greatest);
                g_autofree char *text = ald_format_in_unit(&unit, shared_unit_cases[i].value);

                g_assert_cmpstr(unit.name, ==, shared_unit_cases[i].unit);
                g_assert_cmpstr(text, ==, shared_unit_cases[i].expected);
        }
}

/* Figures have the digits that printf() gives, ties and all. */
static void test_rounding(void)
{
        const AldFigureUnit unit = { 1, "" };

        for (unsigned i = 0; i < 50000; i++) {
                double value = g_test_rand_double() * pow(10, g_test_rand_int_range(-2, 11));
                g_autofree char *text = NULL, *expected = NULL;
                const char *point;

                if (g_test_rand_bit())
                        value = rint(value * 16) / 16; /* often a tie */
                text = ald_format_in_unit(&unit, value);
                point = strchr(text, '.');
                expected = g_strdup_printf("%.*f", point ? (int) strlen(point + 1) : 0, value);
                if (text[0] != '<')
                        g_assert_cmpstr(text, ==, expected);
        }
}

static void assert_of(double part, double whole, const char *expected)
{
        g_autofree char *text = ald_format_bytes_of(part, whole);

        g_assert_cmpstr(text, ==, expected);
}

static void test_bytes_of(void)
{
        double gib = 1024.0 * 1024 * 1024;

        assert_of(45.1 * gib, 62.7 * gib, "45.1/62.7 GiB");
        assert_of(0, 128 * gib, "0/128 GiB");
        assert_of(NAN, 64 * gib, "–/64.0 GiB");
        assert_of(16 * gib, NAN, "16.0 GiB");
        assert_of(NAN, NAN, "–");
}

static void assert_age(double seconds, const char *expected)
{
        g_autofree char *text = ald_format_age(1e15, 1e15 + seconds * 1e6);

        g_assert_cmpstr(text, ==, expected);
}

static void test_age(void)
{
        g_autofree char *unknown = ald_format_age(NAN, 1e15);

        assert_age(0, "now");
        assert_age(366 * 86400, "366 d ago");
        assert_age(367 * 86400, "2001-09-09");
        assert_age(0.9, "now");
        assert_age(3.5, "3 s ago");
        assert_age(59.9, "59 s ago");
        assert_age(60, "1 min ago");
        assert_age(3600, "1 h ago");
        assert_age(86400 * 3, "3 d ago");
        assert_age(-100, "now");
        g_assert_cmpstr(unknown, ==, "–");
}

static void assert_raw(const char *name, json_t *value, const char *expected)
{
        g_autofree char *text = ald_format_raw(name, value, 1e15);

        g_assert_cmpstr(text, ==, expected);
        json_decref(value);
}

static void test_raw_fields(void)
{
        assert_raw("TimeToLiveUSec", json_integer(9000000), "9.00 s");
        assert_raw("TimeToLiveUSec", json_integer(300500000), "5 min");
        assert_raw("TimeToLiveUSec", json_integer(9755201806), "2 h 42 min");
        assert_raw("TimeToLiveUSec", json_integer(90000000000), "1 d 1 h");
        assert_raw("TimeToLiveUSec", json_integer(3600000000), "1 h");
        assert_raw("TimeToLiveUSec", json_integer(3 * 86400000000), "3 d");
        assert_raw("IntervalUSec", json_integer(3600000000), "1 h");
        assert_raw("CertificateExpiryUSec", json_integer(1000000000000000 + 20 * 86400000000),
                "2001-09-29, in 20 d");
        assert_raw(
                "BrokerExpiryUSec", json_integer(1000000000000000 - 3 * 86400000000), "2001-09-06, 3 d ago");
        assert_raw("CertificateExpiryUSec", json_integer(1000000000000000 + INT64_C(7304) * 86400000000),
                "2021-09-08");
        assert_raw("MeasuredUSec", json_integer(0), "1970-01-01");
        assert_raw("TimeToLiveUSec", json_integer(-1), "–");
        assert_raw("AvailableBytes", json_integer(1024), "1.00 KiB");
        assert_raw("MemoryBandwidthBytesPerSecond", json_integer(940000000000), "940 GB/s");
        assert_raw("SpeedBitsPerSecond", json_integer(1000000000), "1.00 Gb/s");
        assert_raw("TemperatureMilliCelsius", json_integer(45000), "45 °C");
        assert_raw("PressureSome10", json_real(1.5), "1.5 %");
        assert_raw("TflopsFp16", json_real(165.2), "165 TFLOPS");
        assert_raw("ClockOffsetUSec", json_integer(3200), "+3.20 ms");
        assert_raw("ClockOffsetUSec", json_integer(-1500000), "-1.50 s");
        assert_raw("ClockOffsetUSec", json_integer(-31536000000000), "-365 d");
        assert_raw("ClockOffsetUSec", json_integer(0), "0 ns");
        assert_raw("MeasuredUSec", json_integer(1000000000000000 - 5000000), "5 s ago");
        assert_raw("Generation", json_integer(4), "4");
        assert_raw("Mtu", json_integer(9000), "9000");
        assert_raw("TransfersPerSecondMax", json_integer(32000000000), "32.0 GT/s");
        assert_raw("Name", json_string("a\033[0m"), "a�[0m");
        assert_raw("Carrier", json_true(), "yes");
        assert_raw("Flags", json_pack("[ss]", "busy", "x\u202ey"), "busy, x�y");
        assert_raw("Devices", json_pack("[{s:s}]", "Id", "x"), "1");
        assert_raw("Devices", json_array(), "none");
        /* Of a type that the field never has. */
        assert_raw("AvailableBytes", json_string("many"), "many");
        assert_raw("AvailableBytes", json_object(), "–");
        assert_raw("AvailableBytes", NULL, "–");
}

static void assert_field(const AldStruct *type, const void *fields, const char *name, const char *expected)
{
        const AldField *field = ald_struct_find(type, name);
        g_autofree char *text = NULL;

        g_assert_nonnull(field);
        text = ald_format_field(field, ald_field_of(field, fields), 1e15);
        g_assert_cmpstr(text, ==, expected);
}

/* As raw ones of the same name, with what a record holds for an absent value. */
static void test_fields(void)
{
        static const char *const addresses[] = { "192.0.2.1/24", "x\u202ey", NULL };
        AldMemory memory = ALD_MEMORY_INIT;
        AldPresence presence = ALD_PRESENCE_INIT;
        AldInterface interface = ALD_INTERFACE_INIT;
        AldBackends backends = ALD_BACKENDS_INIT;

        for (size_t i = 0; i < ald_memory_struct.n_fields; i++)
                assert_field(&ald_memory_struct, &memory, ald_memory_struct.fields[i].name, "–");
        memory.available_bytes = 1024;
        memory.swap_total_bytes = 0;
        memory.pressure_some10 = 1.5;
        assert_field(&ald_memory_struct, &memory, "AvailableBytes", "1.00 KiB");
        assert_field(&ald_memory_struct, &memory, "SwapTotalBytes", "0 B");
        assert_field(&ald_memory_struct, &memory, "PressureSome10", "1.5 %");
        presence.clock_offset_usec = -1500000;
        assert_field(&ald_presence_struct, &presence, "ClockOffsetUSec", "-1.50 s");
        assert_field(&ald_interface_struct, &interface, "Carrier", "–");
        interface.carrier = 0;
        interface.id = "eth\0330";
        interface.addresses = addresses;
        assert_field(&ald_interface_struct, &interface, "Carrier", "no");
        assert_field(&ald_interface_struct, &interface, "Id", "eth�0");
        assert_field(&ald_interface_struct, &interface, "Addresses", "192.0.2.1/24, x�y");
        assert_field(&ald_backends_struct, &backends, "Devices", "none");
        backends.devices.n = 3;
        assert_field(&ald_backends_struct, &backends, "Devices", "3");
}

static void test_figures(void)
{
        g_assert_true(isnan(ald_uint64_to_double(ALD_ABSENT_UINT64)) &&
                      isnan(ald_int64_to_double(ALD_ABSENT_INT64)));
        g_assert_cmpfloat(ald_uint64_to_double(0), ==, 0);
        g_assert_cmpfloat(ald_int64_to_double(-5), ==, -5);
}

int main(int argc, char **argv)
{
        g_test_init(&argc, &argv, NULL);
        g_test_add_func("/format/numbers", test_numbers);
        g_test_add_func("/format/shared-units", test_shared_units);
        g_test_add_func("/format/rounding", test_rounding);
        g_test_add_func("/format/bytes-of", test_bytes_of);
        g_test_add_func("/format/age", test_age);
        g_test_add_func("/format/fields", test_fields);
        g_test_add_func("/format/raw-fields", test_raw_fields);
        g_test_add_func("/format/figures", test_figures);
        return g_test_run();
}
