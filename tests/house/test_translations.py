# SPDX-License-Identifier: LGPL-2.1-or-later
"""Texts that are marked for translation, in the desktop program and in what it shares with others: all of them are
found and translated, as wholes, and nobody else is translated."""

import ast
import re
import shutil
import subprocess

import pytest

from tree import SOURCE, c_files, read

HOUSE = ("clients", "common", "pki", "probes", "record", "services", "state", "state-client")
# What marks a text for translation.
MARKED = re.compile(r"(?<![\w#])(?:N?C?_|ngettext) ?\(")
KEYWORDS = ["--keyword=_", "--keyword=N_", "--keyword=C_:1c,2", "--keyword=NC_:1c,2"]
MARKS = "record/translate.h"
LANGUAGES = [line for line in read("po/LINGUAS").split("\n") if line and not line.startswith("#")]
PLACEHOLDER = re.compile(r"\{(\w+)\}")

needs_gettext = pytest.mark.skipif(not shutil.which("msgmerge"), reason="gettext is not installed")


def gettext(program, *arguments):
    return subprocess.run([program, *arguments], cwd=SOURCE, check=True, capture_output=True, text=True).stdout


def make_template(folder):
    template = folder / "alidade.pot"
    gettext("xgettext", "--from-code=UTF-8", "--add-location=file", *KEYWORDS,
            "--files-from=po/POTFILES.in", f"--output={template}")
    return template


def entries(text):
    """The entries of a .po file, without its head: {keyword: string}."""
    found = []
    for block in text.split("\n\n"):
        fields = re.findall(r'^(msg\w+(?:\[\d\])?) ((?:".*"\n?)+)', block, re.MULTILINE)
        found.append({name: "".join(ast.literal_eval(line) for line in strings.splitlines())
                      for name, strings in fields})
    return [entry for entry in found if entry.get("msgid")]


def test_files_with_texts_are_listed():
    listed = [line for line in read("po/POTFILES.in").splitlines() if not line.startswith("#")]
    marked = {str(path) for path in c_files(*HOUSE) if str(path) != MARKS and MARKED.search(read(path))}
    data = SOURCE / "clients/desktop/data"
    marked |= {str(path.relative_to(SOURCE)) for path in data.rglob("*.ui") if 'translatable="yes"' in path.read_text()}
    marked |= {str(path.relative_to(SOURCE)) for suffix in ("desktop.in", "gschema.xml", "metainfo.xml.in")
               for path in data.glob(f"*.{suffix}")}
    assert listed == sorted(marked)


def test_only_the_desktop_program_is_translated():
    """The others choose no language, so what they share with it stays English."""
    chooses = re.compile(r"\b(bindtextdomain|bind_textdomain_codeset|textdomain)\s*\("
                         r"|\bsetlocale\s*\(\s*(?!LC_CTYPE\b)")
    found = {str(path) for path in c_files(*HOUSE) if chooses.search(read(path))}
    assert found == {"clients/desktop/alidade-desktop.c"}


def test_pure_code_is_marked_by_one_header():
    """<glib/gi18n.h> translates in the domain of the program, whichever it is."""
    found = {str(path) for path in c_files("clients", "common", "record", "state", "state-client")
             if "<glib/gi18n" in read(path) and path.parts[:2] != ("clients", "desktop")}
    assert found == {MARKS}


@needs_gettext
@pytest.mark.parametrize("language", LANGUAGES)
def test_translations_are_complete(language, tmp_path):
    merged = tmp_path / "merged.po"
    gettext("msgmerge", "--quiet", "--no-fuzzy-matching", f"--output-file={merged}", f"po/{language}.po",
            make_template(tmp_path))
    gettext("msgfmt", "--check", "--check-accelerators=_", "--output-file=/dev/null", merged)
    for kind in "--untranslated", "--only-fuzzy":
        assert entries(gettext("msgattrib", kind, "--no-obsolete", merged)) == []


@needs_gettext
def test_texts_are_found_as_wholes(tmp_path):
    """xgettext reads no macros: it ends a text where one stands."""
    texts = [text for entry in entries(make_template(tmp_path).read_text(encoding="utf-8"))
             for name, text in entry.items() if name in ("msgid", "msgid_plural")]
    assert len(texts) > 400
    assert [text for text in texts if text.endswith("%") and not text.endswith(("%%", " %"))] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_placeholders_survive_translation(language):
    """Those of findings, which msgfmt does not know."""
    checked = 0
    for entry in entries(read(f"po/{language}.po")):
        expected = {*PLACEHOLDER.findall(entry["msgid"])}
        for name, text in entry.items():
            if name.startswith("msgstr"):
                assert ({*PLACEHOLDER.findall(text)}, text.count("{"), text.count("}")) == (
                    expected, len(PLACEHOLDER.findall(text)), len(PLACEHOLDER.findall(text))), text
                checked += bool(expected)
    assert checked > 50
