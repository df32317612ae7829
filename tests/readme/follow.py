#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the commands of README.md in their order: follow.py CLONE FOLDER

As root of a machine of its own. Writes FOLDER/tally and FOLDER/log.
"""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

from commands import NAMES, NOT_RUN, RUN, commands

# A build and the packages that it takes, on a busy machine.
PATIENCE_SECONDS = 2400
LISTENS_SECONDS = 10
UNITS = Path("/lib/systemd/system")
FOLDERS = {"StateDirectory": "/var/lib", "RuntimeDirectory": "/run"}


class Reader:
    def __init__(self, clone, folder):
        self.clone = clone
        self.log = open(folder / "log", "ab", buffering=0)
        self.tally = open(folder / "tally", "w", buffering=1, encoding="utf-8")

    def note(self, text):
        self.log.write(text.encode())
        print(text, end="", flush=True)

    def shell(self, line):
        for name, meaning in NAMES.items():
            line = line.replace(name, f'"{meaning}"' if "$" in meaning else meaning)
        # Nobody is there to answer apt's question.
        return ["bash", "-e", "-c", line.replace("apt-get install", "apt-get -y install")
                .replace("apt-get build-dep", "apt-get -y build-dep")]

    def finish(self, line, run):
        done = subprocess.run(self.shell(line), cwd=self.clone, stdin=subprocess.DEVNULL, stdout=self.log,
                              stderr=self.log, timeout=PATIENCE_SECONDS, check=False)
        return "" if done.returncode in run.statuses else f"status {done.returncode}"

    def hear(self, stream, text, seconds):
        """Whether the stream says this within that time."""
        heard, end = b"", time.monotonic() + seconds
        while text not in heard:
            if not select.select([stream], [], [], max(0, end - time.monotonic()))[0]:
                return False
            try:
                said = os.read(stream, 4096)
            except OSError:  # the other end of a terminal is closed
                said = b""
            if not said:
                return False
            self.log.write(said)
            heard = heard[-len(text):] + said
        return True

    def watch(self, line, run):
        """On a terminal, until it shows what it is to show, and other commands have run beside it."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.clone)
            os.environ["TERM"] = "xterm"
            words = self.shell(line)
            os.execvp(words[0], words)
        if not self.hear(terminal, run.until.encode(), PATIENCE_SECONDS):
            os.close(terminal)
            os.waitpid(pid, 0)
            return f"it never showed {run.until!r}"
        fault = self.finish("\n".join(run.meanwhile), RUN[line]) if run.meanwhile else ""
        os.write(terminal, b"q")
        self.hear(terminal, b"\0", 60)
        os.close(terminal)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return fault or ("" if status in run.statuses else f"status {status}")

    def listen(self, line):
        """It goes on until it is ended."""
        with subprocess.Popen(self.shell("exec " + line), cwd=self.clone, stdin=subprocess.DEVNULL, stdout=self.log,
                              stderr=self.log) as child:
            try:
                return f"status {child.wait(LISTENS_SECONDS)}"
            except subprocess.TimeoutExpired:
                child.terminate()
                return ""

    def follow(self, line):
        run, begin = RUN[line], time.monotonic()
        self.note(f"\n== {line}\n")
        try:
            if run.until:
                fault = self.watch(line, run)
            else:
                fault = self.listen(line) if run.ended else self.finish(line, run)
        except subprocess.TimeoutExpired:
            fault = f"it took more than {PATIENCE_SECONDS} s"
        self.note(f"== {fault or 'fine'}, {time.monotonic() - begin:.0f} s\n")
        for told in (line, *run.meanwhile):
            self.tally.write(f"failed {told}: {fault}\n" if fault else f"passed {told}\n")

    def boot(self):
        """What systemd would start at the next boot: the bus, and the services, with the folders of their units."""
        os.makedirs("/run/dbus", exist_ok=True)
        subprocess.run(["dbus-daemon", "--system", "--fork"], check=True)
        for unit in sorted(UNITS.glob("alidade-*d.service")):
            text = unit.read_text(encoding="utf-8")
            entries = dict(re.findall(r"^(\w+)=(.+)$", text, re.M))
            environment = dict(os.environ)
            for key, top in FOLDERS.items():
                if key in entries:
                    folder = environment[re.sub(r"(?<!^)(?=[A-Z])", "_", key).upper()] = f"{top}/{entries[key]}"
                    os.makedirs(folder, exist_ok=True)
                    shutil.chown(folder, entries["User"])
            user = ["setpriv", f"--reuid={entries['User']}", f"--regid={entries['User']}", "--init-groups"]
            subprocess.Popen([*user, *entries["ExecStart"].split()], env=environment, stdin=subprocess.DEVNULL,
                             stdout=self.log, stderr=self.log)
            if "BusName" in entries:
                subprocess.run(["gdbus", "wait", "--system", "--timeout=60", entries["BusName"]], stderr=self.log,
                               check=True)

def main(clone, folder):
    reader = Reader(clone, Path(folder))
    beside = {line for run in RUN.values() for line in run.meanwhile}
    for line in commands():
        if line in RUN:
            reader.follow(line)
            if line.startswith("sudo apt-get install ../"):
                reader.boot()
        elif line not in beside:
            reader.tally.write(f"skipped {line}: {NOT_RUN[line]}\n" if line in NOT_RUN else
                               f"failed {line}: tests/readme/commands.py does not know it\n")
    reader.tally.close()
    return "\nfailed " in "\n" + (Path(folder) / "tally").read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
