# SPDX-License-Identifier: LGPL-2.1-or-later
"""The D-Bus XML of Alidade: documented, compilable, and one with the errors and the pages that name it."""

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from tree import SOURCE, build_dir, read

INTERFACES = SOURCE / "dbus-interfaces"
sys.path.insert(0, str(INTERFACES))
import man  # noqa: E402
import schema  # noqa: E402

XML = sorted([*INTERFACES.glob("*.xml"), *build_dir().glob("dbus-interfaces/*.xml")])
LOADED = {path.stem: schema.load(path) for path in XML}
ALL = [interface for found in LOADED.values() for interface in found]
MESSAGES = [message for path in sorted((SOURCE / "record" / "messages").glob("*.xml")) for message in schema.load(path)]
each_interface = pytest.mark.parametrize("interface", ALL, ids=lambda interface: interface.name)


def everything_named(interface):
    """(path, documentation) of the interface and of all that it holds."""
    yield interface.name, interface.doc
    for member in interface.members:
        yield f"{interface.name}.{member.name}", member.doc
        _, words = man.split_arguments(member.doc)
        for argument in member.element.findall("arg"):
            yield f"{interface.name}.{member.name}.{argument.get('name')}", words.get(argument.get("name"))
    for field in interface.fields:
        for sub in field.row_fields:
            yield f"{interface.name}.{field.name}.{sub.name}", sub.doc


@pytest.mark.parametrize("interface", ALL + MESSAGES, ids=lambda interface: interface.name)
def test_everything_is_documented(interface):
    assert [name for name, doc in everything_named(interface) if not doc or not doc.strip()] == []


@each_interface
def test_documentation_names_no_stranger(interface):
    """An @Argument that is described is one that there is."""
    for member in interface.members:
        _, words = man.split_arguments(member.doc)
        assert set(words) <= {argument.get("name") for argument in member.element.findall("arg")}


def test_each_file_is_named_after_its_interface():
    assert {stem: [interface.name for interface in found] for stem, found in LOADED.items()} \
        == {stem: [stem] for stem in LOADED}


def test_messages_are_no_interfaces():
    assert MESSAGES != [] and all(message.is_message for message in MESSAGES)
    assert not any(interface.is_message for interface in ALL)


def test_each_file_is_installed():
    """Those that are made are listed by the name of what they are made of."""
    listed = set(re.findall(r"'(org\.alidade\.\S+)\.xml(?:\.in)?'", read("dbus-interfaces/meson.build")))
    made = {path.name.removesuffix(".xml.in") for path in INTERFACES.glob("*.xml.in")}
    assert made == {path.stem for path in build_dir().glob("dbus-interfaces/*.xml")}
    assert listed == set(LOADED)


@each_interface
def test_names_are_camel_case_and_units_agree(interface):
    suffixes = {"Bytes": "bytes", "BitsPerSecond": "bits per second", "BytesPerSecond": "bytes per second",
                "NSec": "nanoseconds", "MilliCelsius": "millicelsius", "MicroWatts": "microwatts",
                "ClockHz": "hertz", "Tflops": "teraflops"}
    for member in interface.members:
        assert re.fullmatch(r"([A-Z][a-z0-9]*)+", member.name), member.name
    for field in interface.fields + [sub for field in interface.fields for sub in field.row_fields]:
        expected = next((unit for suffix, unit in suffixes.items() if field.name.endswith(suffix)), None)
        if expected:
            assert field.unit == expected, f"{interface.name}: {field.name}"


@each_interface
def test_records_are_read_only_and_writing_is_a_method(interface):
    for member in interface.members:
        if member.element.tag == "property":
            assert member.element.get("access") == "read", member.name


def test_every_mapping_has_its_call():
    state = LOADED["org.alidade.State1"][0]
    calls = {member.name for member in state.members}
    assert {f"Get{interface.mapping}" for interface in ALL if interface.is_record} <= calls


def test_structs_have_different_names():
    structs = [interface.struct for interface in ALL if interface.is_record]
    rows = [field.row for interface in ALL for field in interface.fields if field.row]
    assert len(set(structs + rows)) == len(structs + rows)


def test_errors_named_are_errors_defined():
    defined = set(re.findall(r'"(org\.alidade\.Error\.\w+)"', read("common/error-names.h")))
    named = {error for path in XML
             for error in re.findall(r"org\.alidade\.Error\.\w+", path.read_text(encoding="utf-8"))}
    assert named == defined


def test_polkit_actions_named_are_actions_defined():
    defined = set(re.findall(r'<action id="([^"]+)"', read("polkit/org.alidade.policy")))
    named = {action for path in XML for action in
             re.findall(r"polkit action\s+(org\.alidade[\w.-]+\w)", path.read_text(encoding="utf-8"))}
    assert named == defined


@pytest.mark.skipif(not shutil.which("gdbus-codegen"), reason="gdbus-codegen is not installed")
def test_gdbus_codegen_compiles(tmp_path):
    """What a GLib client generates from the contract is C without a warning."""
    subprocess.run(["gdbus-codegen", f"--generate-c-code={tmp_path}/alidade", "--c-namespace", "Ald",
                    "--interface-prefix", "org.alidade.", "--c-generate-object-manager", *XML], check=True)
    flags = subprocess.run(["pkg-config", "--cflags", "gio-unix-2.0"], check=True, capture_output=True, text=True)
    done = subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-fsyntax-only", "-Wall", "-Werror",
                           *shlex.split(flags.stdout), tmp_path / "alidade.c"], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr


def pages():
    return sorted(build_dir().glob("dbus-interfaces/*.5")) + sorted(
        path for folder in ("services", "clients", "probes") for suffix in "1578"
        for path in (SOURCE / folder).rglob(f"*.{suffix}"))


@pytest.mark.skipif(not shutil.which("man"), reason="man is not installed")
def test_pages_are_clean():
    found = pages()
    assert len(found) > len(XML)
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANWIDTH": "80"}
    for page in found:
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", page], env=environment,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), page


def test_pages_refer_to_pages_that_exist():
    """See-also within Alidade."""
    names = {page.name for page in pages()}
    for page in pages():
        for name, section in re.findall(r"^\.BR (\S*alidade\S*) \((\d)\)", page.read_text(), re.MULTILINE):
            assert f"{name}.{section}".replace("\\", "") in names, page
