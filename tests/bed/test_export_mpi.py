# SPDX-License-Identifier: LGPL-2.1-or-later
"""The host file of alidadectl export mpi: Open MPI starts the ranks in the order of the ring."""

import json
import os
import shutil
import stat
import subprocess

import pytest

from bedlib import network
from bedlib.fixtures import needs_namespaces
from bedlib.services import SOURCE
from bedlib.waiting import PATIENCE

pytestmark = [needs_namespaces,
              pytest.mark.skipif(not shutil.which("mpirun"), reason="Open MPI is not installed")]
PLAN = SOURCE / "tests" / "unit" / "placement" / "data" / "ring-uneven.json"
# In place of ssh: a shell in the network of that host, with its name.
AGENT = """#!/bin/sh
host=$1
shift
case $host in
{cases}*) echo "no host $host" >&2; exit 1 ;;
esac
exec nsenter --net=/proc/$pid/ns/net --uts=/proc/$pid/ns/uts sh -c "$*"
"""
COMMENT = "#   mpirun "


def hosts_of_ring(plan, hosts):
    """Names the nodes of the plan after these hosts, in the order of the ring; returns the host of each rank."""
    names = {}
    for stage in plan["Stages"]:
        if stage["Node"] not in names:
            names[stage["Node"]] = hosts[len(names)].name
        stage["HostName"] = names[stage["Node"]]
    return [stage["HostName"] for stage in plan["Stages"]]


def test_ranks_follow_the_ring(make_host, tmp_path):
    hosts = [make_host(name=name) for name in ("juniper", "alder", "maple")]
    switch = hosts[0]
    network.add_bridge(switch, "br0")
    network.add_address(switch, "br0", "192.0.2.1/24")
    for number, host in enumerate(hosts[1:], 2):
        network.join_bridge(switch, "br0", host, "eth0", f"192.0.2.{number}/24")
    for host in hosts:
        network.set_up(host, "lo")
    plan = json.loads(PLAN.read_text())
    expected = hosts_of_ring(plan, hosts)
    assert expected == ["juniper", "juniper", "alder", "maple"]
    program = tmp_path / "rank"
    program.write_text("#!/bin/sh\necho $OMPI_COMM_WORLD_RANK $(hostname) >$0.$OMPI_COMM_WORLD_RANK\n")
    agent = tmp_path / "agent"
    agent.write_text(AGENT.format(cases="".join(f"{host.name}) pid={host.outer_pid} ;;\n" for host in hosts)))
    for script in (program, agent):
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    text = hosts[0].alidadectl("export", "mpi", "--plan=-", "--force", f"--program={program}",
                               text_in=json.dumps(plan)).stdout
    (tmp_path / "hosts").write_text(text)
    [line] = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith(COMMENT)]
    words = line.replace("THIS-FILE", str(tmp_path / "hosts")).split()
    # Open MPI 5 has another name for what 4 calls rsh.
    launcher = ["--mca", "plm", "rsh", "--mca", "plm_rsh_agent", agent]
    if "Open MPI) 4" not in subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=True).stdout:
        launcher = ["--prtemca", "plm", "ssh", "--prtemca", "plm_ssh_agent", agent]
    done = subprocess.run(
        # Not on the first host, where ranks would begin with that of mpirun by another mapping.
        ["nsenter", f"--net=/proc/{hosts[1].outer_pid}/ns/net", f"--uts=/proc/{hosts[1].outer_pid}/ns/uts", words[0],
         *launcher, *words[1:]],
        capture_output=True, text=True, timeout=30 * PATIENCE, check=False, cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path),
             "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    assert done.returncode == 0, done.stderr
    ranks = [path.read_text().split() for path in sorted(tmp_path.glob("rank.*"))]
    assert ranks == [[str(rank), name] for rank, name in enumerate(expected)]
