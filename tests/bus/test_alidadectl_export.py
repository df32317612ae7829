# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidadectl export: what it refuses, and the programs that its texts are for, real ones where they are installed."""

import json
import shutil
import subprocess

import pytest

from bedlib import network
from bedlib.services import SOURCE, client_binary
from bedlib.waiting import wait_until
from client import ERROR, NO_NODE, OK, USAGE
from played_state import now, sample_node
from test_alidadectl_links_played import GIGABIT, ME, PEER, THIRD, edge, node_id, play  # noqa: F401

PLANS = SOURCE / "tests" / "unit" / "placement" / "data"
HOUR = 3600 * 10 ** 6


def fresh_plan(name, age=0):
    """A stored plan whose figures are as old as said, or a little older."""
    plan = json.loads((PLANS / f"{name}.json").read_text())
    shift = now() - age - max(row[key] for part in ("Stages", "Hops") for row in plan[part]
                              for key in row if key.endswith("USec"))
    for row in [plan["Plan"], *plan["Stages"], *plan["Hops"]]:
        row.update({key: value + shift for key, value in row.items() if key.endswith("USec")})
    return plan


def export(host, form, plan, *options, **more):
    return host.alidadectl("export", form, "--plan=-", *options, text_in=json.dumps(plan), **more)


def refused(host, form, plan, *options):
    done = export(host, form, plan, *options, check=False)
    assert (done.returncode, done.stdout) == (ERROR, "")
    return done.stderr


def test_the_command_line(make_host, tmp_path):
    host = make_host()
    for words, message in (
            ([], "Usage: alidadectl export FORMAT"), (["vllm", "a", "b"], "Usage: "),
            (["foo"], 'Unknown format "foo"'), (["vllm"], "vllm is made from a plan"),
            (["slurm", "--plan=x"], "slurm is made from the state"), (["dot", "--model=x"], "--model works with these"),
            (["vllm", "--plan=x", "--program=x"], "formats only: mpi, torchrun"),
            (["dot", "node"], "NODE works with these formats only: nfd"), (["nfd", "--json"], "--json works with"),
            (["nfd", "--names=full"], "--names works with these formats only: slurm"),
            (["vllm", "--plan=x", "--backend=cuda"], "--backend works with these formats only: llama.cpp"),
            (["llama.cpp", "--plan=x", "--backend=CUDA"],
             '--backend is one of cuda, rocm, sycl, vulkan, cpu, not "CUDA"'),
            (["slurm", "--names=long"], '--names is one of short, full, not "long"'),
            (["vllm", "--plan"], "--plan needs a value"), (["vllm", "--what"], "--what: unknown option")):
        done = host.alidadectl("export", *words, check=False)
        assert (done.returncode, done.stdout) == (USAGE, "") and message in done.stderr, words
    said = host.alidadectl("export", "--help").stdout
    assert "slurm" in said
    assert "ggml-rpc-servers (--model, --backend)\n" in said and "Backends: cuda, rocm, sycl, vulkan, cpu\n" in said
    for text, message in (("", "is not a plan"), ("{}", "is not a plan: Plan is not an object"),
                          ('{"Plan": {}}', "is not a plan: Stages is missing or not a list"),
                          ("x" * (17 << 20), "is not a plan")):
        (tmp_path / "plan").write_text(text)
        done = host.alidadectl("export", "vllm", f"--plan={tmp_path}/plan", check=False)
        assert (done.returncode, done.stdout) == (ERROR, "") and message in done.stderr
    done = host.alidadectl("export", "vllm", "--plan=/nonexistent/plan", check=False)
    assert done.returncode == ERROR and "Cannot read /nonexistent/plan: No such file" in done.stderr


def test_old_figures_need_force(make_host):
    host = make_host()
    plan = fresh_plan("llama")
    assert export(host, "llama.cpp", plan).returncode == OK
    plan["Stages"][1]["FreeUSec"] -= HOUR
    assert "free memory of 0000:41:00.0 on alder" in refused(host, "llama.cpp", plan)
    assert "--force exports the plan nevertheless" in refused(host, "llama.cpp", plan)
    assert export(host, "llama.cpp", plan, "--force").returncode == OK
    assert export(host, "dot", plan).returncode == OK
    plan["Plan"]["Problem"] = "not-joined"
    assert "There is no plan: not-joined" in refused(host, "llama.cpp", plan, "--force")


def test_a_plan_as_json_comes_back(make_host):
    host = make_host()
    plan = fresh_plan("ring")
    assert json.loads(export(host, "json", plan).stdout) == plan
    assert export(host, "json", plan, "--json=pretty").stdout.startswith("{\n")


STUB = """#!/bin/sh
printf '%s\\0' "${0##*/}" "$@" >"$CALLS/$$"
env -0 >"$CALLS/env-$$"
"""


def run_shell(tmp_path, text, *programs):
    """(words, environment) of each of these programs that the text starts."""
    (tmp_path / "bin").mkdir(exist_ok=True)
    calls = tmp_path / "calls"
    calls.mkdir()
    for program in programs:
        (tmp_path / "bin" / program).write_text(STUB)
        (tmp_path / "bin" / program).chmod(0o755)
    done = subprocess.run(["sh", "-eu", "-s"], input=text, text=True, capture_output=True, cwd=tmp_path, check=True,
                          env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin", "CALLS": str(calls)})
    assert (done.stdout, done.stderr) == ("", "")
    found = [([word.decode() for word in path.read_bytes().split(b"\0")[:-1]],
              dict(line.decode().split("=", 1) for line in (calls / f"env-{path.name}").read_bytes().split(b"\0")[:-1]))
             for path in calls.iterdir() if not path.name.startswith("env-")]
    shutil.rmtree(calls)
    return found


MODELS = ["m.gguf", "/a b/$(touch owned)`touch owned`;touch owned", "it's \"quoted\" \\ äö"]


def test_commands_for_llama_are_words_of_a_shell(make_host, tmp_path):
    host = make_host()
    plan = fresh_plan("llama")
    plan["Stages"][1]["NodeName"] = plan["Hops"][0]["SinkName"] = "x\ntouch owned\r\u2028touch owned"
    for model in MODELS:
        text = export(host, "llama.cpp", plan, f"--model={model}").stdout
        [(words, environment)] = run_shell(tmp_path, text, "llama-server")
        assert words == ["llama-server", "--model", model, "--rpc", "198.18.0.2:50052,198.18.1.3:50052", "--device",
                         "RPC0,RPC1,CUDA0", "--tensor-split", "20,3,22", "-ngl", "45", "-fit", "off",
                         "--cache-ram", "0", "-c", "8192", "-np", "1"], model
        assert environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID", model
        assert not list(tmp_path.glob("**/owned")), model
        servers = "".join(line.removeprefix("#   ") + "\n" for line in text.splitlines()
                          if "ggml-rpc-server -H" in line)
        assert sorted(words for words, _ in run_shell(tmp_path, servers, "ggml-rpc-server")) == [
            ["ggml-rpc-server", "-H", "198.18.0.2", "-p", "50052", "-d", "CUDA1"],
            ["ggml-rpc-server", "-H", "198.18.1.3", "-p", "50052", "-t",
             subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout.strip(), "-d", "CPU"]], model


def option(words, name):
    return words[words.index(name) + 1]


RINGS = [
    ("vllm", "vllm", "--node-rank", ("--master-addr", "198.18.0.1"), "VLLM_PP_LAYER_PARTITION"),
    ("sglang", "python3", "--node-rank", ("--dist-init-addr", "198.18.0.1:5000"), "SGLANG_PP_LAYER_PARTITION"),
    ("torch", "torchrun", "--node_rank", ("--master_addr", "198.18.0.1"), None)]


def test_commands_of_a_ring(make_host, tmp_path):
    host = make_host()
    for engine, program, rank, master, partition in RINGS:
        plan = fresh_plan("ring")
        plan["Plan"]["Engine"] = engine
        text = export(host, "torchrun" if engine == "torch" else engine, plan).stdout
        first, second = sorted(run_shell(tmp_path, text, program), key=lambda call: option(call[0], rank))
        for (words, environment), number, gpus, interface, adapter in (
                (first, "0", "2,0", "=enp5s0", "=mlx5_0:1"), (second, "1", "0,1", "=eth0", "=mlx5_1:1")):
            assert option(words, rank) == number and option(words, "--nnodes") == "2", engine
            assert option(words, master[0]) == master[1], engine
            assert environment["CUDA_VISIBLE_DEVICES"] == gpus, engine
            assert environment["NCCL_SOCKET_IFNAME"] == interface and environment["NCCL_IB_HCA"] == adapter, engine
            assert environment["GLOO_SOCKET_IFNAME"] == interface.removeprefix("="), engine
            assert not partition or environment[partition] == "8,9,8,7", engine
        assert engine != "vllm" or (second[1]["VLLM_HOST_IP"] == "198.18.0.2" and "--headless" in second[0]), engine


def drawn_edges(text):
    """(tail, head, label) as graphviz understands the graph."""
    done = subprocess.run(["dot", "-Tjson"], input=text, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    graph = json.loads(done.stdout)
    names = {row["_gvid"]: row["name"] for row in graph["objects"]}
    return [(names[row["tail"]], names[row["head"]], row.get("label")) for row in graph.get("edges", [])], \
        [row["label"] for row in graph["objects"]]


@pytest.mark.skipif(not shutil.which("dot"), reason="graphviz is not installed")
def test_graphviz_draws_plans_and_the_topology(play):  # noqa: F811
    host, _ = play(edges=[edge(ME, PEER, 5 * GIGABIT), edge(PEER, ME, 5 * GIGABIT)])
    plan = fresh_plan("ring")
    plan["Stages"][0]["NodeName"] = 'a"b\\n\n"] c ['
    edges, labels = drawn_edges(export(host, "dot", plan).stdout)
    assert sorted(edges) == [(f"s{i}", f"s{(i + 1) % 4}", "91.0 µs") for i in range(4)]
    assert labels[0] == 'a"b\\\\n\ufffd"] c [\\n0000:41:00.0\\nlayers 0-7\\n5.00 ms'
    edges, _ = drawn_edges(export(host, "dot", fresh_plan("llama")).stdout)
    assert {ends[:2] for ends in edges} == {("client", "s1"), ("s1", "client"), ("client", "s2"), ("s2", "client")}
    assert host.alidadectl("export", "dot").stdout == host.alidadectl("topology", "--dot").stdout != ""


def named(name, host_name):
    return sample_node(name, HostName=host_name)


RACKS = {ME: named("atlas", "atlas.example.org"), PEER: named("borealis", "borealis"),
         THIRD: named("cygnus", "cygnus"), node_id(0xd4): named("draco", "draco-1")}


def rack_edges():
    fast = {frozenset((ME, PEER)), frozenset((THIRD, node_id(0xd4)))}
    return [edge(a, b, (25 if {a, b} in fast else 2) * GIGABIT) for a in RACKS for b in RACKS if a != b]


@pytest.fixture
def racks(play):  # noqa: F811
    return play(RACKS, {}, rack_edges())[0]


def test_labels_of_a_node(racks):
    own = racks.alidadectl("export", "nfd").stdout
    assert own == racks.alidadectl("export", "nfd", "atlas").stdout
    assert "# Node: atlas\n" in own
    assert "feature.node.kubernetes.io/alidade-net.mbps=25000\n" in own
    assert "# Node: cygnus\n" in racks.alidadectl("export", "nfd", "cygnus").stdout
    assert racks.alidadectl("export", "nfd", "nobody", check=False).returncode == NO_NODE


def test_the_state_as_json(racks):
    state = json.loads(racks.alidadectl("export", "json").stdout)
    assert state == json.loads(racks.alidadectl("watch", "--once", "--json").stdout)
    assert set(state["Nodes"]) == set(RACKS)


def test_switches_of_a_cluster(racks):
    text = racks.alidadectl("export", "slurm").stdout
    assert [line for line in text.splitlines() if not line.startswith("#")] == [
        "SwitchName=leaf0 Nodes=atlas,borealis", "SwitchName=leaf1 Nodes=cygnus,draco-1",
        "SwitchName=top Switches=leaf[0-1]"]
    assert text == racks.alidadectl("export", "slurm").stdout


@pytest.mark.parametrize("host_name, comments, n_left_out", [
    ("ATLAS", {f"# Left out, since several nodes have the host name {name}: {node}"
               for name, node in (("atlas", ME), ("ATLAS", PEER))}, 2),
    (None, {"# Left out, without a known host name: borealis"}, 1)])
def test_names_that_switches_cannot_have(play, host_name, comments, n_left_out):  # noqa: F811
    """A node without a name can be left out, and so can all that claim one name."""
    nodes = {**RACKS, PEER: named("borealis", host_name) if host_name else sample_node("borealis")}
    host = play(nodes, {}, rack_edges())[0]
    done = host.alidadectl("export", "slurm", check=False)
    assert (done.returncode, done.stdout) == (ERROR, "")
    assert "see --force" in done.stderr
    assert host_name is None or (ME in done.stderr and PEER in done.stderr)
    forced = host.alidadectl("export", "slurm", "--force")
    assert f"host names are unknown or not their own alone: {n_left_out};" in forced.stderr
    lines = forced.stdout.splitlines()
    assert {line for line in lines if line.startswith("# Left out")} == comments
    switches = [line for line in lines if line.startswith("SwitchName=")]
    assert any("cygnus,draco-1" in line for line in switches) and not any("borealis" in line for line in switches)
    assert any("atlas" in line for line in switches) == (host_name is None)


SLURM_CONF = """\
ClusterName=bed
SlurmctldHost={name}(192.0.2.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
StateSaveLocation={dir}
SlurmctldPidFile={dir}/slurmctld.pid
SelectType=select/cons_tres
TopologyPlugin=topology/tree
ProctrackType=proctrack/pgid
MpiDefault=none
MailProg=/bin/true
"""


def check_health(racks, environment, shown):
    """What slurmd would start: a service is missing, so the node is drained, once with this reason."""
    script = (SOURCE / "examples" / "slurm" / "health-check").read_text().replace("alidadectl", str(client_binary()))
    racks.run(["sh", "-c", script], env={**environment, "PATH": "/usr/sbin:/usr/bin:/bin", "SLURMD_NODENAME": "atlas"})
    node = shown("node atlas")
    assert "+DRAIN" in node and "Reason=alidade: CRITICAL - service-missing: " in node


@pytest.mark.skipif(not (shutil.which("slurmctld") and shutil.which("scontrol")), reason="Slurm is not installed")
def test_slurm_reads_the_topology(racks):
    if not racks.isolated:
        pytest.skip("slurmctld needs root and a network of its own")
    text = racks.alidadectl("export", "slurm").stdout
    folder = racks.dir / "slurm"
    folder.mkdir()
    lines = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   NodeName=")]
    assert len(lines) == len(RACKS)
    (folder / "topology.conf").write_text(text)
    (folder / "slurm.conf").write_text(SLURM_CONF.format(dir=folder, name=racks.name) + "".join(
        f"{line} NodeAddr=192.0.2.1\n" for line in lines) + "PartitionName=all Nodes=ALL Default=YES\n")
    environment = {"SLURM_CONF": str(folder / "slurm.conf")}
    network.set_up(racks, "lo")
    network.add_bridge(racks, "br0")
    network.add_address(racks, "br0", "192.0.2.1/24")
    controller = racks.spawn(["slurmctld", "-D", "-i"], "slurmctld", env=environment)

    def shown(what):
        done = racks.run(["scontrol", "--oneliner", "show", *what.split()], env=environment, check=False)
        return done.stdout if done.returncode == 0 else ""

    try:
        wait_until(lambda: shown("topology"), "a controller that answers", 20)
        switches = [dict(word.split("=") for word in line.split()) for line in shown("topology").splitlines()]
        assert [(row["SwitchName"], row["Level"], row["Nodes"]) for row in switches] == [
            ("leaf0", "0", "atlas,borealis"), ("leaf1", "0", "cygnus,draco-1"),
            ("top", "1", "atlas,borealis,cygnus,draco-1")]
        nodes = shown("nodes")
        for line in lines:
            name, features = (word.partition("=")[2] for word in line.split())
            assert f"NodeName={name} " in nodes and f"AvailableFeatures={features} " in nodes
        check_health(racks, environment, shown)
    finally:
        controller.kill()
        controller.wait(10)
    assert "topology" not in (racks.dir / "log" / "slurmctld.log").read_text()
