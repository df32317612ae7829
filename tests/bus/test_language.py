# SPDX-License-Identifier: LGPL-2.1-or-later
"""Only the desktop program is translated: what the programs of the command line share with it stays English, also
where the user speaks German and the translations are installed, since half a translation is worse than none."""

import json
import os
import re
import shutil
import subprocess

import pytest

from bedlib.services import SOURCE, client_binary
from played_state import PlayedState, now, sample_node
from test_alidadectl_links_played import GIGABIT, ME, PEER, THIRD, edge, link, put_links, topology_of

pytestmark = [pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may mount"),
              pytest.mark.skipif(not shutil.which("msgfmt"), reason="gettext is not installed")]

GERMAN = {"LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de"}
SYSTEM = "/usr/share/locale"
FINDINGS = [
    {"Id": "link-below-negotiated", "Severity": "warning", "Nodes": [ME, PEER], "Names": ["atlas", "borealis"],
     "NegotiatedBitsPerSecond": 10 * GIGABIT, "UploadBitsPerSecond": GIGABIT, "DownloadBitsPerSecond": GIGABIT,
     "Limiter": "receiver"},
    {"Id": "certificate-expires", "Severity": "notice", "Nodes": [PEER], "Names": ["borealis"],
     "RemainingUSec": 5 * 86400 * 10 ** 6},
    {"Id": "rdma-unusable", "Severity": "error", "Nodes": [PEER], "Names": ["borealis"], "Port": "mlx5_0.1",
     "Problem": "no-gid"}]


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """german(host, argv): what a program writes for a German who has the translations of Alidade."""
    folder = tmp_path_factory.mktemp("german")
    messages = folder / "share/de/LC_MESSAGES"
    for path in messages, folder / "locales":
        path.mkdir(parents=True)
    subprocess.run(["msgfmt", SOURCE / "po/de.po", "-o", messages / "alidade.mo"], check=True)
    made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", folder / "locales/de_DE.UTF-8"],
                          capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip("no sources of locales (package locales)")

    def run(host, *argv):
        script = f'mount --bind "$0" {SYSTEM} && exec "$@"'
        return host.run(["unshare", "--mount", "sh", "-c", script, folder / "share", *argv], check=False,
                        env={**GERMAN, "LOCPATH": str(folder / "locales")})
    return run


@pytest.fixture
def host(make_host):
    host = make_host()
    totals = {"Nodes": 2, "TflopsFp16": 330.4, "TflopsFp16LeftOut": 1, "NodesLeftOut": 1, "Links": 3}
    nodes = {ME: sample_node("atlas"), PEER: {**sample_node("borealis"), "Node1.Presence": {
        "State": "stale", "SinceUSec": now() - 3600 * 10 ** 6}}}
    state = PlayedState(host.connection(), ME, nodes, findings=FINDINGS, totals=totals).own()
    put_links(state, {(ME, f"{PEER},192.0.2.2"): link(PEER),
                      (ME, f"{THIRD},192.0.2.3"): link(THIRD, up=GIGABIT),
                      (PEER, f"{ME},192.0.2.1"): link(ME, Changed="route")})
    topology, pairs = topology_of(nodes, [edge(ME, PEER, 5 * GIGABIT), edge(PEER, ME, None)])
    state.handlers["GetTopology"] = lambda since, after: topology
    state.handlers["GetPairs"] = lambda since, after: pairs
    yield host
    state.close()


def words(done):
    """What a program wrote, without what depends on the time, as does the width of its column."""
    assert done.stdout or done.stderr
    return re.sub(r" +", " ", re.sub(r"\s+(now|live|[\d.]+ (s|min) ago)\b", " AGE", done.stdout + done.stderr))


def test_the_translations_are_found(host, german):
    """Or else the other tests would prove nothing."""
    assert german(host, "gettext", "-d", "alidade", "not measured").stdout == "nicht gemessen"


VERBS = [
    ["status"], ["nodes"], ["show", "atlas"], ["show", "borealis"], ["findings"], ["links"], ["topology"],
    ["topology", "--all"], ["topology", "--dot"], ["--help"], ["cluster", "--help"], ["forget", "nobody"]]


def test_alidadectl_stays_english(host, german):
    for verb in VERBS:
        english = host.alidadectl(*verb, check=False, env={"LC_ALL": "C.UTF-8"})
        assert words(german(host, client_binary(), *verb)) == words(english), verb


def test_json_has_the_same_words_and_numbers(host, german):
    for verb in (["status"], ["findings"], ["links"], ["nodes"]):
        english = json.loads(host.alidadectl("--json", *verb).stdout)
        assert json.loads(german(host, client_binary(), "--json", *verb).stdout) == english, verb


