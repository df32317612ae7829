# SPDX-License-Identifier: LGPL-2.1-or-later
"""Node1.Processor as telemetryd measures it: equal to what lscpu says of the same machine, made up or real."""

import itertools
import json
import os
import re
import struct
import subprocess
from pathlib import Path

import pytest

RECORD = ("org.alidade.Telemetry1", "/org/alidade/Telemetry1", "org.alidade.Node1.Processor")
PROPERTIES = "org.freedesktop.DBus.Properties"
MACHINES = Path(__file__).parent / "processors"
ABSENT = 2 ** 64 - 1
KIB = 1024
MHZ = 10 ** 6
# The instruction sets of the machines here that decide where work goes; lscpu lists them among all flags.
INSTRUCTION_SETS = {
    "avx", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_bf16",
    "avx512_fp16", "avx512_vnni", "amx_tile", "amx_int8", "amx_bf16", "asimd", "asimdhp", "asimddp", "asimdfhm", "fphp",
    "bf16", "i8mm", "sve", "sve2", "svebf16", "svei8mm"}
# Where POWER lists VSX and MMA: AT_HWCAP and AT_HWCAP2 of each process.
POWER_AUXV = struct.pack("@6L", 16, 0xdc0065c2, 26, 0xef860000, 0, 0)


def numbers(text):
    """Those of "0-3,8"."""
    ranges = [part.split("-") for part in text.split(",") if part]
    return [cpu for part in ranges for cpu in range(int(part[0]), int(part[-1]) + 1)]


def mask(cpus):
    words = sum(1 << cpu for cpu in cpus)
    text = f"{words:x}"
    text = text.zfill(-len(text) % 8 + len(text))
    return ",".join(text[i:i + 8] for i in range(0, len(text), 8)) + "\n"


def expand(path, content):
    """Each path with numbers instead of its braces; a content of "@" is what stands in the first ones."""
    braces = re.findall(r"\{(.*?)\}", path)
    for choice in itertools.product(*map(numbers, braces)):
        found = iter(choice)
        yield re.sub(r"\{.*?\}", lambda _: str(next(found)), path), braces[0] if content == "@" else content


def cpuinfo(path):
    """The text of /proc/cpuinfo: a block for each CPU that it is for."""
    out = []
    for block in re.findall(r"^cpuinfo ?(.*)\n((?:  .*\n)+)", path.read_text(), re.MULTILINE):
        lines = block[1].replace("  ", "", 1).replace("\n  ", "\n")
        out += [f"processor\t: {cpu}\n{lines}\n" for cpu in numbers(block[0])] or [lines]
    return "".join(out)


def write_sysfs(root, path, content):
    """As the kernel does, with the lists as masks, too, and with the clocks in folders that CPUs link to."""
    clock = re.match(r"cpu/cpu(\d+)/cpufreq/(.*)", path)
    if clock:
        root.link(f"sys/devices/system/cpu/cpu{clock[1]}/cpufreq", f"../cpufreq/policy{clock[1]}")
        path = f"cpu/cpufreq/policy{clock[1]}/{clock[2]}"
    root.write(f"sys/devices/system/{path}", content + "\n")
    for names, masks in (("siblings_list", "siblings"), ("shared_cpu_list", "shared_cpu_map"), ("cpulist", "cpumap")):
        if path.endswith(names):
            root.write(f"sys/devices/system/{path.removesuffix(names)}{masks}", mask(numbers(content)))


def make_machine(root, name):
    path = MACHINES / f"{name}.txt"
    root.write("proc/cpuinfo", cpuinfo(path))
    for pattern, content in re.findall(r"^((?:cpu|node)/\S+) =(.*)$", path.read_text(), re.MULTILINE):
        for file, text in expand(pattern, content.strip()):
            write_sysfs(root, file, text)
    if name.startswith("power"):
        root.write("proc/self/auxv", POWER_AUXV)
    return root


def lscpu(root, *options):
    """What lscpu says of that root, or of this machine."""
    where = [f"--sysroot={root.dir}"] if root else []
    done = subprocess.run(["lscpu", *where, "--bytes", "--json", *options], capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C"})
    return json.loads(done.stdout)


def lscpu_lines(root):
    """{name: [value of each kind of core]}"""
    lines = {}
    for line in lscpu(root)["lscpu"]:
        lines.setdefault(line["field"].rstrip(":"), []).append(line["data"])
    return lines


def bare(model):
    """Without blanks that the kernel pads with, and without what POWER adds to the name."""
    return " ".join(re.split(r"[,(]", model)[0].split() if model.startswith("POWER") else model.split())


def assert_equal_to_lscpu(processor, root):
    """All that both say."""
    lines = lscpu_lines(root)
    online = numbers(lines["On-line CPU(s) list"][0])
    assert processor["Threads"] == len(online)
    assert processor["OfflineThreads"] == int(lines["CPU(s)"][0]) - len(online)
    nodes = {f"NUMA node{row['Id']} CPU(s)": row.get("Processors", "") for row in processor["NumaNodes"]}
    assert len(nodes) == int(lines.get("NUMA node(s)", ["0"])[0])
    for name, cpus in nodes.items():
        assert numbers(lines[name][0] or "") == numbers(cpus)
    kinds = list(zip(map(int, lines["Core(s) per socket"]), map(int, lines["Socket(s)"])))
    assert processor["ThreadsPerCore"] == max(map(int, lines["Thread(s) per core"]))
    assert processor["Cores"] == sum(cores * sockets for cores, sockets in kinds)
    assert processor["Sockets"] == max(sockets for _, sockets in kinds)
    named = [bare(model) for model in lines["Model name"] if model != "-"]
    assert set(named) <= set(processor["Model"].split(" + "))
    most = [float(mhz) for mhz in lines.get("CPU max MHz", [])]
    assert processor["MaxClockHz"] == (round(max(most) * MHZ) if most else ABSENT)
    if "Flags" in lines:
        assert set(processor["InstructionSets"]) == INSTRUCTION_SETS & set(lines["Flags"][0].split())
    assert_equal_caches(processor["Caches"], lines, lscpu(root, "--caches")["caches"])


def assert_equal_caches(rows, lines, caches):
    sums = {}
    for row in rows:
        name = row["Id"].partition(",")[0]
        size, n = sums.get(name, (0, 0))
        sums[name] = size + row.get("SizeBytes", 0) * row["Instances"], n + row["Instances"]
        cache = next(cache for cache in caches if cache["name"] == name)
        assert (row["Level"], row["Type"]) == (cache["level"], cache["type"].lower())
    assert sums == {cache["name"]: tuple(map(int, re.match(r"(\d+) \((\d+) inst", lines[f"{cache['name']} cache"][0])
                                             .groups())) for cache in caches}
    assert {name: size for name, (size, _) in sums.items()} == {
        cache["name"]: int(cache["all-size"]) for cache in caches}


def start(make_host, machine, change=lambda root: None):
    host = make_host(sysroot=True)
    make_machine(host.sysroot, machine)
    change(host.sysroot)
    host.start_daemon("telemetryd")
    return host


def measured(host):
    return host.connection().get_all(*RECORD)


def test_equal_to_lscpu_on_this_machine(make_host):
    host = make_host(daemons=["telemetryd"])
    assert_equal_to_lscpu(measured(host), None)


def caches(processor):
    return {row["Id"]: (row["SizeBytes"] // KIB, row["Instances"]) for row in processor["Caches"]}


def nodes(processor):
    return {row["Id"]: (row.get("Processors"), row.get("MemoryBytes")) for row in processor["NumaNodes"]}


def assert_has(processor, **fields):
    assert {name: processor[name] for name in fields} == fields


def assert_two_packages(processor):
    assert_has(processor, Model="AMD EPYC 9354 32-Core Processor", Sockets=2, Cores=4, Threads=7, OfflineThreads=1,
               ThreadsPerCore=2, BaseClockHz=3250 * MHZ, MaxClockHz=3799072000, FrequencyDriver="amd-pstate-epp",
               Governors=["performance"], Microcode="0xa10113e", InstructionSets=[
                   "avx", "avx2", "avx512_bf16", "avx512_vnni", "avx512bw", "avx512dq", "avx512f", "avx512vl", "f16c",
                   "fma"])
    assert caches(processor) == {"L1d": (32, 4), "L1i": (32, 4), "L2": (1024, 4), "L3": (32768, 2)}
    # Memory behind CXL is a node of its own.
    assert nodes(processor) == {"0": ("0-1,4-5", 131072000 * KIB), "1": ("2-3,6", 132072000 * KIB),
                                "2": (None, 268435456 * KIB)}


def assert_hybrid(processor):
    assert_has(processor, Sockets=1, Cores=6, Threads=8, OfflineThreads=0, ThreadsPerCore=2, BaseClockHz=1800 * MHZ,
               MaxClockHz=5200 * MHZ, FrequencyDriver="intel_pstate", Governors=["powersave"])
    assert caches(processor) == {"L1d,48K": (48, 2), "L1d,32K": (32, 4), "L1i,32K": (32, 2), "L1i,64K": (64, 4),
                                 "L2,1280K": (1280, 2), "L2,2048K": (2048, 1), "L3": (12288, 1)}


def assert_big_and_little(processor):
    assert_has(processor, Model="Cortex-A76 + Cortex-A55", Sockets=1, Cores=6, Threads=6, ThreadsPerCore=1,
               BaseClockHz=ABSENT, MaxClockHz=2400 * MHZ, FrequencyDriver="cpufreq-dt",
               Governors=["ondemand", "schedutil"], Microcode="", NumaNodes=[],
               InstructionSets=["asimd", "asimddp", "asimdhp", "fphp"])


def assert_memory_of_a_gpu(processor):
    assert_has(processor, Model="Neoverse-V2", BaseClockHz=3375 * MHZ, InstructionSets=[
        "asimd", "asimddp", "asimdfhm", "asimdhp", "bf16", "fphp", "i8mm", "sve", "sve2", "svebf16", "svei8mm"])
    assert nodes(processor) == {"0": ("0-1", 491520000 * KIB), "1": (None, 99614720 * KIB)}


def assert_partition_of_power(processor):
    assert_has(processor, Model="POWER10", Sockets=1, Cores=2, Threads=8, OfflineThreads=0, ThreadsPerCore=4,
               BaseClockHz=3450 * MHZ, MaxClockHz=ABSENT, FrequencyDriver="", Governors=[],
               InstructionSets=["altivec", "mma", "vsx"])
    # A node that has no memory has 0 of it, which is known.
    assert nodes(processor) == {"1": (None, 0), "2": ("0-7", 67108864 * KIB)}


def assert_clusters_of_risc_v(processor):
    assert_has(processor, Model="Spacemit(R) X60", Sockets=1, Cores=4, Threads=4, ThreadsPerCore=1,
               MaxClockHz=1600 * MHZ, InstructionSets=["v", "zfh", "zvfh", "zvfhmin"])
    assert caches(processor) == {"L1d": (32, 4), "L1i": (32, 4), "L2": (512, 2)}


EXACTLY = {"epyc": assert_two_packages, "core": assert_hybrid, "rk3588": assert_big_and_little,
           "grace": assert_memory_of_a_gpu, "power10": assert_partition_of_power, "spacemit": assert_clusters_of_risc_v}


@pytest.mark.parametrize("machine", sorted(path.stem for path in MACHINES.iterdir()))
def test_exactly_and_equal_to_lscpu(make_host, machine):
    host = start(make_host, machine)
    EXACTLY[machine](measured(host))
    assert_equal_to_lscpu(measured(host), host.sysroot)


def test_masked_sysfs(make_host):
    """A container that hides it shows what /proc/cpuinfo has, and the log is silent about what is normal there."""
    host = start(make_host, "epyc", lambda root: root.remove("sys/devices/system"))
    processor = measured(host)
    assert_has(processor, Model="AMD EPYC 9354 32-Core Processor", Microcode="0xa10113e", Sockets=ABSENT, Cores=ABSENT,
               Threads=ABSENT, OfflineThreads=ABSENT, ThreadsPerCore=ABSENT, BaseClockHz=ABSENT, MaxClockHz=ABSENT,
               FrequencyDriver="", Governors=[], Caches=[], NumaNodes=[])
    assert "avx512_bf16" in processor["InstructionSets"]
    assert "devices/system" not in host.daemons[0].log_text()


def test_governor_is_followed(make_host):
    host = start(make_host, "rk3588")
    policies = [host.sysroot.dir / f"sys/devices/system/cpu/cpufreq/policy{cpu}/scaling_governor" for cpu in range(6)]
    with host.log_signals(RECORD[0], RECORD[1], PROPERTIES, "PropertiesChanged", RECORD[2]) as changes:
        for policy in policies:
            # In place, as a write to the file of the kernel is.
            with policy.open("r+") as file:
                file.write("performance\n")
        host.wait_for_property(*RECORD, "Governors", lambda governors: governors == ["performance"])
        assert all(set(change.args[1]) <= {"Governors", "Revision", "UpdatedUSec"} for change in changes.received)


def test_shown_by_clients(make_host):
    """Which have no code for it."""
    host = start(make_host, "epyc")
    host.start_daemon("identityd")
    host.start_daemon("stated")
    node = host.wait_for_property("org.alidade.State1", "/org/alidade/State1", "org.alidade.State1", "NodeId")
    host.wait_for_property("org.alidade.State1", f"/org/alidade/State1/node/{node}", RECORD[2], "Sockets",
                           lambda sockets: sockets == 2)
    processors = host.call("org.alidade.State1", "/org/alidade/State1", "org.alidade.State1", "GetProcessors")
    assert processors[node]["Cores"] == 4
    shown = json.loads(host.alidadectl("show", "--json", node).stdout)["Node"]["Node1.Processor"]
    assert shown["Caches"][0] == {"Id": "L1d", "Level": 1, "Type": "data", "SizeBytes": 32 * KIB, "Instances": 4}
    text = host.alidadectl("show", node).stdout
    for line in ("BaseClockHz: 3.25 GHz", "Governors: performance", "SizeBytes: 32.0 MiB", "MemoryBytes: 256 GiB",
                 "InstructionSets: avx, avx2, avx512_bf16"):
        assert line in text, text
    metrics = host.alidadectl("metrics").stdout
    for line in ('alidade_processor_threads{node="%s"} 7', 'alidade_processor_cache_size_bytes{node="%s",cache="L3"} '
                 '33554432', 'alidade_processor_numa_node_memory_bytes{node="%s",numa_node="2"} 274877906944',
                 'alidade_processor_base_clock_hertz{node="%s"} 3250000000'):
        assert line % node in metrics, metrics
