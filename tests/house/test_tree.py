# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rules of the house: who includes whom, who knows the bus, and what every file looks like."""

import re
import subprocess
from pathlib import Path

import pytest

import tree
from tree import SOURCE, build_dir, c_files, read

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
GENERATED = {"record/schema.h", "probes/compute/kernels.h", "services/common/vtables.h"}
HOUSE = ("record", "state", "placement", "pki", "probes", "common", "state-client", "services", "clients")
# Records as sd-bus messages.
CODEC = {"record/record-bus.h", "record/update-bus.h"}
# Outside of services, the files that read messages as records and rows.
KNOW_CODEC = {"state-client/decode.c", "clients/common/holder-call.c", "clients/common/plan-call.c",
              "clients/common/series-call.c",
              "clients/alidadectl/links/verb-fabric.c", "clients/alidadectl/links/verb-topology.c",
              "clients/desktop/live/live-history.c"}
# Below state-client/ and clients/common/ these alone handle messages and connections.
KNOW_BUS = {"state-client/decode.c", "state-client/decode.h", "state-client/follow.c", "state-client/follow.h",
            "state-client/state-client.c", "state-client/value.c", "state-client/value.h",
            "clients/common/connection.c", "clients/common/finding-history.c", "clients/common/holder-call.c",
            "clients/common/probes/job-run.c", "clients/common/plan-call.c", "clients/common/probes/probe-lock.c",
            "clients/common/series-call.c"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def own_folder(path):
    return "/".join(path.parent.parts[:2 if path.parts[0] in ("services", "clients") else 1])


# The folders below each: whose headers its files may include besides their own.
BELOW = {
    "record": set(),
    "state": {"record"},
    "placement": {"record"},
    "pki": set(),
    "probes": {"pki", "record"},
    "common": {"record"},
    "state-client": {"record", "state", "common"},
    "services": {"services/common", "common", "record", "state"},
    "clients": {"clients/common", "state-client", "common", "record", "state"},
}
# What single folders may include besides.
BESIDES = {
    "services/cluster": {"pki"},
    "services/history": {"state-client"},
    "services/link-probe": {"probes/listen"},
    "services/placement": {"placement", "state-client"},
    "clients/common": {"placement"},
    "clients/alidadectl": {"clients/command-line", "placement"},
    "clients/desktop": {"placement"},
    "clients/cluster": {"clients/command-line", "pki"},
}


# A folder that stands alone, although it is a part of another one.
ALONE = "clients/desktop/layout"


def allowed_folders(path):
    """The folders whose headers a file may include."""
    if str(path.parent) == ALONE:
        return {ALONE}
    top = path.parts[0]
    own = own_folder(path)
    return {own} | BELOW[top] | BESIDES.get(own, set())


def test_includes_stay_in_their_house():
    wrong = []
    for path in c_files(*HOUSE):
        for included in INCLUDE.findall(read(path)):
            if not any(included.startswith(folder + "/") for folder in allowed_folders(path)):
                wrong.append(f"{path} includes {included}")
    assert wrong == []


def test_includes_are_from_the_root():
    wrong = [f"{path} includes {included}" for path in c_files(*HOUSE)
             for included in INCLUDE.findall(read(path))
             if included not in GENERATED and not (SOURCE / included).is_file()]
    assert wrong == []


def test_type_names_are_unique():
    """A name says what it is wherever it is read."""
    declared = {}
    for path in c_files(*HOUSE):
        text = read(path)
        for name in re.findall(r"^(?:typedef )?(?:struct|enum|union) (Ald\w+) \{", text, re.MULTILINE):
            declared.setdefault(name, []).append(str(path))
    assert {name: where for name, where in declared.items() if len(where) > 1} == {}


def test_file_names_are_unique():
    """A name says what is in it wherever it is read, and an editor opens the right one."""
    found = {}
    for path in c_files(*HOUSE, "tests"):
        found.setdefault(path.name, []).append(str(path))
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def called(objects):
    """Which of these object files each uses functions or data of."""
    owner, wanted = {}, {}
    for line in subprocess.run(["nm", "--print-file-name", *objects], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        path, words = line.rsplit(":", 1)
        *_, kind, name = words.split()
        if kind in "TDRBV" and name.startswith("ald_"):
            owner[name] = path
        elif kind == "U":
            wanted.setdefault(path, set()).add(name)
    return {path: {owner[name] for name in names if name in owner} - {path} for path, names in wanted.items()}


def test_what_all_users_run_has_no_code_for_keys():
    """alidadectl runs the administration of clusters as a program of its own."""
    dynamic = subprocess.run(["readelf", "--dynamic", build_dir() / "clients/alidadectl/alidadectl"], check=True,
                             text=True, stdout=subprocess.PIPE).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[lib(\w+)", dynamic))
    assert "systemd" in needed and not needed & {"crypto", "ssl", "mosquitto"}


def in_circles(uses):
    """What is left when all that uses nothing that is left has been taken away, and what only uses a circle."""
    while done := {name for name in uses if not uses[name] & uses.keys()}:
        uses = {name: used for name, used in uses.items() if name not in done}
    while done := {name for name in uses if not any(name in used for used in uses.values())}:
        uses = {name: used for name, used in uses.items() if name not in done}
    return sorted(uses)


def test_files_do_not_call_each_other_in_circles():
    """So that a reader can begin at the bottom."""
    objects = [path for top in HOUSE for path in (build_dir() / top).rglob("*.c.o")]
    uses = called(objects)
    assert len(uses) > 300
    assert in_circles(uses) == []


def test_folders_do_not_include_each_other_in_circles():
    """The same for rooms: who knows one of them needs to know only what is below it."""
    uses = {}
    for path in c_files(*HOUSE):
        used = {str(Path(included).parent) for included in INCLUDE.findall(read(path)) if included not in GENERATED}
        uses.setdefault(str(path.parent), set()).update(used - {str(path.parent)})
    assert len(uses) > 60
    assert in_circles(uses) == []


def test_the_bus_is_known_to_bus_files_only():
    """Managers and collectors never see an sd_bus_message."""
    wrong = []
    for path in c_files("record", "state", "placement", "pki", "probes", "services"):
        knows = own_folder(path) == "services/common" or path.stem.endswith("-bus")
        if not knows and CODEC & set(INCLUDE.findall(read(path))):
            wrong.append(f"{path} includes the codec")
        if not knows and re.search(r"\bsd_bus_(?!path_)", COMMENT.sub("", read(path))):
            wrong.append(str(path))
    assert wrong == []


def test_bus_files_decide_nothing_by_time():
    """When something is done, and how often, is decided where no message is handled. Delays of an AldBackOff are data,
    and how long a call may take is a part of the call."""
    policy = re.compile(r"\b(g_get_(monotonic|real)_time|ald_realtime_usec|clock_gettime|g_timeout_add\w*"
                        r"|ald_(timer|burst|time_share)_\w+|Ald(Timer|Burst|TimeShare))\b")
    files = [path for path in c_files("record", "services") if path.stem.endswith("-bus")]
    found = {str(path): sorted({match.group() for match in policy.finditer(COMMENT.sub("", read(path)))})
             for path in files}
    assert len(files) > 50
    assert {path: what for path, what in found.items() if what} == {}


def test_clients_read_messages_in_few_places():
    wrong = [f"{path} includes the codec" for path in c_files("common", "state-client", "clients")
             if str(path) not in KNOW_CODEC and CODEC & set(INCLUDE.findall(read(path)))]
    for path in c_files("state-client", "clients"):
        shared = path.parts[0] == "state-client" or own_folder(path) == "clients/common"
        if shared and str(path) not in KNOW_BUS and re.search(r"\bsd_bus_\w+\(", COMMENT.sub("", read(path))):
            wrong.append(f"{path} uses the bus")
    assert wrong == []


def test_shared_libraries_know_no_terminal():
    """A desktop and an exporter stand on them too: severity and tone come out, never colours or columns of a screen.
    In clients/common/columns, a column is that of a list."""
    terminal = re.compile(r"<(termios|sys/ioctl)|\b(isatty|printf|puts|fputs)\s*\(|\\(033|x1b)|ALD_STYLE_|\bcolumns?\b")
    found = {str(path): sorted({match.group()
                                for match in terminal.finditer(INCLUDE.sub("", COMMENT.sub("", read(path))))}
                               - ({"column", "columns"} if str(path.parent) == "clients/common/columns" else set()))
             for path in c_files("state-client", "clients")
             if path.parts[0] == "state-client" or own_folder(path) == "clients/common"}
    assert {path: what for path, what in found.items() if what} == {}


def test_own_interfaces_are_written_down_in_their_xml():
    found = [str(path) for path in c_files("services") if re.search(r"\bSD_BUS_(PROPERTY|METHOD|SIGNAL)", read(path))]
    assert found == [], "use the table of services/common/vtables.h"


def test_pure_logic_has_no_bus_no_files_no_clock():
    impure = re.compile(r"<(systemd|gio|sys/socket|fcntl|dirent|unistd|time)\b|\b(fopen|open|openat|clock_gettime"
                        r"|time|g_get_real_time|g_get_monotonic_time|g_file_\w+|getenv|g_getenv)\s*\(")
    found = {str(path): sorted({match.group() for match in impure.finditer(COMMENT.sub("", read(path)))})
             for path in c_files("record", "state") if not path.stem.endswith("-bus")}
    assert {path: what for path, what in found.items() if what} == {}


def is_source(path):
    """Written by hand for people to read: not a test's input, nor a file whose form knows no comments."""
    if any(part in ("corpus", "corpora", "data", "roots") for part in path.parts):
        return False
    if path.parts[0] == "debian":
        return path.name == "rules"
    return path.name != "COPYING" and path.suffix not in (".md", ".json", ".png", ".txt")


def test_every_file_names_its_licence():
    missing = []
    for path in tree.files():
        if is_source(path):
            head = "".join(read(path).splitlines(keepends=True)[:3])
            if "SPDX-License-Identifier: LGPL-2.1-or-later" not in head:
                missing.append(str(path))
    assert missing == []


def test_lines_fit():
    widths = {".c": 110, ".h": 110, ".py": 120, ".build": 120}
    long = [f"{path}:{number}" for path in tree.files() if path.suffix in widths
            for number, line in enumerate(read(path).splitlines(), 1) if len(line) > widths[path.suffix]]
    assert long == []


def test_names_of_files():
    kebab = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*\.[ch]")
    found = c_files(*HOUSE, "tests")
    assert [str(path) for path in found if not kebab.fullmatch(path.name)] == []


def test_nothing_is_left_for_later():
    marks = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b|/(work|Users)/\w")
    found = [f"{path}:{number}: {line.strip()}" for path in tree.files() if is_source(path) or path.suffix == ".md"
             for number, line in enumerate(read(path).splitlines(), 1) if marks.search(line)]
    assert found == []


@pytest.mark.parametrize("pattern, instead", [
    (r"\b(strcpy|strcat|sprintf|gets|strtok|alloca)\s*\(", "a bounded call"),
    (r"\b(system|popen)\s*\(", "a child without a shell"),
    (r"\busleep\s*\(|\bsleep\s*\(", "an event"),
], ids=["unbounded", "shell", "sleep"])
def test_calls_that_are_not_used(pattern, instead):
    found = [str(path) for path in c_files(*HOUSE)
             if re.search(pattern, COMMENT.sub("", read(path)))]
    assert found == [], f"use {instead}"


def print_who_includes_whom():
    """Whose headers the files of each folder may include, besides their own."""
    for folder in sorted({own_folder(path) for path in c_files(*HOUSE)} | {ALONE}):
        others = sorted(allowed_folders(Path(folder) / "x.c") - {folder})
        print(f"{folder:24} {' '.join(others) or '-'}")


if __name__ == "__main__":
    print_who_includes_whom()
