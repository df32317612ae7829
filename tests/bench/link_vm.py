# SPDX-License-Identifier: LGPL-2.1-or-later
"""The socket probe against iperf3 in two virtual machines, over a wire that netem makes worse, interleaved."""

import json
import statistics

import guests
from link_truth import FRAME, PAYLOAD, WAYS, WRONG_PERCENT, flags_of
from requirement import need_programs

# What netem does to each direction (link-guest/10-figures).
SHORTEST = {"rounds": 1, "seconds": 5, "case": ["jitter"]}
CASES = ("loss", "loss-0.3", "loss-2", "reorder", "jitter", "far", "all")
WIRE = 20e6 * PAYLOAD / FRAME
LOST = {"loss": 0.01, "loss-0.3": 0.003, "loss-2": 0.02, "all": 0.01}


def figures(build, options, json_only):
    """Of each run: the case, what was run, its number, and its JSON."""
    cases = options["case"] or CASES
    settings = {"rounds": options["rounds"], "seconds": options["seconds"], "cases": f"'{' '.join(cases)}'"}
    # Thrice what it takes where nothing else runs, and time to start; a machine that hangs ends sooner.
    longest = 300 + options["rounds"] * len(cases) * (options["seconds"] * 2 + 120) * 3
    lines = guests.run_pair(build, "socket", "link-guest", ["iperf3"], settings, longest, json_only)
    return [line.split(maxsplit=3) for line in lines]


def true_rate(rows, way):
    """What iperf3's receiver had after the first ten seconds, in which slow start may go far too far; None if it has
    not run that long."""
    told = [row["server_output_json"] if way == "up" else row for row in rows.get(f"iperf3_{way}", [])]
    parts = [part["sum"] for row in told for part in row["intervals"][1:] if part["sum"]["seconds"] > 1]
    return sum(part["bytes"] for part in parts) * 8 / sum(part["seconds"] for part in parts) if parts else None


def whole_rate(rows, way):
    """The same with them."""
    ends = [row["end"]["sum_received"] for row in rows[f"iperf3_{way}"]]
    return sum(end["bytes"] for end in ends) * 8 / sum(end["seconds"] for end in ends)


def is_wrong(name, row, way, true):
    """Whether a rate is off without a flag. For a second without a pause after a loss, one connection carries what the
    wire does, so all from what iperf3 had to that is right."""
    rate = row[f"{WAYS[way]}BitsPerSecond"]
    edge = sorted((rate, true, WIRE * (1 - LOST.get(name, 0))))[1]
    off = abs(rate / edge - 1) * 100
    return off > max(WRONG_PERCENT, row.get(f"{WAYS[way]}Interval", 0)) and not flags_of(row, way)


def text_of(row):
    """What one of our runs found."""
    return "; ".join(
        f"{way} {row[f'{prefix}BitsPerSecond'] / 1e6:.2f} ±{row.get(f'{prefix}Interval', 0):.1f} % "
        f"mean {row[f'{prefix}MeanBitsPerSecond'] / 1e6:.2f} {row.get(f'{prefix}Limiter')} "
        f"{row[f'{prefix}Seconds']:.1f} s {','.join(flags_of(row, way)) or 'ok'}"
        if f"{prefix}BitsPerSecond" in row else f"{way} none ({row.get(f'{prefix}Reason')})"
        for way, prefix in WAYS.items())


def sum_up(name, rows):
    """The figures of a case, without those for which a program has failed; of each run, whether its interval holds what
    is true."""
    case, covered = {"name": name}, []
    mine = rows.get("ours", [])
    for way, prefix in WAYS.items():
        true = true_rate(rows, way)
        known = [row for row in mine if f"{prefix}BitsPerSecond" in row]
        if true is None or not known:
            continue
        values = [row[f"{prefix}BitsPerSecond"] for row in known]
        found = [abs(value - true) <= value * row.get(f"{prefix}Interval", 0) / 100
                 for value, row in zip(values, known)]
        errors = [abs(value / true - 1) * 100 for value in values]
        case |= {f"true_{way}": round(true), f"iperf3_{way}_with_start": round(whole_rate(rows, way)),
                 f"ours_{way}_err_percent": round(statistics.median(errors), 2),
                 f"ours_{way}_mean_err_percent": round((statistics.mean(values) / true - 1) * 100, 2),
                 f"ours_{way}_interval_percent": round(statistics.median(
                     row.get(f"{prefix}Interval", 0) for row in known), 2),
                 f"interval_{way}_covers": f"{sum(found)}/{len(mine)}",
                 f"wrong_unflagged_{way}": sum(is_wrong(name, row, way, true) for row in known),
                 f"limiter_{way}": sorted({row.get(f"{prefix}Limiter", "unknown") for row in known})}
        covered += found + [False] * (len(mine) - len(found))
    whole = [row for row in mine if all(f"{prefix}Seconds" in row for prefix in WAYS.values())]
    if not whole:
        return case, covered
    return case | {
        "ours_seconds": round(statistics.median(row["UploadSeconds"] + row["DownloadSeconds"] for row in whole), 2),
        "ours_bytes": round(statistics.median(row["UploadBytes"] + row["DownloadBytes"] for row in whole)),
        "ours_rtt_p50_us": round(statistics.median(row["RttP50NSec"] for row in whole) / 1e3, 1)}, covered


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=2, help="how often iperf3 takes its turn, ours twice (2)")
    parser.add_argument("--seconds", type=int, default=60, help="of iperf3, each direction (60)")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")


def check_requirements():
    need_programs("iperf3", "qemu-system-x86_64")


def main(build, json_only, **options):
    cases, failures = {}, []
    for name, what, number, text in figures(build, options, json_only):
        row = json.loads(text)
        if "error" in row:
            failures.append(f"{name} {what} {number}: {row.get('message', row['error'])}")
        else:
            cases.setdefault(name, {}).setdefault(what, []).append(row)
            if what == "ours" and not json_only:
                print(f"{name} {number}: {text_of(row)}", flush=True)
    measured = [sum_up(name, rows) for name, rows in cases.items()]
    pooled = [one for _, covered in measured for one in covered]
    covers = {"interval_covers_percent": round(statistics.mean(pooled) * 100, 1)} if pooled else {}
    return {"cases": [case | covers for case, _ in measured], "failures": failures}
