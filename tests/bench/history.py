# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a history takes of recorded telemetry: bytes, writes, how far back a budget reaches, and a query's time; what
the service takes while it follows nodes; and how often a link that comes and goes is reported."""

import contextlib
import json
import lzma
import subprocess
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

import state
from exporter import cpu_ms, pss_kib

HERE = Path(__file__).resolve().parent
RECORDING = HERE / "data/telemetry.xz"
INTERFACES = HERE.parents[1] / "dbus-interfaces"
# A value that does not change is measured again after this time.
RESEND_MS = 30000
NOT_FIGURES = {"Revision", "UpdatedUSec"}
DAY = 24
# How many days the tiers keep at most, and what they keep in proportion if a budget is too small (budget.h).
KEPT = {"raw": 2, "minute": 30, "hour": 730}
GOAL = {"raw": 1, "minute": 30, "hour": 365}
# The share of the budget that the log may take.
LOG_MAX = 4 << 20
# Of following: several writes, which come once a minute, are within it.
SETTLE_S = 10
SHORTEST = {"seconds": 1, "days": 1}


def thresholds():
    """{"KIND.FIELD" or "KIND.FIELD.COLUMN": threshold}, as the XML has it."""
    found = {}
    for path in INTERFACES.glob("org.alidade.*.xml*"):
        kind = path.name.removeprefix("org.alidade.").partition(".xml")[0]
        for node in ElementTree.parse(path).iter("property"):
            prefix = f"{kind}.{node.get('name')}"
            for note in node.iter("annotation"):
                words = note.get("name").removeprefix("org.alidade.").split(".")
                if words[-1] == "Threshold":
                    found[".".join([prefix, *words[1:-1]])] = note.get("value")
    return found


def precision(threshold, figure):
    """A quarter of the threshold."""
    if threshold is None or figure is None:
        return 0
    share, _, most = threshold.partition(",")
    if share.endswith("%"):
        return min(abs(figure) * float(share[:-1]) / 100, float(most or "inf")) / 4
    return float(share) / 4


def figures_of(prefix, value):
    """(name, figure) for each number in a field, also in the rows of a list; None is unknown."""
    if value is None or isinstance(value, (bool, int, float)):
        yield prefix, None if value is None else float(value)
    elif isinstance(value, list):
        for row in value:
            if isinstance(row, dict):
                for field, inner in row.items():
                    yield from figures_of(f"{prefix}.{row['Id']}.{field}".replace(" ", "_"), inner)


def samples(recording):
    """(ms, series, figure) as historyd keeps them: what has changed, or was measured 30 s ago; sorted by time."""
    last, begun = {}, None
    for line in recording:
        _, kind, fields = json.loads(line)
        begun = begun or fields["UpdatedUSec"]
        at = max((fields.get("UpdatedUSec", begun) - begun) // 1000, 0)
        for field, value in fields.items():
            if field in NOT_FIGURES:
                continue
            for name, figure in figures_of(f"{kind}.{field}", value):
                last[name] = (at, figure)
                yield at, name, figure
        # The service sends whole records every 30 s; the client that recorded it shows what has changed only.
        for name, (then, figure) in list(last.items()):
            if at - then >= RESEND_MS:
                last[name] = (at, figure)
                yield at, name, figure


def measure(build, text, nodes, hours):
    with tempfile.TemporaryDirectory(prefix="alidade-bench-") as folder:
        done = subprocess.run([f"{build}/tests/bench/bench-history", folder, str(nodes), str(hours)], input=text,
                              text=True, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def kept_days(figures):
    """How many days of each tier a full budget keeps: it gives up the tiers in proportion to their goals."""
    days = figures["hours"] / DAY
    data = sum(figures[f"{tier}_bytes"] for tier in KEPT)
    # With what SQLite adds to the chunks, and those of recent samples and names.
    per_day = {tier: figures[f"{tier}_bytes"] * figures["used_bytes"] / data / min(days, KEPT[tier]) for tier in KEPT}
    room = figures["budget"] - min(figures["budget"] // 4, LOG_MAX)

    def kept(share):
        return {tier: min(share * GOAL[tier], KEPT[tier]) for tier in KEPT}

    low, high = 0.0, 2.0
    for _ in range(50):
        share = (low + high) / 2
        fits = sum(days * per_day[tier] for tier, days in kept(share).items()) <= room
        low, high = (share, high) if fits else (low, share)
    return kept(low)


def recorded_text():
    """The samples as bench-history.c reads them."""
    known, lines = thresholds(), []
    with lzma.open(RECORDING, "rt") as recording:
        for at, name, figure in samples(recording):
            words = name.split(".")
            # Of a field of a row without the id of the row.
            field = ".".join(words[:3] + words[-1:] if len(words) > 3 else words)
            value = "-" if figure is None else repr(figure)
            lines.append(f"{at} {name} {value} {precision(known.get(field), figure)!r}\n")
    return "".join(lines)


@contextlib.contextmanager
def historyd(build, environment):
    """The process, with a history of all nodes."""
    with tempfile.TemporaryDirectory(prefix="alidade-bench-") as folder:
        Path(folder, "alidade.conf").write_text("[history]\nhistory=all\n", encoding="ascii")
        process = subprocess.Popen([f"{build}/services/history/alidade-historyd"], stderr=subprocess.DEVNULL,
                                   env={**environment, "STATE_DIRECTORY": folder, "ALIDADE_CONFIG_DIR": folder})
        try:
            yield process
        finally:
            state.stop(process)


def follow(build, nodes, seconds):
    """Percent of a core and KiB that the service takes for so many nodes."""
    settle_s = min(SETTLE_S, seconds)
    with state.service(build) as environment, historyd(build, environment) as process:
        with subprocess.Popen([f"{build}/tests/bench/bench-history-feed", str(nodes), str(settle_s + seconds)],
                              env=environment, stdout=subprocess.PIPE, text=True) as feed:
            feed.stdout.readline()
            time.sleep(settle_s)
            before, begun = cpu_ms(process), time.monotonic()
            feed.wait()
            percent = (cpu_ms(process) - before) / (time.monotonic() - begun) / 10
        return round(percent, 3), pss_kib(process)


def add_arguments(parser):
    parser.add_argument("--seconds", type=int, default=120, help="how long the service follows nodes (120)")
    parser.add_argument("--days", type=int, default=31, help="that one node fills; ten fill a tenth of them (31)")


def main(build, json_only, seconds, days):
    text = recorded_text()
    one, ten = measure(build, text, 1, days * DAY), measure(build, text, 10, max(days // 10, 1) * DAY)
    kept = kept_days(ten)
    (percent_10, pss), (percent_1000, pss_1000) = follow(build, 10, seconds), follow(build, 999, seconds)
    figures = {
        "bytes_per_sample": one["chunk_bytes_per_sample"],
        "kept_raw_days": round(kept["raw"], 2),
        "kept_minute_days": round(kept["minute"], 1),
        "kept_hour_days": round(kept["hour"]),
        "query_30d_500_points_ms": one["query_30d_500_points_ms"],
        "query_30d_500_points_ms_most": one["query_30d_500_points_ms_most"],
        "written_kib_per_hour_1": one["written_kib_per_hour"],
        "written_kib_per_hour_10": ten["written_kib_per_hour"],
        "store_cpu_percent_10_nodes": ten["cpu_percent"],
        "cpu_percent_10_nodes": percent_10,
        "cpu_percent_1000_nodes": percent_1000,
        "pss_kib": pss,
        "pss_kib_1000_nodes": pss_1000,
        "notifications_of_1000_flaps": one["notifications_of_1000_flaps"],
        "series_per_node": one["series_per_node"],
        "samples_per_node_hour": one["samples_per_node_hour"],
    }
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:32} {figure}")
    return figures
