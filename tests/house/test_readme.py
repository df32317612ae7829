# SPDX-License-Identifier: LGPL-2.1-or-later
"""The commands of README.md are known to its test, and are ones that their programs understand."""

import json
import re
import shutil
import subprocess
import sys

import pytest

from tree import SOURCE, build_dir

sys.path.insert(0, str(SOURCE / "tests/readme"))
from commands import NOT_RUN, RUN, commands, simple_commands  # noqa: E402

OURS = {
    "alidade": "clients/desktop/alidade",
    "alidadectl": "clients/alidadectl/alidadectl",
    "alidade-probe-compute": "probes/compute/alidade-probe-compute",
    "alidade-probe-rdma": "probes/rdma/alidade-probe-rdma",
    "alidade-probe-socket": "probes/socket/alidade-probe-socket",
    "alidade-probe-storage": "probes/storage/alidade-probe-storage",
}
SIMPLE = [words for line in commands() for words in simple_commands(line)]


def calls(*programs):
    return [words for words in SIMPLE if words[0].rpartition("/")[2] in programs]


def output(*words):
    return subprocess.run(words, cwd=SOURCE, check=True, capture_output=True, text=True).stdout


def is_option(word):
    return re.match(r"--?[a-zA-Z]", word)


def test_each_command_is_run_or_has_a_reason_why_not():
    beside = [line for run in RUN.values() for line in run.meanwhile]
    known = [*RUN, *beside, *NOT_RUN]
    assert [line for line in commands() if line not in known] == []
    assert [line for line in known if line not in commands()] == []
    assert len(known) == len(set(known))
    assert all(NOT_RUN.values())


@pytest.mark.parametrize("words", [pytest.param(words, id=" ".join(words)) for words in calls(*OURS)])
def test_our_programs_have_these_verbs_and_options(words):
    program = build_dir() / OURS[words[0].rpartition("/")[2]]
    arguments = words[1:words.index("--")] if "--" in words else words[1:]
    options = [word for word in arguments if is_option(word)]
    verbs = [word for word in arguments if re.fullmatch(r"[a-z][a-z.-]*", word)]
    # The verb's own help, and what holds for all verbs.
    told = output(program, *verbs[:1], "--help") + output(program, "--help")
    for option in options:
        name = option.partition("=")[0]
        assert re.search(rf"(?<![\w-]){re.escape(name)}\b", told), f"{program.name} has no option {name}"
    if verbs:
        assert re.search(rf"^  {verbs[0]}\b", output(program, "--help"), re.M), f"unknown verb {verbs[0]}"
    for verb in verbs[1:2]:
        own = output(program, verbs[0], "--help")
        assert re.search(rf"(?<![\w-]){re.escape(verb)}(?![\w-])", own), f"{verbs[0]} has no {verb}"


@pytest.mark.parametrize("script", ["demo", "check"])
def test_scripts_have_these_words(script):
    usage = output(f"./{script}", "--help")
    for words in calls(script):
        for word in words[1:]:
            assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", usage) or word.isdigit(), " ".join(words)


def test_files_that_are_named_exist():
    files = [words for words in SIMPLE if "/" in words[0] and not words[0].startswith("build/")]
    assert files and [words[0] for words in files if not (SOURCE / words[0]).exists()] == []
    pages = [words[-1] for words in calls("man")]
    assert pages
    for page in pages:
        built = re.sub(r"^build/demo/", f"{build_dir()}/", page)
        assert (SOURCE / built).exists(), page


def test_dpkg_buildpackage_takes_these_options():
    if not shutil.which("dpkg-buildpackage"):
        pytest.skip("dpkg-buildpackage is not installed")
    assert calls("dpkg-buildpackage")
    for words in calls("dpkg-buildpackage"):
        # It reads them in their order, and would say what it does not know before the help.
        done = subprocess.run([*words, "--help"], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and done.stdout.startswith("Usage:"), done.stderr
        # dpkg of Debian 13 takes the profiles as a word of its own too, that of Debian 12 does not.
        assert "-P" not in words


def test_apt_takes_these_options():
    if not shutil.which("apt-get"):
        pytest.skip("apt-get is not installed")
    own = [words for words in calls("apt-get") if words[1] == "build-dep"]
    assert own
    for words in own:
        done = subprocess.run([*words, "--simulate"], cwd=SOURCE, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_meson_has_these_options():
    options = {option["name"] for option in json.loads(output("meson", "introspect", "--buildoptions", build_dir()))}
    named = re.findall(r"-D(\w+)=", (SOURCE / "README.md").read_text(encoding="utf-8"))
    named += [word[2:].partition("=")[0] for words in calls("meson") for word in words if word.startswith("--")]
    assert named and set(named) <= options
