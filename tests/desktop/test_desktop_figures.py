# SPDX-License-Identifier: LGPL-2.1-or-later
"""One figure is one text: alidadectl, the desktop program, findings and metrics show one played cluster."""

import re

import pytest

from played_cluster import ME, PEER, link, node
from played_state import GPU, now

GIB = 1024 ** 3
# Each figure in the unit of its field, and as people read it. Most are not round, to see how they are rounded.
FIGURES = {
    "memory": (1_610_612_736, "1.50 GiB"),
    "swap": (104_857_600, "100 MiB"),
    "swap in all": (8_589_934_592, "8.00 GiB"),
    "load": (3.14, "3.1 %"),
    "temperature": (61_400, "61 °C"),
    "power": (4_520_000, "4.5 W"),
    "pressure": (51.5, "52 %"),
    "matrices": (2_800.5, "2.80 PFLOPS"),
    "reads": (940_300_000_000, "940 GB/s"),
    "rate": (196_400_000, "196 Mb/s"),
    "rate back": (48_230_000, "48.2 Mb/s"),
    "interval": (4.04, "4.0 %"),
    "spread": (60.0, "60 %"),
}
VALUE = {name: value for name, (value, _) in FIGURES.items()}
TEXT = {name: text for name, (_, text) in FIGURES.items()}
ATLAS = node("atlas", **{
    "Node1.Memory": {"TotalBytes": 64 * GIB, "AvailableBytes": VALUE["memory"], "SwapTotalBytes": VALUE["swap in all"],
                     "SwapAvailableBytes": VALUE["swap"], "PressureFull10": VALUE["pressure"]},
    "Node1.System": {"CpuUsage": VALUE["load"], "TemperatureMilliCelsius": VALUE["temperature"],
                     "PowerMicroWatts": VALUE["power"]},
    "Node1.Compute": {"Devices": [{"Id": GPU, "GemmTflops": VALUE["matrices"], "TflopsFp16": VALUE["matrices"],
                                   "MemoryBandwidthBytesPerSecond": VALUE["reads"]}]}})
LINK = link(PEER, up=VALUE["rate"], down=VALUE["rate back"], UploadInterval=VALUE["interval"],
            UploadSpread=VALUE["spread"])
PAIR = {"Nodes": [ME, PEER], "Names": ["atlas", "borealis"]}
ALONE = {"Nodes": [ME], "Names": ["atlas"]}
GRAPHICS = {"Device": GPU, "DeviceName": "RTX 4090", "SinceUSec": now()}
FINDINGS = (
    {"Id": "swap-nearly-full", "Severity": "error", **ALONE, "AvailableBytes": VALUE["swap"],
     "TotalBytes": VALUE["swap in all"], "MemoryAvailableBytes": VALUE["memory"]},
    {"Id": "memory-pressure", "Severity": "error", **ALONE, "Percent": VALUE["pressure"]},
    {"Id": "slower-than-past", "Severity": "warning", **ALONE, **GRAPHICS, "Field": "GemmTflops",
     "Tflops": VALUE["matrices"], "PastTflops": 2 * VALUE["matrices"]},
    {"Id": "slower-than-past", "Severity": "warning", **ALONE, **GRAPHICS, "Field": "MemoryBandwidthBytesPerSecond",
     "BytesPerSecond": VALUE["reads"], "PastBytesPerSecond": 2 * VALUE["reads"]},
    {"Id": "link-asymmetric", "Severity": "warning", **PAIR, "UploadBitsPerSecond": VALUE["rate"],
     "DownloadBitsPerSecond": VALUE["rate back"]},
    {"Id": "link-unsteady", "Severity": "warning", **PAIR, "UploadBitsPerSecond": VALUE["rate"],
     "UploadInterval": VALUE["interval"], "UploadSpread": VALUE["spread"]})
IN_FINDINGS = ("memory", "swap", "swap in all", "pressure", "matrices", "reads", "rate", "rate back", "interval",
               "spread")


@pytest.fixture
def played(play):
    return play({ME: ATLAS, PEER: node("borealis")}, links={(ME, f"{PEER},192.0.2.2"): LINK}, findings=FINDINGS)


def lacking(text, names):
    """Figures that are not in the text, or only as a part of another number."""
    text = " ".join(text.split())
    return {name: TEXT[name] for name in names
            if not re.search(rf"(?<![\d.]){re.escape(TEXT[name])}(?![\w/])", text)}


FIELDS = {"AvailableBytes": "memory", "SwapAvailableBytes": "swap", "SwapTotalBytes": "swap in all",
          "PressureFull10": "pressure", "CpuUsage": "load", "TemperatureMilliCelsius": "temperature",
          "PowerMicroWatts": "power", "GemmTflops": "matrices", "MemoryBandwidthBytesPerSecond": "reads",
          "UploadBitsPerSecond": "rate", "DownloadBitsPerSecond": "rate back", "UploadInterval": "interval",
          "UploadSpread": "spread"}


def test_alidadectl(played):
    shown = played.host.alidadectl("show", "atlas").stdout
    assert {name: TEXT[figure] for name, figure in FIELDS.items()} == {
        name: re.search(rf"^ *{name}: (.*)$", shown, re.M)[1] for name in FIELDS}
    nodes = played.host.alidadectl("nodes").stdout
    assert re.search(r"(?<![\d.])1\.50/64\.0 GiB", nodes), nodes
    assert lacking(nodes, ("load",)) == {}, nodes
    assert lacking(played.host.alidadectl("links").stdout, ("rate", "rate back", "interval")) == {}
    assert lacking(played.host.alidadectl("findings").stdout, IN_FINDINGS) == {}


def test_metrics(played):
    """In base units, the same number."""
    text = played.host.alidadectl("metrics").stdout
    found = {name: float(value) for name, value in re.findall(rf'^(\w+){{[^}}]*"{ME}"[^}}]*}} (\S+)', text, re.M)}
    expected = {"memory_available_bytes": VALUE["memory"], "memory_swap_available_bytes": VALUE["swap"],
                "memory_pressure_full10_ratio": VALUE["pressure"] / 100,
                "system_cpu_usage_ratio": VALUE["load"] / 100,
                "system_temperature_celsius": VALUE["temperature"] / 1e3, "system_power_watts": VALUE["power"] / 1e6,
                "compute_device_gemm_flops": VALUE["matrices"] * 1e12,
                "compute_device_memory_bandwidth_bytes_per_second": VALUE["reads"],
                "link_socket_upload_bytes_per_second": VALUE["rate"] / 8,
                "link_socket_upload_interval_ratio": VALUE["interval"] / 100}
    assert {name for name in expected if f"alidade_{name}" not in found} == set(), sorted(found)
    assert {name: found[f"alidade_{name}"] for name in expected} == pytest.approx(expected)


def test_desktop_program(played):
    program = played.program
    program.open_page(2)
    program.wait(lambda tree: lacking(tree.find("tree table", "Nodes").text(), ("load", "temperature", "power",
                                                                              "matrices", "reads")) == {}, "the nodes")
    assert "1.50/64.0 GiB" in program.read().find("tree table", "Nodes").text()
    program.open_page(4)
    program.wait(lambda tree: lacking(tree.find("tree table", "Links").text(), ("rate", "rate back", "interval")) == {},
                 "the links")
    program.open_page(5)
    program.wait(lambda tree: lacking(tree.find("list", "Findings").text(), IN_FINDINGS) == {}, "the findings")
