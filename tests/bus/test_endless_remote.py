# SPDX-License-Identifier: LGPL-2.1-or-later
"""A remote machine that sends ever more is refused with a sentence, in bounded memory, and the connection is closed."""

import os
import select
import subprocess
from pathlib import Path

import pytest

from bedlib.services import client_binary
from bedlib.waiting import PATIENCE
from state_service import MEBI, only_without_sanitizers

REMOTE = Path(__file__).resolve().parent / "endless_remote.py"
SENTENCE = "it sends more than a cluster of 10,000 nodes has (768 MiB), so the connection was closed"
# The limit, a message, and what the allocator has not given back.
MOST_BYTES = (768 + 256) * MEBI
UNREACHABLE = 3
# A program starts with the peak of the one that started it, and pytest's may be more than the limit.
MEASURED = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(status, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


@pytest.mark.parametrize("mode, verb", [
    ("nodes", "nodes"), ("strings", "nodes"), ("rows", "status"), ("descriptions", "nodes"),
    ("signals", "nodes"), ("graph", "topology")])
def test_endless_remote(tmp_path, mode, verb):
    only_without_sanitizers("which take memory of their own")
    (tmp_path / "ssh").write_text(f"#!/bin/sh\nexec /usr/bin/python3 {REMOTE} {mode} 3>{tmp_path}/running\n")
    (tmp_path / "ssh").chmod(0o755)
    os.mkfifo(tmp_path / "running")
    with open(os.open(tmp_path / "running", os.O_RDONLY | os.O_NONBLOCK), "rb") as running, \
            open(tmp_path / "errors", "w+", encoding="utf-8") as errors:
        measured = subprocess.run(["/usr/bin/python3", "-c", MEASURED, client_binary(), "-H", "far.example", verb],
                                  stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, check=True,
                                  env={"PATH": f"{tmp_path}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
        errors.seek(0)
        assert SENTENCE in errors.read()
        ended = select.poll()
        ended.register(running, select.POLLHUP)
        assert ended.poll(20_000 * PATIENCE), "ssh has not ended"
    status, peak = (int(word) for word in measured.stdout.split())
    assert status == UNREACHABLE
    assert peak < MOST_BYTES, f"{peak / MEBI:.0f} MiB"
