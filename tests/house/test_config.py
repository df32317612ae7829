# SPDX-License-Identifier: LGPL-2.1-or-later
"""alidade.conf and its manual page tell the keys and defaults that the daemons have."""

import math
import re

from tree import c_files, read

ENTRY = re.compile(r'\{\s*(?:\.group = )?"([a-z-]+)",\s*(?:\.key = )?"([a-z0-9-]+)",\s*(?:\.type = )?ALD_CONFIG_(\w+)'
                   r'([^{}]*)\}')


def keys_of_the_daemons():
    """{(group, key): (default, bounds)}"""
    found = {}
    for path in c_files("common", "services", "clients"):
        # What several daemons know is a macro, whose lines end in backslashes.
        for group, key, type, rest in ENTRY.findall(re.sub(r"\\$", "", read(path), flags=re.MULTILINE)):
            default = re.search(r'"([^"]*)"', rest).group(1)
            numbers = re.findall(r"(?<![\w\"])\d[\d *]*", rest.partition('"')[0])
            bounds = tuple(math.prod(map(int, number.split("*"))) for number in numbers) if type == "UINT" else None
            assert (group, key) not in found, f"{path} lists [{group}] {key} again"
            found[group, key] = (default, bounds)
    return found


def test_every_key_is_said_to_protect_or_not():
    """And what takes the place of a refused value, if it is not the default."""
    section = read("docs/attackers.md").partition("\n## Keys that protect\n")[2].partition("\n## ")[0]
    said, shut = set(), {}
    for group, keys, then in re.findall(r"^\| \[([a-z-]+)\] ([^|]*) \|[^|]*\| ([^|]*) \|$", section, re.MULTILINE):
        for key in re.findall("`([^`]+)`", keys):
            said.add((group, key))
            shut[group, key] = re.match("[a-z]*", then)[0]
    others = re.search(r"^The others \((.*)\) only choose", section, re.MULTILINE)[1]
    known = keys_of_the_daemons()
    said |= {name for name in known if f"`{name[1]}`" in others}
    assert said == known.keys()
    found = {(group, key): re.search(r'\.shut = "([^"]*)"', rest)[1]
             for path in c_files("common", "services", "clients")
             for group, key, _, rest in ENTRY.findall(re.sub(r"\\$", "", read(path), flags=re.MULTILINE))
             if ".shut" in rest}
    assert found and {name: shut[name] for name in found} == found


def test_no_key_is_in_two_groups():
    """A key that stands in another group than its own is known to be misplaced."""
    names = [key for _, key in keys_of_the_daemons()]
    assert len(set(names)) == len(names)


def test_commented_file_shows_every_default():
    shown, group = {}, None
    for line in read("services/alidade.conf").splitlines():
        heading, entry = re.fullmatch(r"\[([a-z-]+)\]", line), re.fullmatch(r"#([a-z0-9-]+)=(.*)", line)
        if heading:
            group = heading.group(1)
        elif entry:
            shown[group, entry.group(1)] = entry.group(2)
    assert shown == {name: default for name, (default, _) in keys_of_the_daemons().items()}
    assert shown


def test_page_tells_every_key_default_and_bounds():
    page = read("services/alidade.conf.5").replace("\\-", "-")
    told, bounds = {}, {}
    for section in page.split(".SH ")[1:]:
        group = re.match(r'"\[([A-Z-]+)\]"', section)
        for key, default, words in re.findall(r'^\.BR (\S+) " = (.*)"\n((?:[^.].*\n)*)', section, re.MULTILINE):
            name = group.group(1).lower(), key
            told[name] = default
            range_ = re.search(r"; (\d+) to (\d+)\.", words)
            bounds[name] = tuple(map(int, range_.groups())) if range_ else None
    keys = keys_of_the_daemons()
    assert told == {name: default for name, (default, _) in keys.items()}
    assert bounds == {name: wanted for name, (_, wanted) in keys.items()}
