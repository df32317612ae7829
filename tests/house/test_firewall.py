# SPDX-License-Identifier: LGPL-2.1-or-later
"""The firewall files open the ports on which the programs listen."""

import configparser
import re
import xml.etree.ElementTree as ET

from tree import SOURCE, read


def constant(path, name):
    return int(re.search(rf'#define {name} "?(\d+)', read(path))[1])


def listened_on():
    first = constant("probes/socket/transfer/socket-options.h", "ALD_SOCKET_PORT")
    last = first + constant("probes/socket/transfer/socket-options.h", "ALD_SOCKET_DATA_PORTS")
    rdma = int(re.search(r"\.port = (\d+),", read("probes/rdma/rdma-options.c"))[1])
    broker = constant("services/cluster/mqtt/broker-address.h", "ALD_BROKER_PORT")
    return {"link-probe": {(first, last), (rdma, rdma)}, "broker": {(broker, broker)}}


def span(text, separator):
    first, _, last = text.partition(separator)
    return int(first), int(last or first)


def test_the_default_of_the_service_is_that_of_its_probe():
    port = str(constant("probes/socket/transfer/socket-options.h", "ALD_SOCKET_PORT"))
    assert re.search(r'\.key = "port"[^}]*\.fallback = "(\d+)"', read("services/link-probe/probe/link-probe-config.c"),
                     re.DOTALL)[1] == port


def test_services_of_firewalld():
    """Their elements are those of firewalld.service(5)."""
    told = {}
    for path in (SOURCE / "firewall").glob("alidade-*.xml"):
        root = ET.parse(path).getroot()
        assert root.tag == "service" and [child.tag for child in root][:2] == ["short", "description"]
        assert {child.tag for child in root} == {"short", "description", "port"}
        assert {port.get("protocol") for port in root.iter("port")} == {"tcp"}
        told[path.stem.removeprefix("alidade-")] = {span(port.get("port"), "-") for port in root.iter("port")}
    assert told == listened_on()


def test_applications_of_ufw():
    profiles = configparser.ConfigParser()
    profiles.read(SOURCE / "firewall/alidade.ufw")
    told = {}
    for name in profiles.sections():
        assert set(profiles[name]) == {"title", "description", "ports"}
        ports, protocol = profiles[name]["ports"].split("/")
        assert protocol == "tcp"
        told[name] = {span(port, ":") for port in ports.split(",")}
    assert told == {"Alidade link probes": listened_on()["link-probe"], "Alidade broker": listened_on()["broker"]}
