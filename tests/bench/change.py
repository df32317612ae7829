# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pairs of nodes of the bed on shaped links: how soon a drop of the rate, and a rise, is a notice and a figure."""

import contextlib
import os
import sys
import time
from pathlib import Path

from requirement import need_programs, need_root

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "bed"))

MBIT = 1_000_000
RATES = (20, 100, 1000)
SHORTEST = {"rates": [20], "steps": 0}
KEPT_SHARE = 0.6
MEASURED_SECONDS = 300
# As promised: a notice within 6 min and a figure within 8; what is later is reported, too.
CHANGE_SECONDS = 1800
# Of TCP's payload with the header of IPv4, as the probe sees it.
TOLERANCE = 0.1


def add_arguments(parser):
    parser.add_argument("--rates", type=int, nargs="+", default=list(RATES), metavar="MBIT",
                        help="rates of the links, one pair of nodes each (20 100 1000)")
    parser.add_argument("--steps", type=int, default=2, metavar="N",
                        help="changes of each link: down to 60 %% and back, turn and turn about (2)")


def check_requirements():
    need_root("for network namespaces")
    need_programs("mosquitto", "tc")


class Link:
    """A pair of nodes, and what the first of them knows of the link between them."""

    def __init__(self, stack, rate):
        from bedlib import Cluster

        self.rate = rate * MBIT
        self.cluster = stack.enter_context(Cluster(2, links=True, name=f"change{rate}",
                                                   shapes=[(self.rate, self.rate)] * 2))
        self.observer = self.cluster.nodes[0]

    def row(self):
        """Of the address with rates."""
        found = [fields for (*_, deleted, fields) in self.observer.records("Link1.Socket").values()
                 if not deleted and fields.get("UploadBitsPerSecond", 0) > 0]
        return found[0] if found else {}

    def has_figure(self, rate):
        from bedlib.network import payload_rate

        row, expected = self.row(), payload_rate(rate)
        return not row.get("Changed") and all(
            abs(row.get(name, 0) - expected) <= TOLERANCE * expected
            for name in ("UploadBitsPerSecond", "DownloadBitsPerSecond"))

    def notice(self, since, verb):
        return next((found["Text"] for found in self.observer.state("GetFindings")
                     if found["Id"] == "link-rate-changed" and found.get("SinceUSec", 0) >= since
                     and f" {verb} from " in found["Text"]), None)

    def shape(self, rate):
        for node in self.cluster.nodes:
            self.cluster.shape(node, rate, rate)


def watch(links, share):
    """Shapes all links, and returns for each how long the notice and the figure took, and what the notice said."""
    from bedlib.waiting import wait_steadily

    verb = "fell" if share < 1 else "rose"
    since = int(time.time() * 1e6)
    begun = time.monotonic()
    found = {link: {} for link in links}
    for link in links:
        link.shape(int(link.rate * share))

    def look():
        for link, seen in found.items():
            now = round(time.monotonic() - begun, 1)
            text = link.notice(since, verb) if "notice_s" not in seen else None
            if text:
                seen |= {"notice_s": now, "notice": text}
                print(f"{link.rate // MBIT} Mb/s, {now} s: {text}", file=sys.stderr, flush=True)
            if "figure_s" not in seen and link.has_figure(link.rate * share):
                seen["figure_s"] = now
                print(f"{link.rate // MBIT} Mb/s, {now} s: {link.row()}", file=sys.stderr, flush=True)
        return all("notice_s" in seen and "figure_s" in seen for seen in found.values())

    wait_steadily(look, lambda: f"notices and figures; now {[link.row() for link in links]}", CHANGE_SECONDS, 1)
    return list(found.values())


def main(build, json_only, *, rates=RATES, steps=2):
    os.environ["ALIDADE_BUILD"] = str(build)
    from bedlib.waiting import wait_steadily

    figures = {f"{name}_s": [] for name in ("fall_notice", "fall_figure", "rise_notice", "rise_figure")}
    with contextlib.ExitStack() as stack:
        links = [Link(stack, rate) for rate in rates]
        begun = time.monotonic()
        for link in links:
            link.cluster.wait_online(deadline=120)
        wait_steadily(lambda: all(link.has_figure(link.rate) for link in links),
                      lambda: f"first figures; now {[link.row() for link in links]}", MEASURED_SECONDS, 1)
        figures["first_figures_s"] = round(time.monotonic() - begun, 1)
        for step in range(steps):
            word, share = ("rise", 1) if step % 2 else ("fall", KEPT_SHARE)
            for seen in watch(links, share):
                figures[f"{word}_notice_s"].append(seen["notice_s"])
                figures[f"{word}_figure_s"].append(seen["figure_s"])
    if not json_only:
        for name, figure in figures.items():
            print(f"{name:20} {figure}")
    return figures
