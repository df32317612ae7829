# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds other versions of Alidade than the one under test, for clusters that are upgraded node by node.

earlier   the commit that tests/bed/earlier-version names
next      a version that does not exist yet: the source under test with one more kind, field, and key in payloads

Both are kept in build/versions, or in the folder that ALIDADE_TEST_VERSIONS names, and only what has changed is built
again.
"""

import contextlib
import fcntl
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
from pathlib import Path

from .errors import BedFailure, Unavailable
from .services import SOURCE, Version

EARLIER = SOURCE / "tests/bed/earlier-version"
# What nodes of the bed run, which do not measure their links, and the probe that does.
TARGETS = ("services/identity/alidade-identityd", "services/telemetry/alidade-telemetryd",
           "services/telemetry/alidade-nvml", "services/telemetry/alidade-opencl-list",
           "services/state/alidade-stated", "services/cluster/alidade-clusterd", "services/broker/alidade-mosquitto.so",
           "clients/alidadectl/alidadectl", "clients/cluster/alidade-cluster", "probes/socket/alidade-probe-socket")
# Without debug information and optimization it takes half the time.
OPTIONS = ("-Dtests=false", "-Doptimization=0", "-Ddebug=false")
# What most files include, read once for a version that does not do so itself: compilers spend half of their time on it.
HEADERS = ("errno.h", "glib.h", "stdio.h", "stdlib.h", "string.h", "unistd.h", "systemd/sd-bus.h")
NOT_NEEDED = {".git", ".ci", "__pycache__", "debian", "tests"}

EXAMPLE = """<?xml version="1.0" encoding="UTF-8"?>
<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->
<node>
  <!-- org.alidade.Node1.Example: A kind that only a newer version knows. -->
  <interface name="org.alidade.Node1.Example">
    <annotation name="org.alidade.Mapping" value="Examples"/>
    <annotation name="org.alidade.Source" value="Identity1"/>
    <annotation name="org.alidade.Pace" value="occasional"/>
    <annotation name="org.alidade.SentTo" value="mirrors"/>
    <annotation name="org.alidade.Persistent" value="true"/>
    <!-- Text: A text. -->
    <property name="Text" type="s" access="read"/>
    <!-- SizeBytes: A number. -->
    <property name="SizeBytes" type="t" access="read">
      <annotation name="org.alidade.Unit" value="bytes"/>
    </property>
    <!-- Revision: Counts the changes of this record since its service started. -->
    <property name="Revision" type="t" access="read"/>
    <!-- UpdatedUSec: When the source last sent this record: CLOCK_REALTIME of the source in µs. -->
    <property name="UpdatedUSec" type="t" access="read"/>
  </interface>
</node>
"""
KIND = "Node1.Example"
FIELD = "Example"
TEXT = "of a newer version"


class Source:
    """The files of a version, in memory."""

    def __init__(self, files):
        self.files = files  # {path: (mode, bytes)}

    @classmethod
    def of_tree(cls):
        """What lies here, whether it is committed or not."""
        files = {}
        for folder, names, found in os.walk(SOURCE):
            names[:] = [name for name in names if name not in NOT_NEEDED and not name.startswith(("build", "_build"))]
            for name in found:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    files[os.path.relpath(path, SOURCE)] = (os.fstat(file.fileno()).st_mode & 0o777, file.read())
        return cls(files)

    @classmethod
    def of_commit(cls, commit):
        files = {}
        with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", commit).stdout)) as archive:
            for member in archive:
                if member.isfile() and member.name.partition("/")[0] not in NOT_NEEDED:
                    files[member.name] = (member.mode & 0o777, archive.extractfile(member).read())
        return cls(files)

    def targets(self):
        """An earlier version may have fewer programs."""
        return [target for target in TARGETS if f"{target.rpartition('/')[0]}/meson.build" in self.files]

    def change(self, path, pattern, replacement):
        """What has to be there once."""
        mode, content = self.files[path]
        text, count = re.subn(pattern, replacement, content.decode(), flags=re.MULTILINE | re.DOTALL)
        if count != 1:
            raise BedFailure(f"{path} has {pattern!r} {count} times: change next_source() with it")
        self.files[path] = (mode, text.encode())

    def write(self, folder):
        """What has not changed stays untouched, so that it is not built again."""
        for parent, _, names in os.walk(folder):
            for name in names:
                path = os.path.join(parent, name)
                if os.path.relpath(path, folder) not in self.files:
                    os.unlink(path)
        for path, (mode, content) in self.files.items():
            target = folder / path
            if target.exists() and target.read_bytes() == content:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(mode)


def git(*words, check=True):
    """In a tree that may belong to somebody else, as under sudo."""
    if shutil.which("git") is None:
        raise Unavailable("git is not installed")
    return subprocess.run(["git", "-c", f"safe.directory={SOURCE}", "-C", SOURCE, *words], check=check,
                          capture_output=True)


def earlier_source():
    named = [line for line in EARLIER.read_text().splitlines() if line and not line.startswith("#")]
    if not named:
        raise Unavailable("tests/bed/earlier-version names no commit yet")
    if git("rev-parse", "--git-dir", check=False).returncode != 0:
        raise Unavailable("the source is no clone of the repository, so an earlier version is not at hand")
    if git("merge-base", "--is-ancestor", named[0], "HEAD", check=False).returncode != 0:
        raise Unavailable(f"the earlier version, {named[0]}, is not among the commits of this clone that led to HEAD")
    return Source.of_commit(named[0])


def next_source():
    """Each way in which a contract may grow, once: a kind, a field of a known record, and a key in each payload below
    alidade/1/ and in each message between link probes."""
    source = Source.of_tree()
    source.change("meson.build", r"^  version: '([^']+)'", r"  version: '\1+next'")
    source.files[f"dbus-interfaces/org.alidade.{KIND}.xml"] = (0o644, EXAMPLE.encode())
    source.change("dbus-interfaces/meson.build", "^  'org.alidade.Link1.Socket.xml'",
                  rf"  'org.alidade.{KIND}.xml',\n\g<0>")
    source.change("dbus-interfaces/org.alidade.Node1.Identity.xml", "^    <!-- Revision:",
                  rf'    <!-- {FIELD}: A text. -->\n    <property name="{FIELD}" type="s" access="read"/>\n\g<0>')
    identity = "services/identity/identity-bus.c"
    source.change(identity, r"^        AldRecordExport \*export;", r"\g<0>\n        AldRecordExport *example;")
    source.change(identity, r"^        r = ald_record_export_new\(service, PATH, ALD_KIND_IDENTITY, &bus->export\);",
                  r"\g<0>\n        if (r >= 0)\n"
                  r"                r = ald_record_export_new(service, PATH, ALD_KIND_EXAMPLE, &bus->example);")
    source.change(identity, r"^        ald_record_export_free\(bus->export\);",
                  r"\g<0>\n        ald_record_export_free(bus->example);")
    source.change(identity, r"^        ald_record_export_update\(bus->export, identity\);",
                  "        AldIdentity grown = *identity;\n"
                  f'        const AldExample example = {{ .text = "{TEXT}", .size_bytes = 42 }};\n\n'
                  f'        grown.example = "{TEXT}";\n'
                  "        ald_record_export_update(bus->export, &grown);\n"
                  "        ald_record_export_update(bus->example, &example);")
    grow_payloads(source)
    return source


def grow_payloads(source):
    """Whatever writes them: one more key comes first."""
    key = r'"{\\"Example\\":[{\\"Is\\":null}],%s"'
    source.change("services/cluster/own/own-status.c", r"^        return (ald_\w+\([^;]*&status\));",
                  rf"        g_autofree char *written = \1;\n\n        return g_strdup_printf({key}, written + 1);")
    source.change("services/cluster/own/announcer.c",
                  r"^(static void publish_to_first\(\s*AldAnnouncer \*announcer, const char \*topic, "
                  r"const char \*)payload(, .*?\{\n)",
                  r"\1written\2"
                  "        bool grows = written && written[0] == '{'; /* not a revocation list */\n"
                  rf"        g_autofree char *grown = grows ? g_strdup_printf({key}, written + 1) : NULL;" "\n"
                  "        const char *payload = grows ? grown : written;\n")
    source.change("record/message.c",
                  r'^        return text \? g_strconcat\(ald_kinds\[kind\]\.name, " ", text, NULL\)',
                  r'''        return text ? g_strconcat(ald_kinds[kind].name, " {\"Example\":[{\"Is\":null}]",''' "\n"
                  r'''                                text[1] == '}' ? "" : ",", text + 1, NULL)''')


@contextlib.contextmanager
def alone(folder):
    """One process at a time builds there."""
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(argv, **options):
    done = subprocess.run(argv, **options, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          check=False)
    if done.returncode != 0:
        raise BedFailure(f"{argv} ended with {done.returncode}\n{done.stdout.decode(errors='replace')}")


def precompile(made, header):
    """With the options of a library of that build; a file with others reads the header itself."""
    entry = json.loads((made / "compile_commands.json").read_text())[0]
    words = shlex.split(entry["command"])
    run([*words[:words.index("-MD")], "-x", "c-header", header, "-o", f"{header}.gch"], cwd=made)


def configure(made, source, folder):
    """Some programs lack the include paths of these headers."""
    if "precompiled.h" in source.files:
        run(["meson", "setup", *OPTIONS, made, folder])
        return
    header = made.parent / "headers.h"
    header.write_text("".join(f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in HEADERS))
    run(["meson", "setup", *OPTIONS, f"-Dc_args=-include {header}", made, folder])
    precompile(made, header)


def build(name):
    """Returns the Version of this name; Unavailable tells why there is none."""
    source = SOURCES[name]()
    folder = Path(os.environ.get("ALIDADE_TEST_VERSIONS") or SOURCE / "build/versions") / name
    with alone(folder):
        source.write(folder / "source")
        made = folder / "build"
        if not (made / "build.ninja").exists():
            configure(made, source, folder / "source")
        run(["ninja", "-C", made, *source.targets()])
    return Version(made, folder / "source")


SOURCES = {"earlier": earlier_source, "next": next_source}
