# SPDX-License-Identifier: LGPL-2.1-or-later
"""The RDMA probe against perftest in two virtual machines over Soft-RoCE, interleaved, both directions."""

import json
import statistics
import sys

import guests
from requirement import need_programs

PERFTEST = ("ib_write_bw", "ib_send_bw", "ib_send_lat")
SHORTEST = {"rounds": 1, "seconds": 3}
METHODS = ("write", "send")
WAYS = {"b": ("", "Upload"), "a": ("_back", "Download")}  # by the machine that serves perftest
MARGIN = 1  # seconds at begin and end that ib_*_bw does not count


def run_guests(build, options, json_only):
    """The words of each line of figures that the machines write."""
    # Thrice what it takes where nothing else runs, and time to start; a machine that hangs ends sooner.
    longest = 300 + options["rounds"] * (options["seconds"] * 4 + 60) * 3
    lines = guests.run_pair(build, "rdma", "rdma-guest", PERFTEST, options, longest, json_only)
    return [line.split(maxsplit=5) for line in lines]


class Figures:
    """What was told, by its name, the machine that served, and the round."""

    def __init__(self, lines):
        self.rows, self.failures, self.mtus = {}, [], set()
        for what, server, number, msec, mtu, rest in lines:
            if what == "failed":
                self.failures.append(f"{rest} (round {number}, served by {server})")
                continue
            self.rows.setdefault((what, server), {})[int(number)] = (int(msec) / 1e3, rest)
            self.mtus.add(int(mtu))

    def of(self, what, server, value):
        """By round; what failed in one is not there."""
        rows = self.rows.get((what, server), {})
        found = {number: value(seconds, rest) for number, (seconds, rest) in rows.items()}
        if not found:
            sys.exit("\n".join([f"no figure of {what}", *self.failures]))
        return found

    def ours(self, what, member):
        return self.of(f"ours_{what}", "b", lambda _, rest: json.loads(rest)[member])

    def rate(self, what, server, seconds):
        """Of what ib_*_bw has counted, in b/s: the rate that it tells is off by as much as it misjudges the
        processor's frequency, and 0 where it cannot judge that, as often in an emulated machine."""
        def counted(_, rest):
            size, number = map(int, rest.split()[:2])
            return size * number * 8 / (seconds - 2 * MARGIN)
        return self.of(what, server, counted)

    def half(self, what):
        """What ib_send_lat calls typical, the median of half round trips in µs."""
        return self.of(what, "b", lambda _, rest: float(rest.split()[4]))

    def seconds(self, what, server):
        return self.of(what, server, lambda seconds, _: seconds)


def median(values):
    return statistics.median(values.values())


def spread_percent(values):
    return (max(values.values()) - min(values.values())) / median(values) * 100


def percent_of(values, others):
    """The median of the quotients of each round: what else the machine does is in both."""
    return round(statistics.median(values[n] / others[n] for n in values.keys() & others.keys()) * 100, 1)


def rates_of(figures, seconds):
    result, spreads = {}, []
    for server, (suffix, way) in WAYS.items():
        theirs = {method: figures.rate(f"ib_{method}_bw", server, seconds) for method in METHODS}
        best = max(theirs.values(), key=median)
        for method in METHODS:
            rates = figures.ours(method, f"{way}BitsPerSecond")
            result[f"ours_{method}_mbps{suffix}"] = round(median(rates) / 1e6, 1)
            result[f"ib_{method}_bw_mbps{suffix}"] = round(median(theirs[method]) / 1e6, 1)
            result[f"ours_{method}_to_best_percent{suffix}"] = percent_of(rates, best)
            spreads.append(spread_percent(rates))
    return result | {"repeat_spread_percent": round(max(spreads), 1)}


def times_of(figures):
    """Round trips in µs; ib_send_lat tells half of them, as its figure here does."""
    rtt = {number: nsec / 1e3 for number, nsec in figures.ours("write", "RttP50NSec").items()}
    half = figures.half("ib_send_lat")
    delayed = median(figures.ours("delayed", "RttP50NSec")) / 1e3 - median(rtt)
    half_added = median(figures.half("ib_send_lat_delayed")) - median(half)
    return {"ours_rtt_p50_us": round(median(rtt), 1), "ib_send_lat_p50_us": round(median(half), 1),
            "ours_rtt_to_twice_ib_send_lat_percent": percent_of(
                rtt, {number: 2 * value for number, value in half.items()}),
            "ours_rtt_added_us": round(delayed, 1), "ib_send_lat_added_us": round(half_added, 1),
            "ours_rtt_added_to_twice_percent": round(delayed / half_added * 50, 1)}


def costs_of(figures):
    took = [figures.seconds("ib_write_bw", server) for server in WAYS] + [figures.seconds("ib_send_lat", "b")]
    theirs = {number: sum(each[number] for each in took) for number in set.intersection(*map(set, took))}
    seconds = figures.seconds("ours_write", "b")
    transfers, amounts = ([median(figures.ours("write", f"{way}{what}")) for _, way in WAYS.values()]
                          for what in ("Seconds", "Bytes"))
    return {"seconds": round(median(seconds), 2), "transfer_seconds": round(sum(transfers), 2),
            "perftest_seconds": round(median(theirs), 2),
            "seconds_to_perftest_percent": percent_of(seconds, theirs), "bytes": round(sum(amounts))}


def ways_of(figures):
    """How it was measured, so that like can be compared with like."""
    found = {name: sorted(set(figures.ours("write", member).values())) for name, member in (
        ("mtu", "Mtu"), ("message_bytes", "MessageBytes"), ("depth", "Depth"), ("queue_pairs", "QueuePairs"))}
    return {"ours": found, "perftest_mtu": sorted(figures.mtus - {0}), "failures": figures.failures}


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=3, help="how often each takes its turn (3)")
    parser.add_argument("--seconds", type=int, default=5,
                        help="of ib_write_bw and ib_send_bw (-D), above 2 (5)")
    parser.add_argument("--delay-ms", type=int, default=10, help="of netem, at one end (10)")


def check_requirements():
    need_programs(*PERFTEST, "qemu-system-x86_64")


def main(build, json_only, **options):
    figures = Figures(run_guests(build, options, json_only))
    return rates_of(figures, options["seconds"]) | times_of(figures) | costs_of(figures) | ways_of(figures)
