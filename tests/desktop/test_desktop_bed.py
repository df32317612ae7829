# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program in a cluster of real services: nodes that come and go, a probe, a refusal of polkit, a service that
restarts and one that hangs."""

import re

import pytest

from bedlib.fixtures import needs_namespaces
from bedlib.waiting import wait_steadily
from fault_tools import rename
from test_desktop_actions import probe_now
from test_desktop_played import wait_card

pytestmark = needs_namespaces
GONE = 40.0  # 30 s of silence, and what a busy machine adds
HANG = 25.0  # the findings are read each 10 s, and an answer has 10 s


def card_of(node):
    return re.compile(f"^{node.name}, ")


@pytest.fixture
def look(desktop):
    """look(node): the program on that node's bus, with a card for each node that is given."""
    def make(node, *seen, **options):
        program = desktop.start_program(node.bus.address, **options)
        program.focus()
        for other in seen or (node,):
            program.wait_for("button", card_of(other), deadline=20)
        return program
    return make


def test_nodes_appear_die_and_come_back(make_cluster, look):
    cluster = make_cluster(2)
    one, two = cluster.nodes
    cluster.wait_online()
    program = look(one, one, two)
    wait_card(program, two.name, "online", "GiB free")
    two.kill("clusterd")
    wait_card(program, two.name, "offline", without=("GiB free", "TFLOPS"), deadline=GONE)
    two.start_daemon("clusterd")
    wait_card(program, two.name, "online", "GiB free", deadline=GONE)
    rename(two, "Betelgeuse")
    program.wait_for("button", re.compile("^Betelgeuse, "), deadline=20)


def test_a_hung_node_is_stale_and_recovers(make_cluster, look):
    cluster = make_cluster(2)
    one, two = cluster.nodes
    cluster.wait_online()
    program = look(one, one, two)
    two.pause("clusterd")
    program.wait(lambda tree: re.search("stale|offline", tree.find("button", card_of(two)).text()), "a stale card",
                 deadline=20)
    two.resume("clusterd")
    wait_card(program, two.name, "online", deadline=GONE)


def test_a_state_service_that_restarts_and_one_that_hangs(make_cluster, look):
    cluster = make_cluster(2)
    one, two = cluster.nodes
    cluster.wait_online()
    program = look(one, one, two)
    one.kill("stated")
    program.wait_for_text("The state service is not running")
    one.start_daemon("stated")
    wait_card(program, two.name, "online", deadline=20)
    one.pause("stated")
    program.wait_for_text("cannot be read", deadline=HANG)
    # What is still shown does not look like what is current.
    program.wait_for("button", "Try Again")
    one.resume("stated")
    rename(two, "Betelgeuse")
    program.wait_for("button", re.compile("^Betelgeuse, "), deadline=HANG)


def test_a_real_probe_has_progress_and_a_result(make_cluster, look):
    cluster = make_cluster(2, links=True, shapes=[(10 ** 9, 10 ** 9), (50 * 10 ** 6, 200 * 10 ** 6)])
    one, two = cluster.nodes
    cluster.wait_online()
    program = look(one, one, two)
    # Until the services have measured the link themselves, they may be doing that when the window asks for it.
    program.wait(lambda tree: any("Mb/s" in text for text in tree.texts()), "the rates of the link", 60)
    program.open_page(4)
    probe_now(program, two.name)
    program.wait_for(name="Measurements in progress")
    program.wait(lambda tree: any(re.search(r"[GM]b/s up.*[GM]b/s down", text) for text in tree.texts()),
                 "the result", 60)


def test_polkit_refuses_in_words(make_cluster, look):
    """Without authorization and without an agent, the window says why there is no probe; once allowed, it probes."""
    cluster = make_cluster(2, links=True, polkit=True)
    one, two = cluster.nodes
    cluster.wait_online()
    program = look(one, one, two, machine=one, user="nobody")
    program.open_page(4)
    wait_steadily(lambda: program.read().find("tree table", "Links").find("list").children, "a link", 30, 0.2)
    probe_now(program, two.name)
    program.wait(lambda tree: any(text.startswith("Cannot measure ") and "you are not authorized" in text
                                  for text in tree.texts()), "the refusal", 20)
    one.polkit.allow("org.alidade.link-probe.probe", "nobody")
    program.click("button", "Measure Now")
    program.wait_for(name="Measurements in progress")
