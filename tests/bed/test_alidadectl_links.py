# SPDX-License-Identifier: LGPL-2.1-or-later
"""The verbs of alidadectl about links in a cluster that measures them: real daemons, probes and wires."""

import json

from bedlib.fixtures import needs_namespaces
from bedlib.services import client_binary
from bedlib.waiting import wait_steadily

pytestmark = needs_namespaces
MEGABIT = 10 ** 6
DENIED = 5
ACTION = "org.alidade.link-probe.probe"


def is_measured(node):
    """Whether both directions of its link are known."""
    edges = json.loads(node.alidadectl("topology", "--json").stdout)["Edges"]
    return len([edge for edge in edges if "BitsPerSecond" in edge]) == 2


def test_links_of_a_cluster_are_shown_probed_and_held_off(make_cluster):
    cluster = make_cluster(2, links=True, shapes=[(1000 * MEGABIT, 1000 * MEGABIT), (50 * MEGABIT, 200 * MEGABIT)])
    one, two = cluster.nodes
    cluster.wait_online()
    wait_steadily(lambda: is_measured(one), "links that are measured by themselves", deadline=60)
    assert len(one.alidadectl("links").stdout.splitlines()) >= 2
    assert "over the best path" in one.alidadectl("topology").stdout

    done = one.alidadectl("probe", "link", two.id, f"--path={two.address}", "--json", deadline=60)
    probed = json.loads(done.stdout)
    assert probed["State"] == "done" and probed["Node"] == two.id
    assert probed["Result"]["UploadBitsPerSecond"] > 2 * probed["Result"]["DownloadBitsPerSecond"]
    wait_steadily(lambda: "≠ asymmetric" in one.alidadectl("topology").stdout, "an asymmetric link", deadline=30)
    text = one.alidadectl("probe", "link", two.id, "--rtt-only", f"--path={two.address}", deadline=60).stdout
    assert f"over {two.address}" in text and "RTT/2: " in text

    held = ["inhibit", "--what=link", "--who=a test", "--why=it needs the wire", client_binary()]
    refused = one.alidadectl(*held, "probe", "link", two.id, check=False, deadline=60)
    assert refused.returncode == 1
    assert "a test: it needs the wire" in refused.stderr
    listed = json.loads(one.alidadectl(*held, "inhibit", "--list", "--json").stdout)["Inhibitors"]
    assert [(row["What"], row["Who"], row["Why"]) for row in listed] == [("link", "a test", "it needs the wire")]
    wait_steadily(lambda: one.alidadectl("inhibit", "--list").stdout == "No inhibitors.\n",
                  "the end of the lock")


def test_probing_needs_the_right(make_cluster):
    cluster = make_cluster(2, links=True, polkit=True)
    one, two = cluster.nodes
    cluster.wait_online()
    argv = ["probe", "link", two.id, f"--path={two.address}", "--rtt-only", "--no-ask-password"]
    refused = one.alidadectl(*argv, user="nobody", check=False)
    assert (refused.returncode, refused.stdout) == (DENIED, "")
    assert "Cannot probe node2: " in refused.stderr
    one.polkit.allow(ACTION, "nobody")
    assert "RTT/2: " in one.alidadectl(*argv, user="nobody", deadline=60).stdout
