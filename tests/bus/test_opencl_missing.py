# SPDX-License-Identifier: LGPL-2.1-or-later
"""A machine without OpenCL: what its first picture says, and what a driver that is installed changes, with the real
services; and figures of FP32, from a service played."""

import os
from pathlib import Path

import pytest

from bedlib.waiting import wait_until
from played_source import LINK_PROBE_POLICY, Source
from state_service import CLUSTER_POLICY, KINDS, STATE, call, get, start, typed

BUILD = Path(os.environ["ALIDADE_BUILD"])
NUMBERS = ("--bytes=1GiB", "--layers=8", "--elements=1024")


@pytest.fixture(name="vendors")
def _vendors(tmp_path):
    """The folder in which drivers register: readable for all users, and not there yet."""
    tmp_path.chmod(0o755)
    return tmp_path / "OpenCL/vendors"


@pytest.fixture(name="host")
def _host(make_host, vendors):
    host = start(make_host, activation=("placementd",), bus_policy=CLUSTER_POLICY + LINK_PROBE_POLICY)
    host.start_daemon("telemetryd", env={"OCL_ICD_VENDORS": str(vendors),
                                         "ALIDADE_LIBEXEC_DIR": str(BUILD / "services/telemetry")})
    return host


def missing(host):
    return [row for row in call(host, "GetFindings") if row["Id"] == "opencl-missing"]


def rows(kind, *devices):
    field, = (field for field in KINDS[kind].fields if field.name == "Devices")
    return [typed(field.row_fields, row) for row in devices]


def test_package_is_named_until_a_driver_is_installed(host, vendors):
    with host.log_signals(STATE):
        wait_until(lambda: missing(host), "the finding")
    found, = missing(host)
    assert (found["Severity"], found["OpenCl"], found["Packages"]) == ("notice", "no-platform", ["pocl-opencl-icd"])
    assert "pocl-opencl-icd" in found["Remedy"]
    view = host.alidadectl("watch", "--once").stdout
    assert "FP16 compute      –, 1 device left out: install pocl-opencl-icd to measure it\n" in view
    assert "install pocl-opencl-icd to measure it" in host.alidadectl("status").stdout.partition("Cluster")[0]
    said = host.alidadectl("place", *NUMBERS, check=False)
    assert "driver: install pocl-opencl-icd" in said.stdout + said.stderr
    assert "probe" not in said.stdout + said.stderr

    vendors.mkdir(parents=True)
    (vendors / "fake.icd").write_text(f"{BUILD}/tests/unit/libfake-icd.so\n", encoding="ascii")
    with host.log_signals(STATE):
        wait_until(lambda: not missing(host), "the end of the finding")
        wait_until(lambda: get(host, "TflopsFp16LeftOutReasons").get("NeverMeasured"), "a device that can be measured")


def test_fp32_is_shown_and_marked(make_host):
    host = start(make_host, bus_policy=CLUSTER_POLICY + LINK_PROBE_POLICY)
    cpu = {"Id": "cpu", "Class": "cpu", "Name": "Chip", "OpenClPlatform": "PoCL"}
    figures = {"Id": "cpu", "GemmTflops": 0.5, "Precision": "fp32", "MemoryBandwidthBytesPerSecond": 8_000_000_000}
    Source(host).export("Node1.Backends", OpenCl="available", Devices=rows("Node1.Backends", cpu)).own()
    Source(host, "LinkProbe1").export("Node1.Compute", Devices=rows("Node1.Compute", figures)).own()
    with host.log_signals(STATE):
        wait_until(lambda: get(host, "TflopsFp32") == 0.5, "the sum")
    assert get(host, "TflopsFp32Devices") == 1
    assert get(host, "TflopsFp16LeftOut") == 0
    assert "FP32 compute      500 GFLOPS (none measured in FP16)\n" in host.alidadectl("watch", "--once").stdout
    assert "FP32 compute: 500 GFLOPS (none measured in FP16)\n" in host.alidadectl("status").stdout
    assert "500 GFLOPS FP32" in host.alidadectl("nodes").stdout
    metrics = host.alidadectl("metrics").stdout
    assert "\nalidade_cluster_fp32_flops 500000000000\n" in metrics
    assert "\nalidade_cluster_fp16_flops " not in metrics
