# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of README.md: which of them tests/readme/run runs in a fresh Debian, how, and why not the others."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]

# What a code span begins with that is a command, rather than the name of a program, an option or a file.
SPAN = re.compile(r"(?:sudo )?(?:\./\w+|(?:alidade(?:ctl|-probe-\w+)?|apt-get|busctl|dpkg-buildpackage|man|meson"
                  r"|systemctl|tests/\S+) \S)")


@dataclass(frozen=True)
class Run:
    """How a command is run: without anything else, until it ends, with status 0."""

    until: str = ""  # on a terminal, until it shows this; then "q" ends it
    meanwhile: tuple = ()  # other commands of the page, in one shell, before it is ended
    ended: bool = False  # it goes on until it is ended
    statuses: tuple = (0,)


def commands():
    """Each command of the page once, in its order; those of a block as they stand there, without the remark behind."""
    found = {}
    text = re.sub(r"^```.*?^```$", "", (SOURCE / "README.md").read_text(encoding="utf-8"), flags=re.M | re.S)
    # A table's cells name folders.
    text = re.sub(r"^\|.*$", "", text, flags=re.M)
    for block in re.split(r"\n{2,}", text):
        if block.strip("\n").startswith("    "):
            for line in block.strip("\n").splitlines():
                found[re.sub(r"\s+# .*$", "", line).strip()] = True
        else:
            for span in re.findall(r"`([^`]+)`", block):
                span = " ".join(span.split())
                if SPAN.match(span):
                    found[span] = True
    return list(found)


def simple_commands(line):
    """The words of each command of a line of shell, without variables before it and redirections."""
    words = []
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    for word in [*lexer, ";"]:
        if re.fullmatch(r"[;&|]+", word):
            yield [word for word in words if word]
            words = []
        elif words and words[-1] == ">":
            words.pop()
        elif words or not re.match(r"sudo$|[A-Z_]+=", word):
            words.append(word)


# What stands for something of the reader's.
NAMES = {"NODE": "$(alidadectl nodes --json | jq -r '.Nodes | keys[0]')", "COMMAND": "true"}
DEMO_ON_THE_BUS = ("export ALIDADE_BUS_ADDRESS=unix:path=$PWD/build/demo/run/bus",
                   "build/demo/clients/alidadectl/alidadectl status",
                   "busctl --address=$ALIDADE_BUS_ADDRESS introspect org.alidade.State1 /org/alidade/State1")

RUN = {
    "sudo ./demo": Run(until="Findings", meanwhile=DEMO_ON_THE_BUS),
    "./demo": Run(until="Findings"),
    "./demo --once": Run(),
    "./demo --json": Run(),
    "man -l clients/alidadectl/alidadectl.1": Run(),
    "man -l build/demo/dbus-interfaces/org.alidade.State1.5": Run(),
    "sudo apt-get build-dep -P nocheck ./": Run(),
    "DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -b -us -uc -Pnocheck": Run(),
    "sudo apt-get install ../alidade_*.deb ../alidadectl_*.deb ../alidade-desktop_*.deb": Run(),
    "sudo apt-get install mosquitto": Run(),
    "sudo alidadectl cluster init lab": Run(),
    "alidadectl cluster status": Run(),
    "alidadectl": Run(),
    "alidadectl show NODE": Run(),
    "alidadectl topology": Run(),
    "alidadectl topology --all": Run(),
    "alidadectl topology --inside=NODE": Run(),
    "alidadectl links NODE": Run(),
    "alidadectl fabric": Run(),
    "alidadectl findings": Run(),
    "alidadectl findings --since=yesterday": Run(),
    "alidadectl findings --follow": Run(ended=True),
    "alidadectl silence NODE --for=2h": Run(),
    "alidadectl unsilence NODE": Run(),
    'alidadectl set-name "rack 3, top"': Run(),
    # With a finding it is 1, and there may be some about the machine.
    "alidadectl check": Run(statuses=(0, 1)),
    "alidadectl history NODE": Run(),
    "alidadectl export slurm": Run(),
    "alidadectl metrics": Run(),
    "alidadectl watch": Run(until="Findings"),
    "alidadectl monitor --json": Run(ended=True),
    "alidadectl devices --sort=-free": Run(),
    "alidadectl devices --holders NODE": Run(),
    "alidadectl nodes --json | jq .": Run(),
    "busctl call org.alidade.State1 /org/alidade/State1 org.alidade.State1 GetMemories": Run(),
    "sudo busctl monitor --match \"type='signal',sender='org.alidade.State1'\"": Run(ended=True),
    "openssl rand -hex 32 >key; chmod 600 key": Run(),
    'alidadectl inhibit --what=compute --who=me --why="a run that counts" -- COMMAND': Run(),
}

ANOTHER_MACHINE = "it takes another machine: the part debian has two"
CLUSTER = "simulated machines need a kernel's bridges and services of their own: the part demo runs it"
OTHERS = "it is for other distributions: the suite house configures such a build"
NAME = "a name, without what it is called with"
MODEL = "no device of a fresh machine was measured, as a plan needs: the part bus runs it"
NOT_RUN = {
    "sudo ./check": "a second ./check",
    "sudo ./demo cluster 3": CLUSTER,
    "sudo ./demo cluster 5 desktop": CLUSTER,
    "sudo tests/bed/shell 2": CLUSTER,
    "sudo tests/bed/shell 2 alidadectl place --bytes=30G --layers=48 --elements=8192": CLUSTER,
    "sudo tests/bed/shell --kill 2": CLUSTER,
    "meson setup build --prefix=/usr --sysconfdir=/etc -Dtests=false": OTHERS,
    "sudo meson install -C build": OTHERS,
    "sudo systemd-sysusers && sudo systemctl reload dbus && sudo systemctl daemon-reload": OTHERS,
    "sudo systemctl enable --now alidade-{identity,telemetry,link-probe,state,cluster,history}d.service": OTHERS,
    "sudo systemctl enable --now alidade-cluster-{crl.path,crl.service,renewal.path,renewal.timer}": OTHERS,
    "systemctl preset": NAME,
    "alidadectl cluster init": NAME,
    "meson dist": "it takes a clone with its history",
    "meson setup": NAME,
    "alidadectl history": NAME,
    "alidadectl cluster": NAME,
    "sudo alidadectl cluster join root@first": ANOTHER_MACHINE,
    "alidade --host=user@host": ANOTHER_MACHINE,
    "alidadectl place MODEL.gguf": MODEL,
    "alidadectl place --json MODEL.gguf >plan.json && "
    "alidadectl export llama.cpp --plan=plan.json --model=MODEL.gguf": MODEL,
    "alidadectl forget NODE": "it takes a node that is offline: the part bed has some",
    "alidadectl -H user@host status": ANOTHER_MACHINE,
    "curl http://127.0.0.1:10001/metrics": "the exporter takes systemd for its socket: the part vm has it",
    "alidadectl probe link NODE": ANOTHER_MACHINE,
    "alidadectl probe rdma NODE": ANOTHER_MACHINE,
    "alidade-probe-socket --listen --key-file=key": ANOTHER_MACHINE,
    "alidade-probe-socket --connect=other --key-file=key": ANOTHER_MACHINE,
    "alidadectl probe compute": "a root has no compute device: the part bus has simulated ones",
}
