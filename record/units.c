/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>

#include "record/translate.h"
#include "record/units.h"

#define TIME_SYMBOLS "ns", "µs", "ms", "s"
#define SYMBOLS(...) ((const char *const[]){ __VA_ARGS__, NULL })

const AldUnit ald_unit_bytes = {
        .name = "bytes",
        .endings = { "Bytes", "BytesPerHour" },
        .symbols = SYMBOLS("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"),
        .step = 1024,
        .metric_words = "bytes",
        .metric_base = "bytes",
        .metric_factor = 1,
};

/* The size of one packet, which people know as a plain number. */
const AldUnit ald_unit_octets = {
        .name = "octets",
        .endings = { "Mtu" },
        .symbols = SYMBOLS(""),
        .style = ALD_UNIT_STYLE_WHOLE,
        .metric_words = "octets",
        .metric_base = "bytes",
        .metric_factor = 1,
};

const AldUnit ald_unit_bytes_per_second = {
        .name = "bytes per second",
        .endings = { "BytesPerSecond" },
        .symbols = SYMBOLS("B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s"),
        .step = 1000,
        .metric_words = "bytes_per_second",
        .metric_base = "bytes_per_second",
        .metric_factor = 1,
};

const AldUnit ald_unit_bits_per_second = {
        .name = "bits per second",
        .endings = { "BitsPerSecond" },
        .symbols = SYMBOLS("b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "Pb/s"),
        .step = 1000,
        .metric_words = "bits_per_second",
        .metric_base = "bytes_per_second",
        .metric_factor = 125,
        .metric_decimals = 3,
};

const AldUnit ald_unit_transfers_per_second = {
        .name = "transfers per second",
        .endings = { "TransfersPerSecond", "TransfersPerSecondMax" },
        .symbols = SYMBOLS("T/s", "kT/s", "MT/s", "GT/s", "TT/s"),
        .step = 1000,
        .metric_words = "transfers_per_second",
        .metric_base = "transfers_per_second",
        .metric_factor = 1,
};

const AldUnit ald_unit_tokens_per_second = {
        .name = "tokens per second",
        .endings = { "TokensPerSecond" },
        .symbols = SYMBOLS(N_("tokens/s")),
        .is_real = true,
        .metric_words = "tokens_per_second",
        .metric_base = "tokens_per_second",
        .metric_factor = 1,
};

const AldUnit ald_unit_teraflops = {
        .name = "teraflops",
        .endings = { "Tflops", "TflopsFp16", "TflopsFp32" },
        .symbols = SYMBOLS("FLOPS", "kFLOPS", "MFLOPS", "GFLOPS", "TFLOPS", "PFLOPS", "EFLOPS"),
        .factor = 1e12,
        .step = 1000,
        .is_real = true,
        .metric_words = "tflops",
        .metric_base = "flops",
        .metric_factor = INT64_C(1000000000000),
};

const AldUnit ald_unit_hertz = {
        .name = "hertz",
        .endings = { "Hz" },
        .symbols = SYMBOLS("Hz", "kHz", "MHz", "GHz", "THz"),
        .step = 1000,
        .metric_words = "hz",
        .metric_base = "hertz",
        .metric_factor = 1,
};

const AldUnit ald_unit_percent = {
        .name = "percent",
        .endings = { "Percent", "Usage", "Some10", "Full10", "Interval", "Spread" },
        .symbols = SYMBOLS("%"),
        .style = ALD_UNIT_STYLE_TENTHS,
        .is_real = true,
        .metric_words = "percent",
        .metric_base = "ratio",
        .metric_factor = 1,
        .metric_decimals = 2,
};

const AldUnit ald_unit_millicelsius = {
        .name = "millicelsius",
        .endings = { "MilliCelsius" },
        .symbols = SYMBOLS("°C"),
        .factor = 1e-3,
        .style = ALD_UNIT_STYLE_WHOLE,
        .is_signed = true,
        .metric_words = "milli_celsius",
        .metric_base = "celsius",
        .metric_factor = 1,
        .metric_decimals = 3,
};

const AldUnit ald_unit_microwatts = {
        .name = "microwatts",
        .endings = { "MicroWatts" },
        .symbols = SYMBOLS("W", "kW", "MW", "GW"),
        .factor = 1e-6,
        .step = 1000,
        .style = ALD_UNIT_STYLE_TENTHS,
        .metric_words = "micro_watts",
        .metric_base = "watts",
        .metric_factor = 1,
        .metric_decimals = 6,
};

const AldUnit ald_unit_microjoules = {
        .name = "microjoules",
        .endings = { "MicroJoules" },
        .symbols = SYMBOLS("J", "kJ", "MJ", "GJ", "TJ"),
        .factor = 1e-6,
        .step = 1000,
        .metric_words = "micro_joules",
        .metric_base = "joules",
        .metric_factor = 1,
        .metric_decimals = 6,
};

const AldUnit ald_unit_revolutions_per_minute = {
        .name = "revolutions per minute",
        .endings = { "Rpm" },
        .symbols = SYMBOLS(N_("rpm")),
        .style = ALD_UNIT_STYLE_WHOLE,
        .metric_words = "rpm",
        .metric_base = "revolutions_per_minute",
        .metric_factor = 1,
};

const AldUnit ald_unit_nanoseconds = {
        .name = "nanoseconds",
        .endings = { "NSec" },
        .symbols = SYMBOLS(TIME_SYMBOLS),
        .step = 1000,
        .metric_words = "nsec",
        .metric_base = "seconds",
        .metric_factor = 1,
        .metric_decimals = 9,
};

const AldUnit ald_unit_microseconds = {
        .name = "microseconds",
        .endings = { "ToLiveUSec", "IntervalUSec", "OffsetUSec", "LagUSec", "DurationUSec", "RemainingUSec",
                "ToFreeUSec", "LastedUSec", "AgeUSec" },
        .symbols = SYMBOLS(TIME_SYMBOLS),
        .factor = 1e3,
        .step = 1000,
        .style = ALD_UNIT_STYLE_DURATION,
        .metric_words = "usec",
        .metric_base = "seconds",
        .metric_factor = 1,
        .metric_decimals = 6,
};

/* Times of CLOCK_REALTIME. */
const AldUnit ald_unit_microseconds_since_1970 = {
        .name = "microseconds since 1970",
        .endings = { "USec" },
        .symbols = SYMBOLS(TIME_SYMBOLS),
        .factor = 1e3,
        .step = 1000,
        .style = ALD_UNIT_STYLE_TIME,
        .metric_words = "usec",
        .metric_base = "seconds",
        .metric_factor = 1,
        .metric_decimals = 6,
};

const AldUnit ald_unit_milliseconds = {
        .name = "milliseconds",
        .endings = { "MSec" },
        .symbols = SYMBOLS(TIME_SYMBOLS),
        .factor = 1e6,
        .step = 1000,
        .metric_words = "msec",
        .metric_base = "seconds",
        .metric_factor = 1,
        .metric_decimals = 3,
};

const AldUnit ald_unit_seconds = {
        .name = "seconds",
        .endings = { "Seconds" },
        .symbols = SYMBOLS(TIME_SYMBOLS),
        .factor = 1e9,
        .step = 1000,
        .is_real = true,
        .metric_words = "seconds",
        .metric_base = "seconds",
        .metric_factor = 1,
};
