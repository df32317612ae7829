# SPDX-License-Identifier: LGPL-2.1-or-later
"""A desktop without a user: a screen, a session bus and an accessibility bus for one of pytest's workers, and the
programs that tests start there. All of it ends with the test run, also when that is killed, and nothing of it is seen
by the session of who runs the tests."""

import os
import re
import shutil
import signal
import sys
from pathlib import Path

from accessible import ACCESSIBLE, ROOT, ScreenReader
from bedlib import BedFailure, BusError, Unavailable, build_dir, wait_until
from bedlib.bus import Bus
from bedlib.connection import Connection
from bedlib.machine import Machine
from bedlib.waiting import wait_steadily
from x_screen import Screen

APP_ID = "org.alidade.Alidade"
APP_PATH = "/org/alidade/Alidade"
REGISTRY = "org.a11y.atspi.Registry"
REGISTRY_PROGRAMS = ("/usr/libexec/at-spi2-registryd", "/usr/lib/at-spi2-core/at-spi2-registryd",
                     "/usr/lib/at-spi2/at-spi2-registryd")
SCREEN = "1920x1200x24"
# Root's programs, and that of another user, on the same buses.
EVERYBODY = '  <policy context="default"><allow user="*"/></policy>\n'
SETTINGS = "[Settings]\ngtk-enable-animations=0\ngtk-cursor-blink=0\ngtk-font-name=Cantarell 11\n"
# What a program must never print; warnings of drivers and of a desktop that is not there are none of ours.
FORBIDDEN = re.compile(r"(CRITICAL|WARNING) \*\*|-(CRITICAL|WARNING)\b|AddressSanitizer|LeakSanitizer|runtime error:"
                       r"|[Aa]ssertion '.*' failed")


def program_path():
    path = build_dir() / "clients/desktop/alidade"
    if not path.exists():
        raise Unavailable("the desktop program is not built")
    return path


def registry_program():
    return next((path for path in REGISTRY_PROGRAMS if os.access(path, os.X_OK)), None)


def why_not():
    """Why there can be no desktop here, or None."""
    missing = [name for name in ("Xvfb", "dbus-daemon") if not shutil.which(name)]
    if not registry_program():
        missing.append("at-spi2-registryd")
    return f"{', '.join(missing)} not installed" if missing else None


class DesktopSession(Machine):
    """Use it as a context manager."""

    def __init__(self):
        super().__init__("desktop", isolated=False)
        self.programs = []
        self._started = self._homes = 0
        self.screen = self.bus = self.accessibility = self.reader = self.caller = None

    def start(self):
        super().start()
        self.environment.update({
            "DISPLAY": self._start_screen(), "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "LC_ALL": "C.UTF-8",
            "GSETTINGS_BACKEND": "memory", "GSETTINGS_SCHEMA_DIR": str(build_dir() / "clients/desktop/data"),
            "XDG_SESSION_TYPE": "x11", "NO_COLOR": "1"})
        self.screen = Screen(self.environment["DISPLAY"])
        self.bus, self.accessibility = (Bus(self, name, extra=EVERYBODY) for name in ("session", "accessibility"))
        self.accessibility.start()
        self.environment.update(AT_SPI_BUS_ADDRESS=self.accessibility.address,
                                DBUS_SESSION_BUS_ADDRESS=self.bus.address, **self.folders("session-home"))
        self.bus.add_service(APP_ID, f"{program_path()} --gapplication-service")
        self.bus.start(self.environment)
        self.reader, self.caller = Connection(self, self.accessibility), Connection(self, self.bus)
        self.spawn([registry_program()], "registry")
        self.reader.wait_for_name(REGISTRY)

    def _start_screen(self):
        ready, theirs = os.pipe()
        server = self.spawn(["Xvfb", "-displayfd", "1", "-screen", "0", SCREEN, "-nolisten", "tcp", "-ac", "-noreset"],
                            "Xvfb", stdout=theirs)
        os.close(theirs)
        os.set_blocking(ready, False)
        told = b""

        def number():
            nonlocal told
            try:
                fresh = os.read(ready, 64)
            except BlockingIOError:
                return None
            told += fresh
            if not fresh:
                raise BedFailure(f"Xvfb did not start:\n{server.log_text()}")
            return told.endswith(b"\n")

        with os.fdopen(ready, closefd=True):
            wait_until(number, "Xvfb", fds=[ready])
        return f":{told.decode().strip()}"

    def folders(self, name, settings=""):
        """A home folder of its own, as environment."""
        home = self.dir / name
        for folder in ("config/gtk-4.0", "data", "cache", "run"):
            (home / folder).mkdir(parents=True)
        (home / "run").chmod(0o700)
        (home / "config/gtk-4.0/settings.ini").write_text(SETTINGS + settings)
        return {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "XDG_DATA_HOME": str(home / "data"),
                "XDG_CACHE_HOME": str(home / "cache"), "XDG_RUNTIME_DIR": str(home / "run")}

    def own_environment(self, machine_bus, settings="", **env):
        """Of a program that reads the bus of a machine."""
        self._homes += 1
        return {**self.environment, **self.folders(f"home.{self._homes}", settings),
                "ALIDADE_BUS_ADDRESS": machine_bus, **verdict_environment(self.dir), **env}

    def start_program(self, machine_bus, *args, settings="", machine=None, user=None, **env):
        """Starts the program for the bus of a machine and waits until a screen reader knows it. On another machine
        it runs as a user of that."""
        env = self.own_environment(machine_bus, settings, **env)
        if user is not None:
            for folder in Path(env["HOME"]).rglob("*"):
                folder.chmod(0o777 if folder.name != "run" else 0o700)
            shutil.chown(env["XDG_RUNTIME_DIR"], user)
        process = (machine or self).spawn([program_path(), *args], f"alidade.{self._started}", user, env)
        self._started += 1
        process.excused = True
        program = Program(self, process, env)
        self.programs.append(program)
        program.wait_known()
        return program

    def run_program(self, *args, machine_bus="unix:path=/nonexistent", **env):
        """Runs it to its end."""
        return self.run([program_path(), *args], env=self.own_environment(machine_bus, **env), check=False)

    def end_programs(self):
        """Ends those that run, shows what they printed, and says what was wrong with them."""
        found = []
        for program in self.programs:
            found += [f"{program.process.name}: {problem}" for problem in program.problems()]
            if text := program.process.log_text():
                print(f"---- {program.process.name}\n{text}", file=sys.stderr)
        self.programs.clear()
        wait_until(lambda: self.caller.owner(APP_ID) is None, "the end of the program")
        return found

    def accessible_programs(self):
        """{pid: unique name} of who has registered."""
        found = {}
        for owner, _ in self.reader.call(REGISTRY, ROOT, ACCESSIBLE, "GetChildren"):
            try:
                pid = self.reader.call_bus("GetConnectionUnixProcessID", "s", (owner,))
            except BusError:
                continue  # it has just ended
            found[pid] = owner
        return found

    def reader_of(self, pid, process=None):
        """What reads the program with that pid, once it has registered."""
        def known():
            if process and process.poll() is not None:
                raise BedFailure(f"{process} has ended\n{process.log_text()}")
            return self.accessible_programs().get(pid)

        return ScreenReader(self.reader, wait_steadily(known, "the program on the accessibility bus", 20))

    def close(self):
        if self.screen:
            self.screen.close()
        for connection in (self.reader, self.caller):
            if connection:
                connection.close()
        self.screen = self.reader = self.caller = None
        super().close()


def verdict_environment(folder):
    """Sanitizers write to the log of the program, and know of the leaks of libraries."""
    suppressions = Path(__file__).with_name("leaks-of-libraries")
    return {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "detect_leaks=1:abort_on_error=0"),
            "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=0",
            "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0", "TMPDIR": str(folder)}


class Program:
    """A running alidade: what a screen reader reads of it, and its window on the screen."""

    def __init__(self, session, process, environment):
        self.session = session
        self.process = process
        self.environment = environment
        self.reader = None
        self.allowed = []
        self.expected_end = False

    def wait_known(self):
        self.reader = self.session.reader_of(self.process.outer_pid, self.process)
        for name in ("read", "wait", "wait_for", "wait_gone", "wait_for_text", "do", "text_of", "place_of"):
            setattr(self, name, getattr(self.reader, name))

    # Its window

    @property
    def window(self):
        """The topmost of its windows, once it is seen."""
        return wait_steadily(self.session.screen.windows, "a window")[-1]

    def focus(self):
        """What a window manager does with a window that is presented."""
        self.session.screen.focus(self.window)
        self.wait(lambda tree: tree.find(state="active"), "the focus")

    def focus_dialog(self):
        """The same with a dialog, which is returned: a window of its own, or within the window from libadwaita 1.5
        on."""
        self.wait(lambda tree: tree.find("dialog"), "a dialog")
        if not any(one.role == "dialog" for one in self.read().children):
            return self.wait(lambda tree: tree.find("dialog").find(state="focused") and tree.find("dialog"),
                             "the focus within a dialog")
        wait_steadily(lambda: len(self.session.screen.windows()) > 1, "the window of a dialog")
        self.session.screen.focus(self.window)
        # A dialog of GTK 4.8 does not say that it is active.
        return self.wait(lambda tree: not any("active" in one.states for one in tree.children if one.role != "dialog")
                         and tree.find("dialog"), "the focus of a dialog")

    def press(self, *combinations):
        for combination in combinations:
            self.session.screen.key(combination)

    def type(self, text):
        self.session.screen.type(text)

    def focused(self):
        """What has the keyboard's focus, or None."""
        found = self.read().find_all(state="focused")
        return found[-1] if found else None

    def press_and_wait(self, key):
        """Until the focus has moved."""
        before = self.focused()
        self.press(key)
        self.wait(lambda _: not before or (self.focused() or before).ref != before.ref, f"{key} to move the focus")

    def tab_to(self, is_wanted, what):
        """To an element that is wanted, which is returned, by keyboard."""
        for _ in range(60):
            found = self.focused()
            if found and is_wanted(found):
                return found
            self.press_and_wait("Tab")
        raise LookupError(f"Tab never reaches {what}")

    def click(self, role=None, name=None, state=None):
        """As a screen reader does it, once it is there."""
        self.do(self.wait_for(role, name, state))

    def settled_place(self, element):
        """Where it is once it does not move any more, as things do while a page is laid out the first time."""
        places = [None]

        def is_settled():
            places.append(self.place_of(element))
            return places[-1] == places[-2]

        wait_steadily(is_settled, "a place that stays")
        return places[-1]

    def click_at(self, element, button=1, aside=0):
        """With the pointer, so many pixels beside its middle. A window without a compositor has a frame that is none of
        its widgets."""
        left, top, width, height = self.settled_place(element)
        frame = (self.picture().get_width() - self.place_of(self.read().find(state="active"))[2]) // 2
        self.session.screen.point_at(frame + left + width // 2 + aside, frame + top + height // 2)
        for pressed in (1, 0):
            # It must have drawn the one before: GTK 4.8 loses what comes in the same moment, as from no hand.
            self.settled_place(element)
            self.session.screen.button(button, pressed)

    def open_page(self, number):
        """1 topology, 2 nodes, 3 devices, 4 links, 5 findings, 6 placement."""
        self.press(f"alt+{number}")
        titles = ["Topology", "Nodes", "Devices", "Links", "Findings", "Placement"]
        self.wait_for("tab", titles[number - 1], "selected")

    def picture(self):
        return self.session.screen.picture(self.window)

    # Its end

    def actions(self, method, signature="", args=(), path=APP_PATH):
        return self.session.caller.call(APP_ID, path, "org.gtk.Actions", method, signature, args)

    def quit(self):
        """As the menu does it; returns its exit status."""
        try:
            self.actions("Activate", "sava{sv}", ("quit", [], {}))
        except BusError as error:
            if error.name not in ("org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown"):
                raise
        return self.process.wait(20)

    def kill(self):
        self.expected_end = True
        self.process.kill()

    def problems(self):
        """Ends it, and says what was wrong with it."""
        found = []
        if self.process.poll() is None:
            self.process.signal(signal.SIGCONT)
            try:
                status = self.quit()
                if status != 0:
                    found.append(f"it ended with {status} when asked to quit")
            except Exception as error:  # whatever it is, the program must end
                found.append(f"it does not quit: {error}")
                self.process.kill()
        elif not self.expected_end:
            found.append(f"it ended with {self.process.returncode}")
        found += [line for line in self.process.log_text().splitlines() if FORBIDDEN.search(line)
                  and not any(re.search(pattern, line) for pattern in self.allowed)]
        return found
