# SPDX-License-Identifier: LGPL-2.1-or-later
"""The benchmarks still work: each is imported with its options, and the short ones run."""

import json
import os
import subprocess

import pytest

from bedlib import SOURCE
from bedlib.services import only_without_sanitizers
from bedlib.waiting import PATIENCE

RUN = SOURCE / "tests/bench/run"
# Those that end within 5 s in a build of packages; ./check bench runs the others too.
SHORT = ("devices", "exporter", "graph", "history", "link", "link-truth", "state")
SKIPPED = 77
IMPORT_ALL = f"""
import argparse, importlib, importlib.machinery, importlib.util, sys
loader = importlib.machinery.SourceFileLoader("run", {str(RUN)!r})
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
loader.exec_module(run)
sys.path.insert(0, str(run.HERE))
for name in run.names():
    module, parser = importlib.import_module(name.replace("-", "_")), argparse.ArgumentParser()
    getattr(module, "add_arguments", lambda _: None)(parser)
    assert module.SHORTEST.keys() <= vars(parser.parse_args([])).keys(), name
    print(name)
"""


def test_each_benchmark_is_imported():
    done = subprocess.run(["/usr/bin/python3", "-B", "-c", IMPORT_ALL], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert set(SHORT) < set(done.stdout.split())


@pytest.mark.parametrize("name", SHORT)
def test_short_benchmark_runs(name):
    only_without_sanitizers("as its programs take minutes with them")
    if not (SOURCE / os.environ["ALIDADE_BUILD"] / "build.ninja").exists():
        pytest.skip("this copy of a build can build nothing")
    done = subprocess.run([RUN, name, "--shortest", "--json"], capture_output=True, text=True, check=False,
                          timeout=60 * PATIENCE)
    if done.returncode == SKIPPED:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
