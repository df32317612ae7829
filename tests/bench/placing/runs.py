# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs of llama.cpp on the hosts of a mesh."""

import collections
import contextlib
import json
import re
import subprocess
import tempfile
import threading

import llama

TOKENS, SAMPLES = 12, 3
BATCH = 512  # tokens that llama.cpp computes at once at most
CONTEXT = 512  # tokens; fewer would make the buffers smaller than in use
LOADED = re.compile("constructing llama_context")
# "CPU", or "RPC0[198.18.1.2:50052]": its last part is the server's address.
ADDRESS = re.compile(r"\[([\d.]+):\d+\]")

# Milliseconds a token of each sample; {host: {kind: bytes}} as the log says.
Run = collections.namedtuple("Run", "ms bytes")


@contextlib.contextmanager
def servers(mesh):
    """One on each host, which serves all its peers."""
    with contextlib.ExitStack() as stack:
        for host in range(len(mesh.names)):
            stack.enter_context(mesh.server(host, "endpoint", "stdbuf", "-oL", llama.RPC_SERVER, "-H", "0.0.0.0",
                                            "-p", llama.PORT, "-t", 1, inside=True))
        yield


def endpoint(mesh, server, client):
    return f"{mesh.address(server, client)}:{llama.PORT}"


def default_options(mesh, client):
    """Those of somebody who only tells llama.cpp which servers there are."""
    others = [host for host in range(len(mesh.names)) if host != client]
    return ["--rpc", ",".join(endpoint(mesh, host, client) for host in others)]


def bytes_by_host(text, mesh, client):
    """What the log says that each host has allocated."""
    hosts = {mesh.address(host, client): host for host in range(len(mesh.names)) if host != client}
    found = {}
    for name, kind, size in llama.BUFFER.findall(text):
        address = ADDRESS.search(name)
        kinds = found.setdefault(hosts.get(address.group(1), client) if address else client, {})
        kinds[kind] = kinds.get(kind, 0) + round(float(size) * (1 << 20))
    return found


def run(mesh, client, name, options):
    """The model is loaded over wires without limits."""
    command = mesh.command(client, "llama-batched-bench", "-m", llama.model_path(name), "-c", CONTEXT, "-t", 1,
                           "-npp", 1, "-ntg", ",".join([str(TOKENS)] * SAMPLES), "-npl", 1,
                           "--output-format", "jsonl", "-lv", 4, *options, inside=True, helped=True)
    mesh.unshape()
    lines, shaped = [], False
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, text=True, stdout=output, stderr=subprocess.PIPE)
        watch = threading.Timer(llama.DEADLINE, process.kill)
        watch.start()
        for line in process.stderr:
            lines.append(line)
            if not shaped and LOADED.search(line):
                mesh.shape()
                shaped = True
        process.wait()
        watch.cancel()
        process.stderr.close()
        output.seek(0)
        rows = [json.loads(line) for line in output if line.startswith("{")]
    text = "".join(lines)
    if process.returncode != 0 or len(rows) != SAMPLES:
        raise SystemExit(f"llama-batched-bench: {text[-2000:]}")
    return Run([row["t_tg"] * 1e3 / row["tg"] for row in rows], bytes_by_host(text, mesh, client))
