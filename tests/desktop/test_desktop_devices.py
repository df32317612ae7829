# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page of devices, and the devices in the details of a node."""

import re

import pytest

import pictures
from played_cluster import ME, PEER, THIRD, node
from test_desktop_screens import DARK, LIGHT, SIZE, steady_picture, wait_size

GIB = 1024 ** 3
H100, MIG = "0000:17:00.0", ("0000:17:00.0/1-0", "0000:17:00.0/2-0")
GAMING = "0000:01:00.0"
PROCESSOR = "cpu"
TABLE = ("tree table", "Devices")
MEASURED = 1_700_000_000_000_000


def backend(device, name, total, **more):
    return {"Id": device, "Class": "gpu", "Name": name, "Vendor": "NVIDIA", "Driver": "nvidia",
            "DriverVersion": "550.90.07", "MemoryTotalBytes": total * GIB, "Unified": False, **more}


def figures(device, usage, used, **more):
    return {"Id": device, "PowerState": "active", "Usage": usage, "MemoryUsedBytes": used * GIB,
            "TemperatureMilliCelsius": 61000, "PowerMicroWatts": 220_000_000, "PowerLimitMicroWatts": 700_000_000,
            "ClockHz": 1_980_000_000, "Throttled": False, **more}


def measured(device, tflops):
    return {"Id": device, "GemmTflops": tflops, "TflopsFp16": tflops, "Precision": "fp16",
            "MemoryBandwidthBytesPerSecond": 2_900_000_000_000, "MeasuredUSec": MEASURED}


def devices():
    """Three nodes: a card in two parts that is held, beside processors; one that is throttled; one that is offline."""
    first = {
        "Node1.Backends": {"Devices": [
            backend(H100, "NVIDIA H100 80GB HBM3", 80), backend(MIG[0], "NVIDIA H100 MIG 3g.40gb", 40, Parent=H100),
            backend(MIG[1], "NVIDIA H100 MIG 1g.10gb", 10, Parent=H100),
            {"Id": PROCESSOR, "Class": "cpu", "Name": "Xeon Platinum 8480+", "Vendor": "Intel", "Unified": True}]},
        "Node1.System": {"CpuUsage": 12.5, "Devices": [
            figures(H100, 95.0, 41), figures(MIG[0], 20.0, 30), figures(MIG[1], 90.0, 4)]},
        "Node1.Compute": {"Devices": [measured(H100, 742.5)]},
        "Node1.Processes": {
            "Devices": [{"Id": H100, "Holders": 3, "HeldBytes": 41 * GIB}, {"Id": MIG[0], "Holders": 0}],
            "Holders": [{"Id": f"{H100},job,4711", "Device": H100, "OwnerKind": "job", "Owner": "4711",
                         "Processes": 2, "MemoryBytes": 30 * GIB, "Usage": 80.0},
                        {"Id": f"{H100},unit,ollama.service", "Device": H100, "OwnerKind": "unit",
                         "Owner": "ollama.service", "Processes": 1, "MemoryBytes": 11 * GIB}]}}
    second = {
        "Node1.Backends": {"Devices": [backend(GAMING, "RTX 4090", 24)]},
        "Node1.System": {"Devices": [figures(GAMING, 50.0, 23, Throttled=True, ThrottleReasons=["thermal"],
                                             PowerMicroWatts=440_000_000, PowerLimitMicroWatts=450_000_000)]},
        "Node1.Compute": {"Devices": [measured(GAMING, 165.2)]},
        "Node1.Processes": {"Devices": [{"Id": GAMING, "Holders": 1, "HeldBytes": 23 * GIB}]}}
    third = {
        "Node1.Backends": {"Devices": [backend(GAMING, "RTX 3090", 24)]},
        "Node1.System": {"Devices": [figures(GAMING, 77.0, 20)]},
        "Node1.Compute": {"Devices": [measured(GAMING, 71.0)]},
        "Node1.Processes": {"Devices": [{"Id": GAMING, "Holders": 1, "HeldBytes": 20 * GIB}],
                            "Holders": [{"Id": f"{GAMING},unit,blender.service", "Device": GAMING, "OwnerKind": "unit",
                                         "Owner": "blender.service", "Processes": 1, "MemoryBytes": 20 * GIB}]}}
    return {ME: node("atlas", **first), PEER: node("borealis", **second), THIRD: node("cygnus", "offline", **third)}


BY_NODE = ["NVIDIA H100 80GB HBM3", "NVIDIA H100 MIG 3g.40gb", "NVIDIA H100 MIG 1g.10gb", "Xeon Platinum 8480+",
           "RTX 4090", "RTX 3090"]


def rows(tree):
    return tree.find(*TABLE).find("list").children


def order(tree):
    return [row.name.split(",")[0] for row in rows(tree)]


def cells(tree, name):
    """{title of a column: text} of the row of a device."""
    titles = [label.name for label in tree.find(*TABLE).find("row").find_all("label")]
    [row] = [row for row in rows(tree) if row.name.startswith(f"{name}, ")]
    return dict(zip(titles, [cell.find("label").name.strip() for cell in row.children]))


def wait_order(program, wanted):
    program.wait(lambda tree: order(tree) == wanted, f"the order {wanted}")


@pytest.fixture
def played(play):
    found = play(devices(), links={}, edges=())
    found.program.open_page(3)
    wait_order(found.program, BY_NODE)
    return found


def test_each_device_has_a_row_with_its_figures(played):
    tree = played.program.read()
    assert [row.name for row in rows(tree)][4:] == ["RTX 4090, borealis, online",
                                                    "RTX 3090, cygnus, offline for 6 min"]
    shown = cells(tree, "NVIDIA H100 80GB HBM3")
    assert shown == {**shown, "Node": "atlas", "State": "online", "Memory": "41.0/80.0 GiB", "Load": "95 %",
                     "Temperature": "61 °C", "Power": "220/700 W", "Holders": "3", "Throttled": "no",
                     "Held by": "job 4711, ollama.service", "FP16 Compute": "742 TFLOPS",
                     "Memory Bandwidth": "2.90 TB/s", "Clock": "1.98 GHz", "Driver": "nvidia, 550.90.07"}
    assert cells(tree, "RTX 4090")["Throttled"] == "thermal"


def test_what_an_offline_node_sent_last_is_no_figure_of_now(played):
    shown = cells(played.program.read(), "RTX 3090")
    assert shown["State"] == "offline" and shown["FP16 Compute"] == "71.0 TFLOPS"
    for title in ("Load", "Temperature", "Power", "Clock", "Throttled", "Holders", "Held by"):
        assert shown[title] == "–", title
    played.set_presence(THIRD, "online")
    played.program.wait(lambda tree: cells(tree, "RTX 3090")["Load"] == "77 %", "its load")


def title(program, name):
    return program.wait(lambda tree: tree.find(*TABLE).find("row").find("label", name), name)


def test_parts_stay_below_their_device(played):
    program = played.program
    program.click_at(title(program, "Load"))
    wait_order(program, ["Xeon Platinum 8480+", "RTX 4090", "NVIDIA H100 80GB HBM3", "NVIDIA H100 MIG 3g.40gb",
                         "NVIDIA H100 MIG 1g.10gb", "RTX 3090"])
    program.click_at(title(program, "Load"), aside=10)
    wait_order(program, ["NVIDIA H100 80GB HBM3", "NVIDIA H100 MIG 1g.10gb", "NVIDIA H100 MIG 3g.40gb", "RTX 4090",
                         "Xeon Platinum 8480+", "RTX 3090"])


def test_figures_and_devices_are_followed(played):
    program = played.program
    played.state.update(PEER, "Node1.System", Devices=[figures(GAMING, 3.0, 1)])
    program.wait(lambda tree: cells(tree, "RTX 4090")["Load"] == "3 %", "the load")
    assert cells(program.read(), "RTX 4090")["Throttled"] == "no"
    # What changes while another page is shown is there when this one is again.
    program.open_page(2)
    played.state.update(PEER, "Node1.Backends", Devices=[backend(GAMING, "RTX 4090", 24),
                                                         backend("0000:02:00.0", "RTX 4080", 16)])
    program.open_page(3)
    wait_order(program, [*BY_NODE[:5], "RTX 4080", BY_NODE[5]])


def test_a_renamed_node_has_its_new_name(played):
    program = played.program
    played.state.update(PEER, "Node1.Identity", FriendlyName="boreas")
    program.wait(lambda tree: cells(tree, "RTX 4090")["Node"] == "boreas", "the name")


def test_devices_are_searched(played):
    program = played.program
    program.press("ctrl+f")
    program.wait_for("entry", "Search devices", "focused")
    program.type("ollama")
    wait_order(program, BY_NODE[:1])


def test_the_details_open_at_the_device(played):
    program = played.program
    program.tab_to(lambda element: element.role in ("row", "list item"), "a row")
    for _ in range(4):
        program.press_and_wait("Down")
    assert program.focused().name.startswith("RTX 4090, ")
    program.press("Return")
    pane = program.wait(lambda tree: "Throttled" in tree.find(name="Details").text() and tree.find(name="Details"),
                        "the details")
    assert "1 process holds 23.0 GiB" in pane.text() and "thermal" in pane.text()
    assert pane.find_all(name=re.compile("^Throttled now: thermal"))
    width, height = program.place_of(program.read().find(state="active"))[2:]
    left, top, *_ = program.settled_place(pane.find(name="Throttled"))
    assert left < width and 0 < top < height


def test_holders_are_in_the_details(played):
    program = played.program
    program.tab_to(lambda element: element.role in ("row", "list item"), "a row")
    program.press("Return")
    text = program.wait(lambda tree: "job 4711" in tree.find(name="Details").text()
                        and tree.find(name="Details").text(), "who holds it")
    assert "3 processes hold 41.0 GiB" in text and "ollama.service" in text


def test_more_rows_than_the_first_frame_shows(play):
    many = [backend(f"0000:{number:02x}:00.0", f"Card {number}", 24) for number in range(120)]
    program = play({ME: node("atlas", **{"Node1.Backends": {"Devices": many}, "Node1.System": {"Devices": []},
                                         "Node1.Compute": {"Devices": []}})}, links={}, edges=()).program
    program.open_page(3)
    wait_order(program, [f"Card {number}" for number in range(120)])


def test_without_devices_it_says_what_to_do(play):
    program = play({ME: node("atlas", **{kind: {"Devices": []} for kind in (
        "Node1.Backends", "Node1.System", "Node1.Compute")})}, links={}, edges=()).program
    program.open_page(3)
    program.wait_for_text("No Devices")
    assert "systemctl status alidade-telemetryd" in program.read().text()


@pytest.mark.parametrize("name, size, scheme, more", [
    ("devices", "wide", LIGHT, {}), ("devices-dark", "wide", DARK, {}), ("devices-narrow", "narrow", LIGHT, {}),
    ("devices-contrast", "wide", LIGHT, {"ADW_DEBUG_HIGH_CONTRAST": "1"})])
def test_looks(play, name, size, scheme, more):
    program = play(devices(), links={}, edges=(), ADW_DEBUG_COLOR_SCHEME=scheme, **more).program
    wide, high = SIZE[size]
    wait_size(program, wide, high)
    program.open_page(3)
    wait_order(program, BY_NODE)
    picture = steady_picture(program)
    assert picture.get_width() == wide
    pictures.keep(picture, name)
    if pictures.is_golden(name):
        golden = pictures.load(name)
        assert pictures.are_alike(picture, golden), f"{pictures.difference(picture, golden)} from golden/{name}.png"
    program.press("Home")
    program.press("Return")
    if size == "wide":
        program.tab_to(lambda element: element.role in ("row", "list item"), "a row")
        program.press("Return")
        program.wait_for_text("3 processes hold 41.0 GiB")
        pictures.keep(steady_picture(program), f"{name}-details")
