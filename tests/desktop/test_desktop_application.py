# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program among others of a desktop: its options, its bus name, what is kept, other machines over ssh."""

import contextlib
import re
from pathlib import Path

import pytest

from bedlib import wait_until
from bedlib.errors import Timeout
from bedlib.variants import Typed
from bedlib.waiting import PATIENCE, wait_steadily
from desktop_session import APP_ID, APP_PATH
from played_cluster import ME, Played, node_id, nodes_named

VERSION = re.compile(r"alidade \d+\.\d+\.\d+\n")


# Options

def test_version_and_help_need_no_screen(desktop):
    done = desktop.run_program("--version", DISPLAY="", DBUS_SESSION_BUS_ADDRESS="unix:path=/nonexistent")
    assert done.returncode == 0 and VERSION.fullmatch(done.stdout) and done.stderr == ""
    done = desktop.run_program("--help", DISPLAY="", DBUS_SESSION_BUS_ADDRESS="unix:path=/nonexistent")
    assert done.returncode == 0 and "--host" in done.stdout and done.stderr == ""


def test_the_option_that_was_meant(desktop):
    done = desktop.run_program("--hots=x")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "Unknown option --hots; did you mean --host?\n")


@pytest.mark.parametrize("host", ["-oProxyCommand=x", "a b", "", "user@", "@host", "host:0", "host:70000", "a;b",
                                  "$(x)", "h\nost"])
def test_rubbish_for_a_host_is_refused_in_words(desktop, host):
    done = desktop.run_program(f"--host={host}")
    assert done.returncode == 2
    assert "is not a host" in done.stderr and "CRITICAL" not in done.stderr and "WARNING" not in done.stderr


def test_an_unknown_option_is_refused_in_words(desktop):
    done = desktop.run_program("--frobnicate")
    assert done.returncode not in (0, 139, 134)
    assert "--frobnicate" in done.stderr


# Its name on the session bus

def test_a_second_start_presents_the_first_window(play):
    played = play()
    again = played.desktop.run_program(machine_bus=played.host.bus.address)
    assert (again.returncode, again.stderr) == (0, "")
    assert len(played.desktop.screen.windows()) == 1
    assert played.program.process.poll() is None


def test_it_is_started_by_the_bus(make_host, desktop):
    host = make_host()
    played = Played(host, desktop)
    played.state = played.play_state()
    env = desktop.own_environment(host.bus.address)
    desktop.caller.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
                        "UpdateActivationEnvironment", "a{ss}", (env,))
    try:
        desktop.caller.call(APP_ID, APP_PATH, "org.freedesktop.Application", "Activate", "a{sv}", ({},))
        pid = desktop.caller.call_bus("GetConnectionUnixProcessID", "s", (APP_ID,))
        reader = desktop.reader_of(pid)
        reader.wait_for("button", re.compile("^atlas, "))
        # With a window that closes it ends, as nothing holds it.
        desktop.caller.call(APP_ID, APP_PATH, "org.gtk.Actions", "Activate", "sava{sv}", ("quit", [], {}))
        desktop.caller.wait_for_name(APP_ID, present=False)
    finally:
        played.close()


def test_it_ends_with_its_last_window(play):
    played = play()
    played.program.expected_end = True
    played.program.press("ctrl+w")
    assert played.program.process.wait(20) == 0


def test_it_goes_on_in_the_background_once_asked_for(play):
    """And shows what is current when a window is opened again."""
    played = play()
    program = played.program
    for action in ("notify-findings", "run-in-background"):
        program.actions("Activate", "sava{sv}", (action, [], {}))
    program.press("ctrl+w")
    wait_until(lambda: not played.desktop.screen.windows(), "the end of the window")
    played.set_findings(())
    played.state.update(ME, "Node1.Memory", AvailableBytes=8 * 1024 ** 3)
    assert program.process.poll() is None
    again = played.desktop.run_program(machine_bus=played.host.bus.address)
    assert again.returncode == 0
    program.wait_for("button", re.compile("^atlas, .*8.00/64.0"))
    for action in ("notify-findings", "run-in-background"):
        program.actions("Activate", "sava{sv}", (action, [], {}))
    assert program.quit() == 0
    program.expected_end = True


def test_the_page_and_size_are_kept(play):
    played = play(GSETTINGS_BACKEND="keyfile")
    home = played.program.environment
    played.program.open_page(4)
    played.desktop.screen.resize(played.program.window, 900, 640)
    # What is laid out, as the screen has the size before the program knows it.
    wait_steadily(lambda: played.program.place_of(played.program.read().children[0])[2] <= 900, "another size")
    played.program.press("ctrl+w")
    played.program.expected_end = True
    assert played.program.process.wait(20) == 0
    again = played.start_program(**{name: home[name] for name in ("HOME", "XDG_CONFIG_HOME", "GSETTINGS_BACKEND")})
    again.wait_for("tab", "Links", "selected")
    picture = again.picture()
    assert (picture.get_width(), picture.get_height()) == (900, 640)


def test_a_window_that_is_made_narrow_stays_narrow(play):
    """Though what is beside each other in a wide one takes more; details take the place of the page then."""
    played = play()
    screen, window = played.desktop.screen, played.program.window
    screen.resize(window, 400, 700)
    wait_steadily(lambda: played.program.picture().get_width() == 400, "another size")
    page = played.program.picture().get_pixels()
    played.program.click("button", re.compile("^borealis, "))
    wait_until(lambda: played.program.picture().get_pixels() != page, "the details")
    assert played.program.picture().get_width() == 400
    # What a screen reader has read while it was hidden comes back without a warning.
    played.program.read()
    screen.resize(window, 1100, 700)
    played.program.wait_for("tab", "Nodes")
    wait_steadily(lambda: played.program.picture().get_width() == 1100, "the size from before")


def test_places_of_nodes_of_another_cluster_are_kept(play):
    """While the nodes that are shown forget theirs; a width that cannot be is as none."""
    played = play(GSETTINGS_BACKEND="keyfile")
    home = {name: played.program.environment[name] for name in ("HOME", "XDG_CONFIG_HOME", "GSETTINGS_BACKEND")}
    played.program.expected_end = True
    assert played.program.quit() == 0
    keyfile = Path(home["XDG_CONFIG_HOME"], "glib-2.0/settings/keyfile")
    keyfile.write_text("[org/alidade/Alidade]\nwindow-width=-5\n"
                       f"node-positions={{'{ME}': (1.0, 2.0), '{node_id(99)}': (3.0, 4.0)}}\n",
                       encoding="utf-8")
    played.start_program(**home).click("button", "Arrange Nodes Anew")
    wait_until(lambda: ME not in keyfile.read_text(encoding="utf-8"), "the new places")
    assert f"'{node_id(99)}': (3.0, 4.0)" in keyfile.read_text(encoding="utf-8")


def test_menus_and_dialogs_open_by_keyboard(play):
    program = play().program
    program.press("F10")
    program.wait_for("menu item", re.compile("Keyboard Shortcuts"))
    program.press("Escape")
    program.actions("Activate", "sava{sv}", ("about", [], {}))
    program.wait_for_text("The Alidade developers")


# Other machines

def fake_ssh(desktop, script):
    folder = desktop.dir / "bin"
    folder.mkdir(exist_ok=True)
    path = folder / "ssh"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return {"PATH": f"{folder}:{desktop.environment['PATH']}"}


SSH_FAILURES = {
    'printf "Warning: added\\r\\nssh: connect to host far port 22: No route to host\\r\\n" >&2; exit 255':
        "ssh cannot connect to user@far: ssh: connect to host far port 22: No route to host",
    'echo "bash: line 1: systemd-stdio-bridge: command not found" >&2; exit 127':
        "ssh cannot connect to user@far: bash: line 1: systemd-stdio-bridge: command not found",
    r'printf "\033]0;owned\007<b>&%%s\342\200\256" >&2; exit 255':
        "ssh cannot connect to user@far: \ufffd]0;owned\ufffd<b>&%s\ufffd",
    "yes | tr -d '\\n' | head -c 100000 >&2; exit 255": f"ssh cannot connect to user@far: {'y' * 239}…",
    "exit 255": "ssh cannot connect to user@far, or systemd-stdio-bridge is missing there; “ssh user@far” in a "
                "terminal shows why"}


@pytest.mark.parametrize("script", SSH_FAILURES, ids=["unreachable", "no-bridge", "hostile", "long", "silent"])
def test_why_ssh_fails_is_said_in_its_words(desktop, script):
    program = desktop.start_program("unix:path=/nonexistent", "--host=user@far", **fake_ssh(desktop, script))
    text = program.wait(lambda tree: next((text for text in tree.texts() if "ssh cannot connect" in text), None),
                        "why", 20)
    assert text == SSH_FAILURES[script]
    program.wait_for("button", "Try Again")


def is_refused(tree):
    return any("ssh cannot connect" in text for text in tree.texts())


def count_starts(path):
    return path.read_text(encoding="utf-8").count("again") if path.exists() else 0


def test_ssh_that_does_not_end_stops_nothing(desktop, tmp_path):
    """It has closed the connection, and ignores that it is asked to end."""
    started = tmp_path / "started"
    script = f'echo again >>{started}; trap "" TERM; exec <&- >&-; exec sleep 20'
    program = desktop.start_program("unix:path=/nonexistent", "--host=user@far", **fake_ssh(desktop, script))
    program.wait(is_refused, "why")
    program.focus()
    program.press("F5")
    wait_steadily(lambda: count_starts(started) == 2, "ssh once more")
    program.wait(is_refused, "why once more")
    program.expected_end = True
    assert program.quit() == 0


def test_ssh_ends_with_the_program(desktop):
    """Even where it waits for an answer of its user, or the program is killed."""
    pids = desktop.dir / "ssh-pids"
    for end in (lambda program: program.quit(), lambda program: program.kill()):
        pids.unlink(missing_ok=True)
        program = desktop.start_program("unix:path=/nonexistent", "--host=user@far",
                                        **fake_ssh(desktop, f"echo $$ >{pids}; exec sleep 60"))
        wait_steadily(lambda: pids.exists() and pids.read_text().strip(), "ssh")
        program.expected_end = True
        end(program)
        wait_steadily(lambda: not Path("/proc", pids.read_text().strip()).exists(), "the end of ssh")
        desktop.end_programs()


def test_ssh_that_fails_is_started_again_only_by_hand(desktop, tmp_path):
    """Each time it may ask for a password. What has worked is tried again after 3 s."""
    started = tmp_path / "started"
    program = desktop.start_program("unix:path=/nonexistent", "--host=user@far",
                                    **fake_ssh(desktop, f"echo again >>{started}; exit 255"))
    program.wait(is_refused, "why")
    with pytest.raises(Timeout):
        wait_steadily(lambda: count_starts(started) > 1, "a start by itself", 4 / PATIENCE)
    program.focus()
    program.press("F5")
    wait_steadily(lambda: count_starts(started) == 2, "ssh once more")


@contextlib.contextmanager
def far_cluster(make_host, desktop):
    """Another host with a cluster of one node, zosma."""
    there = Played(make_host("far"), desktop, nodes_named("zosma"), links={}, edges=())
    there.state = there.play_state()
    try:
        yield there.host
    finally:
        there.close()


def connected_once(desktop, far, folder):
    """A program that looks at the host over an ssh that connects only the first time, with a warning."""
    script = (f'mkdir {folder}/once || {{ echo "No route to host" >&2; exit 255; }}; echo "Warning: added" >&2\n'
              f'exec systemd-stdio-bridge --bus-path={far.bus.address}')
    program = desktop.start_program("unix:path=/nonexistent", "--host=user@far", **fake_ssh(desktop, script))
    program.wait_for("button", re.compile("^zosma, "))
    return program


def test_why_ssh_cannot_connect_again_is_said(make_host, desktop, tmp_path):
    """A warning of a connection that worked is not the reason for its end."""
    said = []

    def has_tried_again(tree):
        said.extend(text for text in tree.texts() if "ended" in text or "cannot connect" in text)
        return "ssh cannot connect to user@far: No route to host" in said

    with far_cluster(make_host, desktop) as far:
        program = connected_once(desktop, far, tmp_path)
        far.bus.process.excused = True
        far.bus.process.kill()
        program.wait(has_tried_again, "why it cannot connect again", 20)
        assert set(said) <= {"The connection to user@far has ended", "ssh cannot connect to user@far: No route to host"}


def test_why_ssh_cannot_connect_for_an_action_is_said(make_host, desktop, tmp_path):
    """Actions have a connection of their own."""
    with far_cluster(make_host, desktop) as far:
        program = connected_once(desktop, far, tmp_path)
        program.actions("Activate", "sava{sv}", ("probe-device", [Typed("s", "")], {}), path=f"{APP_PATH}/window/1")
        program.wait_for_text("Cannot measure all compute devices: ssh cannot connect to user@far: No route to host")


def test_ssh_gets_the_host_as_an_operand(desktop):
    """And never asks on a terminal that is not there: a program of the desktop asks, or none."""
    told = desktop.dir / "ssh-told"
    told.unlink(missing_ok=True)
    script = f'printf "%s\\n" "$@" > {told}.fresh; env > {told}.env; mv {told}.fresh {told}; exit 255'
    program = desktop.start_program("unix:path=/nonexistent", "--host=user@far:2222", **fake_ssh(desktop, script))
    wait_steadily(told.exists, "ssh")
    words = told.read_text().split("\n")
    assert "user@far" in words or "far" in words
    assert "2222" in words and not any(word.startswith("-oProxyCommand") for word in words)
    assert "DISPLAY" in (told.with_suffix(".env")).read_text()
    program.wait_for_text("far")


def test_another_machine_is_seen_in_a_window_of_its_own(make_host, play, desktop):
    """ssh is played by the program that it starts there, on another bus."""
    with far_cluster(make_host, desktop) as far:
        played = play(**fake_ssh(desktop, f"exec systemd-stdio-bridge --bus-path={far.bus.address}"))
        again = desktop.run_program("--host=user@far", machine_bus=played.host.bus.address)
        assert (again.returncode, again.stderr) == (0, "")
        wait_until(lambda: len(desktop.screen.windows()) == 2, "a second window")
        played.program.wait_for("button", re.compile("^zosma, "))
        played.program.wait_for("button", re.compile("^atlas, "))


def test_the_dialog_refuses_rubbish(play, desktop):
    played = play(**fake_ssh(desktop, "exit 255"))
    program = played.program
    program.press("ctrl+n")
    dialog = program.focus_dialog()
    assert [one for one in dialog.walk() if one.is_editable]
    program.type("a b")
    program.press("Return")
    assert [one.name for one in program.read().children if one.role != "dialog"] == ["Alidade"]


def test_the_dialog_connects_to_what_is_typed(play, desktop):
    """From the first key on, and with Enter."""
    program = play(**fake_ssh(desktop, "exit 255")).program
    program.press("ctrl+n")
    program.focus_dialog()
    program.type("ada@far")
    program.press("Return")
    program.wait(lambda tree: "ssh cannot connect" in tree.text() and "ada@far" in tree.text(), "the other machine")
