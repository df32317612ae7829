# SPDX-License-Identifier: LGPL-2.1-or-later
"""What alidade-historyd writes to the journal, its catalog and its manual page name the same messages and fields."""

import re

from tree import read

ID = re.compile(r"\b[0-9a-f]{32}\b")


def test_message_ids_agree():
    code = re.findall(r'^#define (\w+)_ID "([0-9a-f]{32})"$', read("services/history/finding-journal.c"), re.MULTILINE)
    assert [name for name, _ in code] == ["BEGAN", "ENDED"]
    catalog = read("services/history/alidade.catalog")
    subjects = re.findall(r"^-- (\w+)\nSubject: Finding @ALIDADE_FINDING@ (\w+)$", catalog, re.MULTILINE)
    assert [(word.upper(), id_) for id_, word in subjects] == code
    page = read("services/history/alidade-historyd.8")
    told = re.findall(r"^([0-9a-f]{32}) for (?:a beginning|an end)[,.]$", page, re.MULTILINE)
    assert told == ID.findall(page) == [id_ for _, id_ in code]


def test_fields_agree():
    written = set(re.findall(r'"(ALIDADE_\w+)"', read("services/history/finding-journal.c")))
    assert set(re.findall(r"@(\w+)@", read("services/history/alidade.catalog"))) <= written
    assert set(re.findall(r"\bALIDADE_\w+", read("services/history/alidade-historyd.8"))) == written
