# SPDX-License-Identifier: LGPL-2.1-or-later
"""The manual pages hold what people look for there, as the tree has it."""

import re
import xml.etree.ElementTree as ElementTree

from tree import read


def page(path):
    return read(path).replace("\\-", "-")


def section(path, heading):
    """The text of a section or subsection, up to the next one."""
    parts = re.split(r"^\.S[HS] (.*)\n", page(path), flags=re.MULTILINE)
    found = dict(zip(parts[1::2], parts[2::2]))
    assert heading in found, f"{path} has no section {heading}"
    return found[heading]


def test_rights_name_every_action_of_polkit():
    policy = ElementTree.fromstring(read("polkit/org.alidade.policy"))
    actions = [action.get("id") for action in policy.iter("action")]
    text = section("services/alidade.7", "RIGHTS")
    assert actions and re.findall(r"^\.B (org\.alidade\.\S+)$", text, re.MULTILINE) == actions


def test_the_rule_is_that_of_the_example():
    example = "".join(line for line in read("polkit/50-alidade.rules.example").splitlines(keepends=True)
                      if not line.startswith("//"))
    assert f".EX\n{example}.EE\n" in section("services/alidade.7", "RIGHTS")


def test_first_steps_are_verbs_of_alidadectl():
    text = section("services/alidade.7", "First steps")
    verbs = re.findall(r'\{ "([a-z-]+)", \d', read("clients/alidadectl/alidadectl.c"))
    named = re.findall(r"^(?:sudo )?alidadectl ([a-z-]+)", text, re.MULTILINE)
    assert {"show", "findings", "cluster", "topology"} <= set(named) <= set(verbs)


def test_drivers_name_the_packages_for_opencl():
    text = section("services/alidade.7", "DRIVERS")
    for package in ("pocl-opencl-icd", "nvidia-opencl-icd", "intel-opencl-icd", "mesa-opencl-icd"):
        assert package in text


def test_a_machine_is_revoked_before_it_is_forgotten():
    commands = re.findall(r"^(?:sudo )?alidadectl (?:cluster )?(\w+)", section("clients/cluster/alidade-cluster.7",
                                                                              "Removing a machine"), re.MULTILINE)
    assert commands == ["leave", "revoke", "forget"]
