# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two virtual machines (tests/vm/pair) that run a benchmark's own parts."""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]


def prepare(build, folder, probe, parts, settings):
    """Puts into the folder what the machines need: the probe in their PATH, the parts, and the settings of these."""
    subprocess.run(["meson", "install", "-C", build, "--quiet"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "DESTDIR": f"{folder}/root"})
    programs = folder / "root/usr/bin"
    programs.mkdir(parents=True, exist_ok=True)
    shutil.copy2(build / "probes" / probe / f"alidade-probe-{probe}", programs)
    shutil.copytree(BENCH / parts, folder / "parts")
    (folder / "parts/00-settings").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))


def run_pair(build, probe, parts, programs, settings, seconds, json_only):
    """The lines "figures …" that the machines write, without that word; they are ended after so many seconds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(build, folder, probe, parts, settings)
        with subprocess.Popen([BENCH.parent / "vm/pair", folder / "root", folder / "parts", *programs],
                              stdout=subprocess.PIPE, text=True) as pair:
            timer = threading.Timer(seconds, pair.terminate)
            timer.start()
            lines = [line.rstrip("\n") for line in pair.stdout]
            timer.cancel()
    if not json_only:
        print("\n".join(line[:300] for line in lines), flush=True)
    wrong = [line for line in lines if not line.startswith(("passed", "figures"))]
    if wrong:
        sys.exit("\n".join(wrong))
    if pair.returncode != 0:
        sys.exit(f"the virtual machines were ended after {seconds} s")
    return [line.partition(" ")[2] for line in lines if line.startswith("figures ")]
