# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page that places models: with the real placement service on a played cluster, and with one that is played."""

import re

import pytest
from gi.repository import GLib

import pictures
from bedlib import BusError, StandIn, interface_xml, wait_until
from bedlib.standin import Call
from played_cluster import NAMES, PEER, edge, node, node_id
from test_alidadectl_place import write_model
from test_desktop_screens import DARK, SIZE, steady_picture, wait_size

GIB = 1024 ** 3
GPU = "0000:01:00.0"
NAME, PATH = "org.alidade.Placement1", "/org/alidade/Placement1"
MODEL = "GGUF File or Folder"


def machine(name):
    """A node with a GPU and a processor that is not measured."""
    made = node(name)
    made["Node1.Memory"] = {"TotalBytes": 64 * GIB, "AvailableBytes": 48 * GIB}
    made["Node1.Backends"] = {"Devices": [
        {"Id": GPU, "Class": "gpu", "Name": "NVIDIA GeForce RTX 4090", "Vendor": "NVIDIA Corporation",
         "MemoryTotalBytes": 8 * GIB},
        {"Id": "cpu", "Class": "cpu", "Name": "AMD Ryzen 9 7950X", "Unified": True}]}
    made["Node1.System"] = {"Devices": [{"Id": GPU, "MemoryUsedBytes": GIB}]}
    made["Node1.Compute"] = {"Devices": [
        {"Id": GPU, "MemoryBandwidthBytesPerSecond": 900 * 10 ** 9, "TflopsFp16": 165.0,
         "MeasuredUSec": 1_700_000_000_000_000}]}
    return made


def cluster(n=3):
    """Each pair is joined."""
    nodes = {node_id(number): machine(NAMES[number]) for number in range(n)}
    edges = tuple(edge(node_id(a), node_id(b), 9_410_000_000, SourceAddress=f"192.0.2.{a}", SinkAddress=f"192.0.2.{b}")
                  for a in range(n) for b in range(n) if a != b)
    return {"nodes": nodes, "edges": edges}


@pytest.fixture
def place(play):
    """place(…): the page, with the placement service."""
    def make(n=3, size="wide", **options):
        played = play(**cluster(n), **options)
        played.host.start_daemon("placementd")
        wait_size(played.program, *SIZE[size])
        played.program.press("alt+6")
        played.program.wait_for("tab", "Placement", "selected")
        return played

    return make


def fill(program, name, text):
    """Writes into the row of that name, as a screen reader does it."""
    entry = program.wait(lambda tree: next(one for one in tree.find_all("text", name) if one.is_editable), name)
    program.reader.call(entry.ref[1], "org.a11y.atspi.EditableText", "SetTextContents", "s", (text,))
    return entry


def choose_model(played):
    entry = fill(played.program, MODEL, str(write_model(played.host.dir / "model.gguf")))
    played.program.click_at(entry)
    played.program.press("Return")
    played.program.wait_for_text("Example (llama), 32 layers, 11.1 GiB")


def plan(played):
    choose_model(played)
    played.program.press("ctrl+Return")
    played.program.wait_for_text("tokens/s")


def say_newer(played):
    """The graph has another revision."""
    for method in ("GetTopology", "GetPairs"):
        reply = played.state.handlers[method](0, 0)
        rest = [reply.get_child_value(i) for i in range(1, reply.n_children())]
        newer = GLib.Variant.new_tuple(GLib.Variant("t", reply.unpack()[0] + 1), *rest)
        played.state.handlers[method] = lambda since, after, newer=newer: newer
    played.tell("TopologyChanged")


# With the placement service

def test_a_model_file_is_placed_and_shown_on_the_map(place):
    """Two GPUs are needed; the client is one of their nodes, and the third one saves nothing."""
    played = place()
    program = played.program
    plan(played)
    tree = program.read()
    stages = tree.find("list", "Stages").text()
    last = int(re.search(r"1\. borealis/.*\nLayers 0–(\d+), ", stages)[1])
    assert re.search(rf"2\. atlas/.*\nLayers {last + 1}–31, ", stages)
    assert "limited by memory bandwidth" in stages
    transfers = tree.find("list", "Transfers").text()
    assert "activations · socket eth0 → eth7, 192.0.2.1" in transfers
    assert "client" in tree.find("list", "Next Best").text()
    left_out = tree.find("list", "Left Out").text()
    assert "cygnus/0000:01:00.0" in left_out and "saves too little" in left_out and "not measured" in left_out
    program.click_at(tree.find("list", "Stages").find(name=re.compile("^NVIDIA")))
    program.wait(lambda tree: "borealis" in tree.find(name="Details").text(), "the details of a stage")
    assert not tree.find_all(name=re.compile("have changed since this plan"))
    say_newer(played)
    program.wait_for(name=re.compile("have changed since this plan"))

    program.click("button", "Export")
    program.wait_for("menu item", "llama.cpp")
    program.press("Return")
    prompt = program.focus_dialog()
    assert "Export Anyway?" in prompt.text()
    program.do(prompt.find("button", re.compile("^_?Export( Export)?$")))
    program.wait_for_text("Plan copied")
    assert f"--model {played.host.dir}/model.gguf" in played.desktop.screen.clipboard()

    program.focus()
    program.click(name="Show on Topology")
    program.wait_for("tab", "Topology", "selected")
    program.wait_for("button", re.compile(f"^borealis, .*stage 1 of the plan with layers 0–{last}$"))
    program.wait_for("button", re.compile("^atlas, .*stage 2 of the plan with layers .*, client of the plan$"))
    program.wait_for(name=re.compile("^client → 1: "))
    program.wait_for(name=re.compile("^1 → client: "))
    played.remove_node(PEER)
    program.wait_gone("button", re.compile("^borealis, "))
    program.wait_for("button", re.compile("^atlas, .*client of the plan"))
    program.click("button", "Clear the plan")
    program.wait_gone("button", re.compile("of the plan"))


def test_what_cannot_be_placed_is_said(place):
    """Neither a file that is no model, nor numbers that fit nowhere."""
    played = place()
    program = played.program
    path = played.host.dir / "model.gguf"
    path.write_bytes(b"GGUF")
    program.click_at(fill(program, MODEL, str(path)))
    program.press("Return")
    program.wait_for(name=re.compile("^Cannot read the model: .*model.gguf"))
    assert "sensitive" not in program.read().find("button", re.compile("^_?Plan")).states

    program.press("shift+Tab", "space", "Down", "Return")
    for name, number in (("Size of All Layers, Such as 40G", "900G"), ("Layers", "x"),
                         ("Elements Between Layers", "8192")):
        fill(program, name, number)
    program.wait_for_text("“Layers” is missing or out of range")
    fill(program, "Layers", "80")
    program.wait_for_text("80 layers, 900 GiB")
    program.press("ctrl+Return")
    program.wait_for_text("No device can be used")
    assert "too little memory" in program.read().find("list", "Left Out").text()


# With a service that the test plays

ERRORS = (("org.freedesktop.DBus.Error.LimitsExceeded", "Too many plans"),
          ("org.alidade.Error.StateUnavailable", "The state service cannot be read"),
          ("org.freedesktop.DBus.Error.ServiceUnknown", "alidade-placementd is not running"))


class SlowPlacement(StandIn):
    """Tells its progress, and plans for ever."""

    def _called(self, connection, sender, path, interface, method, arguments, invocation):
        if method != "Plan" or "Plan" in self.handlers:
            super()._called(connection, sender, path, interface, method, arguments, invocation)
            return
        self.calls.append(Call(sender, interface, method, ()))
        self.emit(path, interface, "Progress", "d", (0.25,), destination=sender)


def test_planning_is_canceled_and_fails_in_words(play):
    played = play(**cluster())
    program, connection = played.program, played.host.connection()
    service = SlowPlacement(connection, PATH, interface_xml(NAME), {}, {"Cancel": lambda: ()})
    connection.own(NAME)
    played.services.append(service)
    program.press("alt+6")
    choose_model(played)
    program.press("ctrl+Return")
    wait_until(lambda: service.calls, "Plan()")
    program.wait_for("progress bar", "Planning")
    program.click("button", "Cancel Planning")
    wait_until(lambda: [call.method for call in service.calls] == ["Plan", "Cancel"], "Cancel()")
    program.wait_for_text("Planning was canceled")
    program.wait_for("button", re.compile("^_?Plan"), "sensitive")

    for error, words in ERRORS:
        def refuse(*_, error=error, words=words):
            raise BusError(error, words)

        service.handlers["Plan"] = refuse
        program.press("ctrl+Return")
        program.wait_for_text(f"Cannot plan: {words}")


def choose_in(program, row, choice):
    """In a row of choices, with the arrow key."""
    program.click_at(program.read().find(name=row))
    program.wait_for("list item", state="focused")
    while program.focused().texts() != [choice]:
        program.press_and_wait("Down")
    program.press("Return")


def test_an_engine_keeps_keys_and_values_in_its_types(play):
    """A type that the next engine cannot keep gives way."""
    played = play(**cluster())
    program, connection = played.program, played.host.connection()
    asked = []

    def refuse(workload, options):
        asked.append((options["Engine"], workload["KvTypeK"], workload["KvTypeV"]))
        raise BusError("org.alidade.Error.StateUnavailable", f"Number {len(asked)}")

    service = StandIn(connection, PATH, interface_xml(NAME), {}, {"Cancel": lambda: (), "Plan": refuse})
    connection.own(NAME)
    played.services.append(service)
    program.press("alt+6")
    choose_model(played)
    program.click_at(program.read().find(name="Options"))
    choose_in(program, "Keys and Values", "q4_0")
    program.wait_for_text("llama.cpp · latency · context 4096 · 1 request · q4_0")
    for number, (engine, kept) in enumerate((("llama.cpp", "q4_0"), ("vllm", "f16"), ("sglang", "f16")), 1):
        if number > 1:
            choose_in(program, "Engine", engine)
        program.wait_for_text(f"{engine} · latency · context 4096 · 1 request · {kept}")
        program.press("ctrl+Return")
        program.wait_for_text(f"Cannot plan: Number {number}")
        assert asked[-1] == (engine, kept, kept)


# How it looks

def test_look(place):
    """Wide and light, which is compared; narrow and dark."""
    played = place(4, "narrow", ADW_DEBUG_COLOR_SCHEME=DARK)
    plan(played)
    assert played.program.picture().get_width() == SIZE["narrow"][0]
    pictures.keep(steady_picture(played.program), "placement-narrow-dark")
