# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidade-placementd: plans on a cluster whose records are played, and everything that can be wrong with a call."""

import re
import signal

import pytest

from bedlib.variants import Typed
from placement import (FAR, FAST, GIB, MEASURED, PATH, PLACEMENT, SLOW, Asked, call, link, network, node, plan,
                       play)
from state_service import fails_with, local_id, record, start


@pytest.fixture
def host(make_host):
    return start(make_host, activation=("placementd",))


@pytest.fixture
def cluster(host):
    return play(host)


def test_the_bus_starts_it_and_it_plans(host, cluster):
    """16 GiB fit on the fast GPU; the processor of the same node and the slow GPU would cost more than they save."""
    found = plan(host)
    assert found.layers() == {"fast/0000:01:00.0": 32}
    assert found.plan["Client"] == FAST and found.plan["ClientName"] == "fast"
    assert found.plan["StepNSec"] == found.plan["LowerNSec"]
    layer = GIB / 2 / (900e9 * 0.9) * 1e9 + 44e3
    assert found.plan["StepNSec"] == pytest.approx(32 * layer, rel=1e-6)
    assert found.plan["TokensPerSecond"] == pytest.approx(1e9 / (32 * layer), rel=1e-6)
    assert found.plan["OldestUSec"] == MEASURED
    assert found.reason("slow") == "saves-too-little" and found.reason("far") == "no-path"
    assert "DraftLayers" not in found.plan
    assert plan(host, {"DraftLayers": Typed("t", 1)}).plan["DraftLayers"] == 1
    stage = found.stages[0]
    assert (stage["HostName"], stage["Vendor"], stage["Limiter"], stage["FreeBytes"], stage["HopNSec"]) \
        == ("fast.example", "NVIDIA Corporation", "memory", 24 * GIB, 0)
    assert stage["TotalBytes"] == 24 * GIB
    assert {row["Name"]: row["Value"] for row in found.constants}["GpuMemoryEfficiency"] == 0.9


def test_the_memory_that_the_client_needs_has_an_age(host, cluster):
    """Also where a GPU alone computes."""
    cluster.take(record(FAST, "Node1.Memory", seq=2, updated=MEASURED - 10 ** 6, TotalBytes=64 * GIB,
                        AvailableBytes=64 * GIB))
    found = plan(host)
    assert found.layers() == {"fast/0000:01:00.0": 32} and found.plan["OldestUSec"] == MEASURED - 10 ** 6


def test_a_model_that_needs_both(host, cluster):
    found = plan(host, {"LayerBytes": Typed("t", GIB)}, "vllm")
    assert found.layers().keys() == {"fast/0000:01:00.0", "slow/0000:01:00.0"} and sum(found.layers().values()) == 32
    there, back = [hop for hop in found.hops if hop["Alternative"] == 0]
    assert {there["SourceName"], back["SourceName"]} == {"fast", "slow"}
    for hop in (there, back):
        assert (hop["Kind"], hop["BitsPerSecond"], hop["RttNSec"], hop["SourcePort"], hop["SinkPort"]) \
            == ("socket", 10 ** 10, 100_000, "eth0", "eth0")
        assert hop["NSec"] == pytest.approx(50_000 + hop["Bytes"] * 8 / 10, rel=1e-3)
        assert {hop["SourceName"]: hop["SourceAddress"], hop["SinkName"]: hop["SinkAddress"]} \
            == {"fast": "192.0.2.1", "slow": "192.0.2.2"}
    assert {row["Change"] for row in found.sensitivities} == {"rate", "rtt"}
    assert found.reason("fast", "cpu") == "not-for-engine"


def test_a_client_has_one_connection_to_a_server(host, cluster):
    """Of two paths, each slow in one direction, a star does not take the better half of each; a ring does."""
    cluster.take(network(FAST, "192.0.2.1", "198.51.100.1", seq=2), network(SLOW, "192.0.2.2", "198.51.100.2", seq=2),
                 link(FAST, SLOW, "192.0.2.2", seq=2, rate=10 ** 10, down=10 ** 7),
                 link(FAST, SLOW, "198.51.100.2", rate=10 ** 7, down=10 ** 10, port="eth1"))
    needs_both = {"LayerBytes": Typed("t", GIB), "Vocabulary": Typed("t", 1000)}
    used = {engine: {hop["SourcePort"] for hop in plan(host, needs_both, engine).hops if hop["Alternative"] == 0}
            for engine in ("llama.cpp", "vllm")}
    assert len(used["llama.cpp"]) == 1 and used["vllm"] == {"eth0", "eth1"}


def test_a_link_whose_interfaces_are_unknown(host, cluster):
    """By a route that nobody knows, so that the prober has no address either."""
    cluster.take(network(FAST, "192.0.2.1", "198.51.100.1", seq=2), network(FAR, "192.0.2.3", "203.0.113.9", seq=2),
                 link(FAST, FAR, "203.0.113.9", port=None))
    found = plan(host, engine="vllm", Must=Typed("as", ["fast", "far"]))
    there, back = sorted((hop for hop in found.hops if hop["Alternative"] == 0), key=lambda hop: hop["Source"])
    assert (there["SinkAddress"], back["SourceAddress"]) == ("203.0.113.9",) * 2
    assert not {"SourcePort", "SourceAddress"} & there.keys() and not {"SinkPort", "SinkAddress"} & back.keys()


def test_equal_state_gives_equal_plans(host, cluster):
    assert call(host, Engine=Typed("s", "vllm")) == call(host, Engine=Typed("s", "vllm"))


def test_pins(host, cluster):
    assert plan(host, Must=Typed("as", ["slow/0000:01:00.0"])).layers()["slow/0000:01:00.0"] >= 1
    without = plan(host, Without=Typed("as", [FAST + "/0000:01:00.0"]))
    assert "fast/0000:01:00.0" not in without.layers()
    assert without.reason("fast") == "excluded"
    assert plan(host, Client=Typed("s", "slow")).plan["Client"] == SLOW


def test_a_split(host, cluster):
    split = {"fast/cpu": 2, "fast/0000:01:00.0": 20, "slow/0000:01:00.0": 10}
    assert plan(host, Split=Typed("as", [f"{name}={layers}" for name, layers in split.items()])).layers() == split
    found = plan(host, Split=Typed("as", ["fast/cpu=31"]))
    assert found.plan["Problem"] == "split-sum" and "31" in found.plan["Text"]
    found = plan(host, {"LayerBytes": Typed("t", GIB)}, Split=Typed("as", ["slow/0000:01:00.0=32"]))
    assert found.plan["Problem"] == "split-memory" and found.plan["NeedsBytes"] > found.plan["FreeBytes"] > 0


def test_throughput_has_steps_in_flight(host, cluster):
    """Two stages work at once on 8 requests, where computing takes longer than reading what is read again."""
    many = {"LayerBytes": Typed("t", GIB), "Parallel": Typed("t", 8), "TokenParameters": Typed("d", 1e11)}
    found, quick = (plan(host, many, "vllm", Goal=Typed("s", goal)) for goal in ("throughput", "latency"))
    assert found.plan["StepsInFlight"] == 2 and quick.plan["StepsInFlight"] == 1
    assert found.plan["TokensPerSecond"] > quick.plan["TokensPerSecond"]


def test_the_last_stage_of_a_pipeline_sends_tokens(host, cluster):
    found = plan(host, {"LayerBytes": Typed("t", GIB), "Parallel": Typed("t", 8)}, "vllm",
                 TransportOverhead=Typed("d", 1.0))
    hops = [hop for hop in found.hops if hop["Alternative"] == 0]
    assert [(hop["Payload"], hop["Bytes"]) for hop in hops] == [("activations", 8 * 4 * 4096), ("tokens", 8 * 8)]
    assert hops[1]["NSec"] == pytest.approx(hops[1]["RttNSec"] / 2 + 8e9 * 8 * 8 / hops[1]["BitsPerSecond"], abs=2)
    assert hops[1]["NSec"] == found.stages[1]["HopNSec"]


def test_other_engines(host, cluster):
    found = plan(host, engine="distributed-llama")
    assert {stage["Device"] for stage in found.stages if stage["Alternative"] == 0} == {"cpu"}
    assert not any("Payload" in hop for hop in found.hops)
    found = plan(host, {"MessageBytes": Typed("t", 2 ** 20)}, "mpi", Without=Typed("as", ["far"]))
    assert [hop["Payload"] for hop in found.hops if hop["Alternative"] == 0] == ["sums"] * 2
    with fails_with("org.freedesktop.DBus.Error.InvalidArgs") as error:
        plan(host, engine="mpi")
    assert "MessageBytes" in error.value.message


def test_assumed_paths_are_marked(host, cluster):
    found = plan(host, Must=Typed("as", ["far/0000:01:00.0"]), AssumedBitsPerSecond=Typed("t", 10 ** 9),
                 AssumedRttNSec=Typed("t", 200_000))
    assert found.plan["Unmeasured"] >= 1
    assert "assumed" in {hop["Kind"] for hop in found.hops}
    found = plan(host, engine="distributed-llama", Must=Typed("as", ["far/cpu"]), Client=Typed("s", "fast"),
                 AssumedBitsPerSecond=Typed("t", 10 ** 9), AssumedRttNSec=Typed("t", 200_000))
    assert found.plan["Unmeasured"] >= 1


def test_memory_of_the_host_that_a_device_may_use(host, cluster):
    """18 GiB of what the host has available, and what is free of its carve-out."""
    cluster.take(
        record(FAST, "Node1.Backends", seq=2, Devices=[
            {"Id": "0000:01:00.0", "Class": "gpu", "Vendor": "AMD", "Unified": True, "MemoryTotalBytes": 8 * GIB,
             "SharedBytes": 20 * GIB}]),
        record(FAST, "Node1.System", seq=2, Devices=[
            {"Id": "0000:01:00.0", "MemoryUsedBytes": GIB, "SharedUsedBytes": 2 * GIB}]))
    found = plan(host, Must=Typed("as", ["fast"]))
    assert next(stage["FreeBytes"] for stage in found.stages if stage["NodeName"] == "fast") == 25 * GIB


def test_a_card_whose_use_of_memory_is_unknown(host, cluster):
    """As of an Intel Arc: all of it is taken as free, and the plan and its text say so."""
    cluster.take(
        record(FAST, "Node1.Backends", seq=2, Devices=[
            {"Id": "0000:01:00.0", "Class": "gpu", "Vendor": "Intel", "Unified": False, "MemoryTotalBytes": 22 * GIB}]),
        record(FAST, "Node1.System", seq=2, Devices=[{"Id": "0000:01:00.0", "PowerState": "active"}]))
    found = plan(host)
    stage = next(stage for stage in found.stages if stage["NodeName"] == "fast")
    assert stage["FreeBytes"] == 22 * GIB and stage["FreeAssumed"] is True
    shown = host.alidadectl("place", "--bytes=16G", "--layers=32", "--elements=4096").stdout
    assert "fast/0000:01:00.0: all memory is taken as free" in " ".join(shown.split()), shown


@pytest.mark.parametrize("vendor, total", [("NVIDIA Corporation", 122 * GIB), ("AMD", None)])
def test_the_total_of_a_device_that_uses_the_memory_of_the_host(host, cluster, vendor, total):
    """CUDA reports MemTotal; what others report is unknown."""
    cluster.take(
        record(FAST, "Node1.Backends", seq=2, Devices=[
            {"Id": "0000:01:00.0", "Class": "gpu", "Vendor": vendor, "Unified": True},
            {"Id": "cpu", "Class": "cpu", "Unified": True}]),
        record(FAST, "Node1.Memory", seq=2, TotalBytes=122 * GIB, AvailableBytes=102 * GIB))
    [stage] = plan(host, engine="vllm", Must=Typed("as", ["fast/0000:01:00.0"]), MaxDevices=Typed("t", 1)).stages
    assert (stage["FreeBytes"], stage.get("TotalBytes")) == (102 * GIB, total)


def test_what_fits_nowhere_is_a_plan_with_a_problem(host, cluster):
    found = plan(host, {"LayerBytes": Typed("t", 100 * GIB)})
    assert found.plan["Problem"] == "no-device" and found.stages == []
    assert found.reason("fast") == "memory-too-small"
    found = plan(host, {"LayerBytes": Typed("t", 20 * GIB)})
    assert found.plan["Problem"] == "too-little-memory" and found.plan["NeedsBytes"] == 640 * GIB
    assert "needs 640 GiB" in found.plan["Text"]
    found = plan(host, {"LayerBytes": Typed("t", 2 * GIB)}, "vllm")
    assert found.plan["Problem"] == "not-joined"


def test_what_is_gone_or_was_never_measured(host, cluster):
    cluster.presences((SLOW, "offline", 5, -2 ** 63, 0))
    cluster.take(*(row[:4] + (2,) + row[5:] for row in node(FAR, "far", measured=False)))
    found = plan(host)
    assert found.reason("slow") == "unusable" and found.reason("far") == "bandwidth-unmeasured"
    assert next(row["Text"] for row in found.left_out if row["NodeName"] == "slow") == "Its node is offline."


BAD_CALLS = [
    ({"Layers": Typed("t", 0)}, {}, "Layers must be 1 or more"),
    ({"Layers": Typed("t", 2 ** 63)}, {}, "Layers must be 1024 or less"),
    ({"Layers": Typed("s", "many")}, {}, "Layers must be of type t, not s"),
    ({"Hats": Typed("t", 1)}, {}, 'Unknown key Hats'),
    ({"TokenBytes": Typed("d", float("nan"))}, {}, "TokenBytes must be 1 or more"),
    ({"TokenBytes": Typed("d", float("inf"))}, {}, "TokenBytes must be"),
    ({"TokenBytes": Typed("d", 1e12)}, {}, "TokenBytes is more than MeanLayerBytes"),
    ({}, {"Engine": Typed("s", "abacus")},
     "Engine: one of llama.cpp, vllm, sglang, torch, distributed-llama, mpi, nccl, not abacus"),
    ({}, {"Engine": Typed("s", "")}, "Engine"),
    ({"LayerSizes": Typed("as", ["3*5"])}, {}, "LayerSizes: not of the form LAYERS*BYTES+BYTES"),
    ({"LayerSizes": Typed("as", ["3*5+0"])}, {}, "LayerSizes has fewer layers than Layers"),
    ({"KvTypeK": Typed("s", "f8")}, {}, "KvTypeK: unknown word f8"),
    ({"KvTypeV": Typed("s", "q4_0")}, {"Engine": Typed("s", "vllm")}, "The engine cannot keep values in KvTypeV"),
    ({}, {"Must": Typed("as", ["a/" * 600])}, "more than 1024 bytes"),
    ({"é" * 100: Typed("t", 1)}, {}, "Unknown key éééé"),
    ({}, {"GpuMemoryEfficiency": Typed("d", 2.0)}, "GpuMemoryEfficiency must be 1 or less"),
    ({}, {"AssumedRttNSec": Typed("t", 5)}, "require each other"),
    ({}, {"Must": Typed("as", ["fast"] * 257)}, "Must must have 256 entries or less"),
    ({}, {"Engine": Typed("s", "vllm"), "Client": Typed("s", "fast")}, "vllm has no client"),
    ({}, {"Split": Typed("as", ["fast/cpu"])}, "Split: not of the form NODE/DEVICE=LAYERS: fast/cpu"),
    ({}, {"Split": Typed("as", ["fast/cpu=16", "fast/cpu=16"])}, "twice"),
]


def test_bad_arguments_are_named(host, cluster):
    for workload, options, said in BAD_CALLS:
        with fails_with("org.freedesktop.DBus.Error.InvalidArgs", (workload, options)) as error:
            call(host, workload, **{"Engine": Typed("s", "llama.cpp"), **options})
        assert said in error.value.message, (workload, options)
    with fails_with("org.freedesktop.DBus.Error.InvalidArgs") as error:
        host.call(PLACEMENT, PATH, PLACEMENT, "Plan", "a{sv}a{sv}", (
            {"MessageBytes": Typed("t", 1), "LayerSizes": Typed("as", ["1*1+1"])}, {"Engine": Typed("s", "mpi")}))
    assert "LayerSizes needs Layers" in error.value.message
    with fails_with("org.freedesktop.DBus.Error.InvalidArgs") as error:
        call(host)
    assert "Engine is missing" in error.value.message


def test_a_device_that_is_meant_to_get_more_layers_than_there_are(host, cluster):
    sizes = Typed("as", [f"32*{2 * GIB}+0"])
    found = plan(host, {"LayerBytes": Typed("t", 2 * GIB), "LayerSizes": sizes},
                 Split=Typed("as", ["fast/0000:01:00.0=1024"]))
    assert found.stages == [] and 64 * GIB <= found.plan["NeedsBytes"] < 66 * GIB, found.plan


UNREADABLE = [
    ("llama.cpp", {"ModelFormat": "safetensors"}, "convert_hf_to_gguf.py"),
    ("distributed-llama", {"ModelFormat": "safetensors", "Architecture": "gpt_oss"}, "choose another engine"),
    ("torch", {"ModelFormat": "gguf"}, "place the folder with safetensors")]


def test_files_that_the_engine_cannot_read(host, cluster):
    for engine, files, said in UNREADABLE:
        with fails_with("org.alidade.Error.UnreadableModel", (engine, files)) as error:
            plan(host, {key: Typed("s", value) for key, value in files.items()}, engine)
        assert said in error.value.message and engine in error.value.message, (engine, files)


def test_what_else_is_to_be_known(host, cluster):
    """What the engine needs before it reads the files or commands are exported, and the builds that GPUs of two vendors
    need."""
    [note] = plan(host).plan["Notes"]
    assert note == "Commands for llama.cpp cannot be exported yet: they need Context, which is not stated."
    context = {"Context": Typed("t", 4096)}
    assert "Notes" not in plan(host, context).plan
    assert "vllm-gguf-plugin" in plan(host, {"ModelFormat": Typed("s", "gguf")}, "vllm").plan["Notes"][0]
    cluster.take(record(SLOW, "Node1.Backends", seq=2, Devices=[
        {"Id": "0000:01:00.0", "Class": "gpu", "Vendor": "AMD", "MemoryTotalBytes": 24 * GIB}]))
    found = plan(host, {"LayerBytes": Typed("t", GIB), **context})
    vocabulary, builds = found.plan["Notes"]
    assert "The size of the vocabulary is not known" in vocabulary
    assert "fast with CUDA, slow with ROCm" in builds
    results = [hop for hop in found.hops if hop["Payload"] == "logits"]
    assert results and not any("Bytes" in hop for hop in results)
    found = plan(host, {"LayerBytes": Typed("t", GIB), "Vocabulary": Typed("t", 32000), **context})
    [note] = found.plan["Notes"]
    assert "fast with CUDA, slow with ROCm" in note


UNKNOWN_NAMES = [
    ({"Must": ["nobody"]}, "NoSuchNode", ".+"), ({"Without": ["fast/0000:02:00.0"]}, "NoSuchDevice", ".+"),
    ({"Must": ["nobody/cpu"]}, "NoSuchNode", ".+"),
    ({"Must": ["fsat"]}, "NoSuchNode", r"No such node: fsat; did you mean fast\?"),
    ({"Must": ["0"]}, "AmbiguousName",
     r"Several nodes match 0: [0-9a-f]{32}(, [0-9a-f]{32}){1,3}( and \d+ more)?")]


def test_names_that_do_not_exist(host, cluster):
    for options, name, said in UNKNOWN_NAMES:
        with fails_with(f"org.alidade.Error.{name}", options) as error:
            plan(host, **{key: Typed("as", value) for key, value in options.items()})
        assert re.fullmatch(said, error.value.message), options


def test_without_the_state_service(make_host):
    host = make_host(sysroot=True)
    host.start_daemon("placementd")
    with fails_with("org.alidade.Error.StateUnavailable"):
        plan(host)


def test_it_leaves_when_it_has_nothing_to_do(host, cluster):
    daemon = host.start_daemon("placementd", env={"ALIDADE_IDLE_SECONDS": "1"})
    assert daemon.wait(20) == 0
    assert plan(host).layers()


def test_a_single_machine(host):
    """Its own processor is all there is, and nobody has measured it."""
    found = plan(host)
    assert found.plan["Problem"] == "no-device"
    assert {row["Node"] for row in found.left_out} == {local_id(host)}


LIMITS = "org.freedesktop.DBus.Error.LimitsExceeded"
CANCELED = "org.alidade.Error.Canceled"


@pytest.fixture
def stuck(host, cluster):
    """The state service hangs, so that nobody's turn ends."""
    plan(host)
    stated = host.daemons[-1]
    stated.signal(signal.SIGSTOP)
    yield stated
    stated.signal(signal.SIGCONT)


def test_a_user_has_one_turn_and_four_wait(host, stuck):
    connection = host.new_connection()
    asked = [Asked(connection) for _ in range(5)]
    assert Asked(connection).wait() == LIMITS
    assert [one.outcome for one in asked] == [None] * 5
    other = Asked(host.new_connection("nobody"))
    stuck.signal(signal.SIGCONT)
    assert [one.wait() for one in (*asked, other)] == ["planned"] * 6


def test_cancel_ends_the_plans_of_its_caller_only(host, stuck):
    connection, other = host.new_connection(), host.new_connection()
    asked, kept = [Asked(connection) for _ in range(3)], Asked(other)
    connection.fence()
    connection.call(PLACEMENT, PATH, PLACEMENT, "Cancel")
    assert [one.wait() for one in asked[1:]] == [CANCELED] * 2
    stuck.signal(signal.SIGCONT)
    assert (asked[0].wait(), kept.wait()) == (CANCELED, "planned")


def test_the_plans_of_those_who_leave_are_given_up(host, stuck):
    leaving = host.new_connection("nobody")
    for _ in range(5):
        Asked(leaving)
    leaving.fence()
    assert Asked(host.new_connection("nobody")).wait() == LIMITS
    leaving.close()
    host.connection().wait_for_name(leaving.unique_name, present=False)
    asked = Asked(host.new_connection("nobody"))
    stuck.signal(signal.SIGCONT)
    assert asked.wait() == "planned"


def test_it_dies_and_the_next_call_starts_it(host, cluster):
    plan(host)
    daemon = host.activated("placementd")
    daemon.excused = True
    daemon.signal(signal.SIGKILL)
    daemon.wait(20)
    assert plan(host).layers()
    assert host.activated("placementd") is not daemon


def test_the_state_service_dies_while_it_is_read(host, stuck):
    asked = Asked(host.new_connection())
    stuck.excused = True
    stuck.signal(signal.SIGKILL)
    assert asked.wait() == "org.alidade.Error.StateUnavailable"
