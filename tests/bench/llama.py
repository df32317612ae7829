# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a token costs in llama.cpp with layers on RPC servers, by rate and round trip of the links, against a model.

Other programs may import it: Star makes the links and starts the servers, measure() runs llama-bench.
"""

import collections
import functools
import json
import os
import re
import statistics
import subprocess
import threading
from pathlib import Path

import link
from requirement import need_programs, need_root

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
BUILD = "build/llama"  # what tests/root/enter shows as build/
RPC_SERVER = f"/usr/libexec/{os.uname().machine}-linux-gnu/llama/bin/ggml-rpc-server"
PORT = 50052
DEADLINE = 600
# Congestion control of the links: bbr paces even messages of some kilobytes, which takes a part of a round trip.
CONGESTION = "cubic", "reno"

# Rate in Mb/s (0: unlimited) and round trip in ms.
CASES = (0, 0), (1000, 0.1), (1000, 1), (1000, 5), (100, 0.1), (100, 1), (100, 5)
SHORTEST = {"rounds": 1}
TOKENS, RUNS = 4, 30  # of a measurement: many short ones, of which the quick ones were not disturbed

# Bytes of the RPC protocol 8: the head of a message, a tensor's description, and what else SET_TENSOR has.
MESSAGE, TENSOR, SET_TENSOR = 9, 296, 9
RECOMPUTE, GET_TENSOR, ANSWER = MESSAGE + 12, MESSAGE + TENSOR + 16, 8
CONTEXT_STEP = 256  # the attention mask covers the context used so far, rounded up to this
WIRE = 1.07  # bytes on the wire to those of the protocol: most messages are sent as three small packets

LAYER = re.compile(r"layer +(\d+) assigned to device ([^\s,]+)")
BUFFER = re.compile(r" (\S+) +(model|KV|compute|output|RS) buffer size = +([\d.]+) MiB")

run = functools.partial(link.run, timeout=DEADLINE)
# b/s (0: unlimited), seconds, and b/s back (None: the same).
Link = collections.namedtuple("Link", "rate round_trip rate_back", defaults=(0, 0, None))
Model = collections.namedtuple("Model", "layers embedding heads kv_heads ffn vocabulary type",
                               defaults=(6, 2048, 16, 4, 1024, 2048, "Q4_0"))
# Milliseconds of each run; {buffer: {kind: bytes}}; {layer: device}, the last being the output; the whole log.
Measured = collections.namedtuple("Measured", "ms buffers layers log")


def congestion():
    """The first of CONGESTION that any network namespace may use."""
    here = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control").read_text().split()
    return next(name for name in CONGESTION if name in here)


def make_root():
    """The folder of a Debian with llama.cpp, for tests/root/enter; made when it is first wanted."""
    return run(SOURCE / "tests/root/make", "llama").strip()


def inside(root, *command, namespace=None, **environment):
    """The command in that root, in a network namespace and with an environment of its own."""
    return [*(["ip", "netns", "exec", namespace] if namespace else []),
            str(SOURCE / "tests/root/enter"), root, BUILD,
            "env", *(f"{name}={value}" for name, value in environment.items()), *map(str, command)]


def write_model(root, name, model, zeros=False):
    """Writes a model of random weights, or with weights of 0; its size in bytes."""
    options = [f"--{field.replace('_', '-')}={value}" for field, value in model._asdict().items()]
    options += ["--zeros"] if zeros else []
    run(*inside(root, "python3", HERE / "llama-model.py", model_path(name), *options))
    return (SOURCE / BUILD / name).stat().st_size


def model_path(name):
    """As the programs in the root see it."""
    return SOURCE / "build" / name


class Wire:
    """A wire between two network namespaces (tun-wire.py)."""

    def __init__(self, *ends, mtu=1500, run_by=()):
        self.process = subprocess.Popen([*run_by, "/usr/bin/python3", HERE / "tun-wire.py", f"--mtu={mtu}", *ends],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._wait()

    def _wait(self):
        if self.process.stdout.readline() != "ready\n":
            raise SystemExit("a wire has not started")

    def set(self, link):
        back = link.rate if link.rate_back is None else link.rate_back
        self.process.stdin.write(f"{link.rate} {link.round_trip} {back}\n")
        self.process.stdin.flush()
        self._wait()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Star:
    """A client and a number of RPC servers in network namespaces, each server at the end of a wire of its own."""

    def __init__(self, root, servers, threads=1):
        self.root, self.threads, self.congestion = root, threads, congestion()
        self.client = f"ald-llama-{os.getpid()}"
        self.namespaces = [f"{self.client}-{index}" for index in range(servers)]
        self.wires, self.servers = [], []

    def __enter__(self):
        try:
            for name in (self.client, *self.namespaces):
                run("ip", "netns", "add", name)
                run("ip", "-n", name, "link", "set", "lo", "up")
                run("ip", "netns", "exec", name, "sysctl", "-q",
                    f"net.ipv4.tcp_congestion_control={self.congestion}")
            for index, name in enumerate(self.namespaces):
                self.wires.append(Wire(f"eth{index}", self.client, f"198.18.{index}.1",
                                       "eth0", name, f"198.18.{index}.2"))
                self.servers.append(self.start(index))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process, reader in self.servers:
            process.kill()  # with unshare(1), all that runs in the root ends
            process.wait()
            reader.join()
            process.stdout.close()
        for wire in self.wires:
            wire.close()
        for name in (self.client, *self.namespaces):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)

    def start(self, index):
        """An RPC server, which listens when this returns, and what reads its output."""
        process = subprocess.Popen(
            inside(self.root, "stdbuf", "-oL", RPC_SERVER, "-H", f"198.18.{index}.2", "-p", PORT, "-t", self.threads,
                   namespace=self.namespaces[index]), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in process.stdout:
            if "endpoint" in line:
                # What it says of each client must not fill the pipe.
                reader = threading.Thread(target=collections.deque, args=(process.stdout, 0))
                reader.start()
                return process, reader
        process.stdout.close()
        raise SystemExit(f"{RPC_SERVER} has not started")

    def endpoint(self, index):
        return f"198.18.{index}.2:{PORT}"

    def shape(self, *links):
        """Sets the wire of each server; the last link is that of all other servers."""
        for index, wire in enumerate(self.wires):
            wire.set(links[min(index, len(links) - 1)])

    def traffic(self, index):
        """Bytes and packets so far from the client to a server, and back."""
        found = json.loads(run("ip", "-n", self.client, "-s", "-j", "link", "show", f"eth{index}"))[0]["stats64"]
        return [found[way][what] for way in ("tx", "rx") for what in ("bytes", "packets")]


def tensor_split(layers):
    """The numbers of --tensor-split that give each device this number of layers; their sum is that of -ngl. The output
    counts as a layer and is on the last device. Layers that are left over, the first ones, remain on the client."""
    parts = list(layers)
    parts[max(index for index, number in enumerate(parts) if number)] += 1
    return parts


def step_bytes(model, servers, context=1, batch=1):
    """Bytes of the protocol to and from each of the used servers in a step of the batch, if they have all layers.

    The first one receives the embeddings, with two more inputs of their size; the last one returns the logits."""
    def tensors(*sizes):
        return sum(MESSAGE + TENSOR + SET_TENSOR + size for size in sizes)

    hidden = model.embedding * 4 * batch
    mask = -(-context // CONTEXT_STEP) * CONTEXT_STEP * 2 * batch
    found = []
    for index in range(servers):
        up = tensors(4 * batch, 8 * batch, 8 * batch, mask) + RECOMPUTE + GET_TENSOR
        up += tensors(hidden, hidden, hidden, 8 * batch) if index == 0 else tensors(hidden)
        last = index == servers - 1
        found.append((up + (tensors(4 * batch) if last else 0),
                      ANSWER + (model.vocabulary * 4 * batch if last else hidden)))
    return found


def link_ms(model, links):
    """What the links add to each token: a round trip to each used server, and the time of what is sent."""
    return sum(link.round_trip + (sum(sizes) * WIRE * 8 / link.rate if link.rate else 0)
               for link, sizes in zip(links, step_bytes(model, len(links)))) * 1e3


def parse_log(text):
    """Where llama.cpp has put what, from its log with -v: {buffer: {kind: bytes}}, {layer: device}."""
    buffers = {}
    for name, kind, size in BUFFER.findall(text):
        buffers.setdefault(name, {})[kind] = round(float(size) * (1 << 20))
    return buffers, {int(layer): device for layer, device in LAYER.findall(text)}


def measure(star, name, split, tokens=16, runs=3, threads=1, gpu_layers=None, options=(), **environment):
    """Milliseconds a token of llama-bench at the client, with the servers to which split gives any part."""
    used = [index for index, part in enumerate(split) if part]
    command = ["llama-bench", "-m", model_path(name), "-p", 0, "-n", tokens, "-r", runs, "-t", threads, "-v",
               "-o", "json", *options]
    if used:
        command += ["--rpc", ",".join(star.endpoint(index) for index in used),
                    "-dev", "/".join(f"RPC{number}" for number in range(len(used))),
                    "-ts", "/".join(str(split[index]) for index in used),
                    "-ngl", sum(split) if gpu_layers is None else gpu_layers]
    with (SOURCE / BUILD / "llama-bench.log").open("w+") as log:
        done = subprocess.run(inside(star.root, *command, namespace=star.client, **environment), text=True,
                              stdout=subprocess.PIPE, stderr=log, check=False, timeout=DEADLINE)
        log.seek(0)
        text = log.read()
    if done.returncode != 0:
        raise SystemExit(f"llama-bench: {text[-2000:]}")
    found = json.loads(done.stdout)[0]
    return Measured([nsec / 1e6 / tokens for nsec in found["samples_ns"]], *parse_log(text), text)


def add_arguments(parser):
    parser.add_argument("--rounds", type=int, default=2, help="of all cases (2)")


def check_requirements():
    need_root("for network namespaces")
    need_programs("mmdebstrap")


def main(_, json_only, rounds):
    root = make_root()
    (SOURCE / BUILD).mkdir(parents=True, exist_ok=True)
    # Few and small layers, so that the links show.
    model = Model(layers=2, ffn=256, kv_heads=2)
    write_model(root, "model.gguf", model)
    splits = {1: tensor_split([0, 2]), 2: tensor_split([1, 1])}
    times = {}
    with Star(root, 2) as star:
        for _ in range(rounds):
            for servers, split in splits.items():
                for case in CASES:
                    star.shape(Link(case[0] * 1e6, case[1] / 1e3))
                    found = measure(star, "model.gguf", split, TOKENS, RUNS)
                    times.setdefault((servers, case), []).extend(found.ms)
    rows = []
    for (servers, case), values in times.items():
        # The tenth that was least disturbed by what else this machine does.
        ms = sorted(values)[len(values) // 10]
        links = link_ms(model, [Link(case[0] * 1e6, case[1] / 1e3)] * servers)
        rows.append({"servers": servers, "mbit_per_second": case[0], "round_trip_ms": case[1],
                     "token_ms": round(ms, 2), "links_ms": round(links, 2)})
    for servers in splits:
        mine = [row for row in rows if row["servers"] == servers]
        rest = statistics.median(row["token_ms"] - row["links_ms"] for row in mine)
        for row in mine:
            row["error_ms"] = round(row["token_ms"] - row["links_ms"] - rest, 2)
            if not json_only:
                print(row, flush=True)
    return {"cases": rows}
