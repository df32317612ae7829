# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Alidade's probes measure of the hosts of a mesh and of the paths between them."""

import json
import subprocess
import tempfile

DEADLINE = 240


def last_line(command):
    done = subprocess.run(list(map(str, command)), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=DEADLINE)
    if done.returncode != 0:
        raise SystemExit(f"{command[-1]}: {done.stdout}{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def processor(build, mesh, host):
    """The row of its processor."""
    probe = build / "probes/compute/alidade-probe-compute"
    # OpenCL counts the processors of the machine, of which the host has one.
    found = last_line(mesh.command(host, "env", "POCL_MAX_PTHREAD_COUNT=1", probe, "--json", "--metric=gemm,read",
                                   "--seconds-max=2", helped=True))
    if not found["Devices"]:
        raise SystemExit(f"the compute probe has measured nothing: {found}")
    return found["Devices"][0]


def processors(build, mesh):
    """Of each host. Those with the same share of the processor are measured once."""
    known = {share: processor(build, mesh, mesh.shares.index(share)) for share in sorted(set(mesh.shares))}
    return [known[share] for share in mesh.shares]


def path(build, mesh, client, server):
    """The result of the socket probe: rates in both directions and the round trip."""
    probe = build / "probes/socket/alidade-probe-socket"
    with tempfile.NamedTemporaryFile("w") as key:
        key.write("of this benchmark alone\n")
        key.flush()
        address = mesh.address(server, client)
        with mesh.server(server, "Listening", probe, f"--listen={address}", f"--key-file={key.name}", "--once"):
            return last_line(mesh.command(client, probe, f"--connect={address}", f"--key-file={key.name}", "--json"))


def paths(build, mesh):
    """{(one, other): result}"""
    return {pair: path(build, mesh, *pair) for pair in mesh.links}
