# SPDX-License-Identifier: LGPL-2.1-or-later
"""identityd on a bus: where its values come from, who may name the machine, and what becomes of bad input."""

import os
import signal

import pytest
from gi.repository import GLib

from bedlib import BusError, StandIn
from bedlib.fixtures import needs_namespaces
from contract import assert_follows

NAME = "org.alidade.Identity1"
PATH = "/org/alidade/Identity1"
RECORD = (NAME, PATH, "org.alidade.Node1.Identity")
ACTION = "org.alidade.identity.set-friendly-name"
HOSTNAME1 = "org.freedesktop.hostname1"
HOSTNAME1_PATH = "/org/freedesktop/hostname1"
PROPERTIES = "org.freedesktop.DBus.Properties"
INVALID_ARGS = "org.freedesktop.DBus.Error.InvalidArgs"
NOT_STORED = "org.alidade.Error.NotStored"
REFUSALS = {"org.freedesktop.DBus.Error.AccessDenied",
            "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"}
APP_ID = "6d024f1e68ee4c01932314de4590e8f4"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may name the machine without polkit")

HOSTNAME1_XML = f"""<node><interface name="{HOSTNAME1}">
<property name="PrettyHostname" type="s" access="read"/>
<property name="StaticHostname" type="{{}}" access="read"/>
<property name="Chassis" type="s" access="read"/>
</interface></node>"""


def get(host, name):
    return host.get(*RECORD, name)


def wait_for(host, name, value):
    return host.wait_for_property(*RECORD, name, lambda found: found == value)


def set_name(host, name, user=None):
    host.call(NAME, PATH, NAME, "SetFriendlyName", "s", (name,), user=user)


def refused(host, name, user=None):
    """The error of an attempt to name the machine, after which the old name must still be there."""
    before = get(host, "FriendlyName"), get(host, "Revision")
    with pytest.raises(BusError) as error:
        set_name(host, name, user)
    assert (get(host, "FriendlyName"), get(host, "Revision")) == before
    return error.value.name


def kept_name(host):
    return host.state_directory("identityd") / "friendly-name"


# What it tells


def test_first_values(make_host):
    host = make_host(sysroot=True, daemons=["identityd"])
    # Told before the name was there, so nobody has to wait for them.
    record = host.connection().get_all(*RECORD)
    assert record.pop("Revision") == 1
    assert record.pop("UpdatedUSec") > 1_700_000_000_000_000
    assert record == {
        "FriendlyName": "bed", "HostName": "bed", "ChipId": "Bed CPU", "OperatingSystem": "Bed Linux 1",
        "KernelRelease": "6.1.0-bed",
        "BootId": "00112233445566778899aabbccddeeff",
        "AlidadeVersion": host.alidadectl("--version").stdout.split()[1],
        # Absent: this root says nothing about them.
        "ModelId": "", "Vendor": "", "Chassis": "", "Hypervisor": "", "Architecture": ""}
    assert_follows(host.connection(), NAME, PATH, [NAME, RECORD[2]])


def test_this_machine(make_host):
    host = make_host(daemons=["identityd"])
    assert get(host, "KernelRelease") == os.uname().release
    assert get(host, "Architecture") == os.uname().machine
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as boot_id:
        assert get(host, "BootId") == boot_id.read().strip().replace("-", "")
    assert get(host, "OperatingSystem")
    assert get(host, "ChipId")


def test_broken_sources_cost_their_own_fields(make_host):
    host = make_host(sysroot=True)
    host.sysroot.mkdir("sys/class/dmi/id/sys_vendor")
    host.sysroot.write("sys/class/dmi/id/product_name", "Still here\n")
    host.sysroot.write("etc/os-release", b"\x00\xff" * 100_000)
    host.sysroot.remove("proc/cpuinfo")
    os.mkfifo(host.sysroot.dir / "proc/cpuinfo")
    daemon = host.start_daemon("identityd")
    assert get(host, "ModelId") == "Still here"
    assert get(host, "FriendlyName") == "bed"
    assert [get(host, name) for name in ("Vendor", "OperatingSystem", "ChipId")] == ["", "", ""]
    for path in ("sys/class/dmi/id/sys_vendor", "etc/os-release", "proc/cpuinfo"):
        assert daemon.log_text().count(f"Cannot read {path}") == 1


def test_reload_sees_an_upgraded_system(make_host):
    host = make_host(sysroot=True, daemons=["identityd"])
    host.sysroot.write("etc/os-release", "PRETTY_NAME='Bed Linux 2'\n")
    host.daemons[0].signal(signal.SIGHUP)
    wait_for(host, "OperatingSystem", "Bed Linux 2")


@pytest.mark.parametrize("path, target", [("etc/os-release", None), ("usr/lib/os-release", None),
                                          ("usr/lib/os-release", "../usr/lib/os-release"),
                                          ("usr/share/this/release-of-1", "../usr/share/this/release-of-1")])
def test_an_upgraded_system_is_seen(make_host, path, target):
    """Its file is replaced, be it the one in etc, the one behind that, or what a link leads to."""
    host = make_host(sysroot=True)
    host.sysroot.remove("etc/os-release")
    host.sysroot.write(path, "PRETTY_NAME='Bed Linux 2'\n")
    if target:
        host.sysroot.link("etc/os-release", target)
    (host.sysroot.dir / "usr/lib").mkdir(parents=True, exist_ok=True)
    host.start_daemon("identityd")
    assert get(host, "OperatingSystem") == "Bed Linux 2"
    host.sysroot.write(path, "PRETTY_NAME='Bed Linux 3'\n")
    wait_for(host, "OperatingSystem", "Bed Linux 3")
    # The link itself may be replaced, by one that leads elsewhere.
    host.sysroot.write("usr/lib/os-release-4", "PRETTY_NAME='Bed Linux 4'\n")
    host.sysroot.link("etc/os-release", "../usr/lib/os-release-4")
    wait_for(host, "OperatingSystem", "Bed Linux 4")
    host.sysroot.write("usr/lib/os-release-4", "PRETTY_NAME='Bed Linux 5'\n")
    wait_for(host, "OperatingSystem", "Bed Linux 5")


def test_dmi_is_read_again(make_host):
    """Nothing signals its change, so it is seen when all records are sent again."""
    host = make_host(sysroot=True, daemons=["identityd"])
    host.sysroot.write("sys/class/dmi/id/product_name", "Docked\n")
    host.wait_for_property(*RECORD, "ModelId", lambda found: found == "Docked", deadline=60)


@needs_namespaces
def test_follows_the_kernel_where_there_is_no_hostname1(make_host):
    host = make_host(daemons=["identityd"])
    assert get(host, "FriendlyName") == host.name
    host.run(["sh", "-c", "echo renamed >/proc/sys/kernel/hostname"])
    wait_for(host, "FriendlyName", "renamed")


# The node id


@needs_namespaces
def test_node_id_is_systemds(make_host):
    host = make_host(daemons=["identityd"])
    node_id = host.get(NAME, PATH, NAME, "NodeId")
    derived = host.run(["systemd-id128", "machine-id", f"--app-specific={APP_ID}"]).stdout.strip()
    assert node_id == derived
    assert host.machine_id not in node_id


def test_node_id_of_a_stand_in(make_host):
    machine_id = "0123456789abcdef0123456789abcdef"
    ids = []
    for _ in range(2):
        host = make_host(daemons=["identityd"], environment={"ALIDADE_MACHINE_ID": machine_id})
        ids.append(host.get(NAME, PATH, NAME, "NodeId"))
    assert ids[0] == ids[1] != machine_id


@needs_namespaces
@pytest.mark.parametrize("damage", ["rm /etc/machine-id", ": >/etc/machine-id", "echo uninitialized >/etc/machine-id"])
def test_without_machine_id_the_remedy_is_named(make_host, damage):
    host = make_host()
    host.run(["sh", "-c", damage])
    daemon = host.start_daemon("identityd", wait=False)
    daemon.expect_exit(1)
    assert "systemd-machine-id-setup" in daemon.log_text()


# The name that somebody gives


@needs_root
def test_name_is_set_kept_and_given_back(make_host):
    host = make_host(sysroot=True, daemons=["identityd"])
    set_name(host, "Grüße, 机器 7")
    wait_for(host, "FriendlyName", "Grüße, 机器 7")
    assert get(host, "Revision") == 2
    assert kept_name(host).read_text() == "Grüße, 机器 7\n"

    host.daemons[0].stop()
    host.start_daemon("identityd")
    assert get(host, "FriendlyName") == "Grüße, 机器 7"

    set_name(host, "")
    wait_for(host, "FriendlyName", "bed")
    assert not kept_name(host).exists()


@needs_root
def test_same_name_again_is_no_change(make_host):
    host = make_host(sysroot=True, daemons=["identityd"])
    set_name(host, "Once")
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged") as changes:
        set_name(host, "Once")
        set_name(host, "Twice")
        changes.wait()
    assert changes.received[0].args[1]["FriendlyName"] == "Twice"


UNUSABLE_NAMES = ["a\nb", "\x1b[31mred", "x" * 65, " ", "x" * 1_000_000, "‮reversed", "a\ufffeb",
                  "\u3164\u2800"]


def test_unusable_names(make_host):
    host = make_host(sysroot=True, daemons=["identityd"])
    for name in UNUSABLE_NAMES:
        assert refused(host, name) == INVALID_ARGS, ascii(name[:70])
        assert not kept_name(host).exists(), ascii(name[:70])


def test_wrong_types(make_host):
    host = make_host(sysroot=True, daemons=["identityd"])
    for signature, args in (("u", (1,)), ("", ()), ("ss", ("a", "b")), ("as", (["a"],))):
        with pytest.raises(BusError) as error:
            host.call(NAME, PATH, NAME, "SetFriendlyName", signature, args)
        assert error.value.name == INVALID_ARGS, signature
        assert get(host, "FriendlyName") == "bed", signature


@needs_namespaces
@pytest.mark.parametrize("service_users", [False, True], ids=["as root", "as its own user"])
def test_polkit_decides(make_host, service_users):
    host = make_host(sysroot=True, polkit=True, daemons=["identityd"], service_users=service_users)
    assert refused(host, "Mallory's", "nobody") in REFUSALS
    assert not kept_name(host).exists()
    # Reading is open to all, and what is wrong for everybody is not a question of rights.
    assert host.get(*RECORD, "FriendlyName", user="nobody") == "bed"
    assert refused(host, "a\nb", "nobody") == INVALID_ARGS

    host.polkit.allow(ACTION, "daemon")
    assert refused(host, "Mallory's", "nobody") in REFUSALS
    set_name(host, "Daemon's", "daemon")
    wait_for(host, "FriendlyName", "Daemon's")


@needs_namespaces
def test_without_polkit_only_root_may(make_host):
    host = make_host(sysroot=True, daemons=["identityd"])
    assert refused(host, "Mallory's", "nobody") in REFUSALS
    set_name(host, "Root's")
    assert get(host, "FriendlyName") == "Root's"


@needs_namespaces
def test_killed_and_activated_again(make_host):
    host = make_host(sysroot=True, activation=["identityd"])
    set_name(host, "Survivor")
    before = host.connection().get_all(*RECORD)
    first = host.activated("identityd")
    first.kill()
    host.wait_for_name(NAME, present=False)

    after = host.connection().get_all(*RECORD)
    assert host.activated("identityd").pid != first.pid
    for record in (before, after):
        del record["Revision"], record["UpdatedUSec"]
    assert after == before
    assert after["FriendlyName"] == "Survivor"


# The directory it is kept in


@pytest.fixture
def small_directory(make_host):
    """A host whose identityd keeps its name on a file system of one page, and room for one name."""
    host = make_host(sysroot=True)
    folder = host.state_directory("identityd")
    folder.mkdir()
    host.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder])
    host.start_daemon("identityd")
    set_name(host, "Old")
    return host, folder


def in_folder(host, folder, command):
    """The mount is the machine's own, so what it holds is seen from inside only."""
    return host.run(["sh", "-c", f"cd {folder} && {command}"], check=False).stdout


@needs_namespaces
@pytest.mark.parametrize("name", ["New", "N" * 64])
def test_full_directory(small_directory, name):
    host, folder = small_directory
    in_folder(host, folder, "cat /dev/zero >filler 2>/dev/null")
    assert refused(host, name) == NOT_STORED
    assert in_folder(host, folder, "ls; cat friendly-name") == "filler\nfriendly-name\nOld\n"

    in_folder(host, folder, "rm filler")
    set_name(host, name)
    assert get(host, "FriendlyName") == name


@needs_namespaces
def test_read_only_directory(small_directory):
    host, folder = small_directory
    host.run(["mount", "-o", "remount,ro", folder])
    assert refused(host, "New") == NOT_STORED
    assert refused(host, "") == NOT_STORED
    host.daemons[0].stop()
    daemon = host.start_daemon("identityd")
    assert get(host, "FriendlyName") == "Old"

    host.run(["mount", "-o", "remount,rw", folder])
    set_name(host, "New")
    assert in_folder(host, folder, "cat friendly-name") == "New\n"
    assert "could not be stored" not in daemon.log_text()


@needs_root
@pytest.mark.parametrize("content", [b"", b"\xff\xfe\n", b"a\x00b\n", b"two\nlines\n", b"x" * 100_000],
                         ids=["empty", "not UTF-8", "NUL", "two lines", "huge"])
def test_damaged_name_is_set_aside(make_host, content):
    host = make_host(sysroot=True)
    kept_name(host).parent.mkdir()
    kept_name(host).write_bytes(content)
    daemon = host.start_daemon("identityd")
    assert get(host, "FriendlyName") == "bed"
    assert daemon.log_text().count("friendly-name is damaged") == 1
    assert kept_name(host).with_name("friendly-name.damaged").read_bytes() == content
    set_name(host, "Fresh")
    assert kept_name(host).read_text() == "Fresh\n"


# hostname1

needs_hostnamed = needs_namespaces


@needs_hostnamed
@pytest.mark.parametrize("own_bus", [False, True], ids=["one bus", "two buses"])
def test_hostname1_comes_first(make_host, own_bus):
    host = make_host(hostnamed={"PRETTY_HOSTNAME": "Ada's laptop", "HARDWARE_VENDOR": "Analytical Engines",
                                "HARDWARE_MODEL": "No 1", "CHASSIS": "laptop"},
                     sysroot=True, daemons=["identityd"], own_bus=own_bus)
    host.sysroot.write("sys/class/dmi/id/sys_vendor", "DMI\n")
    wait_for(host, "FriendlyName", "Ada's laptop")
    assert get(host, "Vendor") == "Analytical Engines"
    assert get(host, "ModelId") == "No 1"
    assert get(host, "Chassis") == "laptop"
    assert get(host, "OperatingSystem") == "Bed Linux 1"


@needs_hostnamed
def test_hostname1_changes_live(make_host):
    host = make_host(hostnamed=True, daemons=["identityd"])
    wait_for(host, "FriendlyName", host.name)
    host.hostnamed.call(HOSTNAME1_PATH, HOSTNAME1, "SetStaticHostname", "sb", ("renamed", False))
    wait_for(host, "FriendlyName", "renamed")
    # One that is set at run time wins over the static one.
    host.run(["sh", "-c", "echo by-hand >/proc/sys/kernel/hostname"])
    wait_for(host, "FriendlyName", "by-hand")
    host.run(["sh", "-c", "echo renamed >/proc/sys/kernel/hostname"])
    wait_for(host, "FriendlyName", "renamed")
    host.hostnamed.set_pretty_name("Pretty")
    wait_for(host, "FriendlyName", "Pretty")
    set_name(host, "Given")
    host.hostnamed.set_pretty_name("Prettier")
    set_name(host, "")
    wait_for(host, "FriendlyName", "Prettier")
    host.hostnamed.set_pretty_name("")
    wait_for(host, "FriendlyName", "renamed")
    host.hostnamed.call(HOSTNAME1_PATH, HOSTNAME1, "SetChassis", "sb", ("server", False))
    wait_for(host, "Chassis", "server")


@needs_hostnamed
def test_values_stay_while_hostname1_sleeps(make_host):
    host = make_host(hostnamed={"PRETTY_HOSTNAME": "Sleeper"}, sysroot=True, daemons=["identityd"])
    wait_for(host, "FriendlyName", "Sleeper")
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged") as changes:
        host.hostnamed.stop()
        # It is started again by this call, and what it says then is heard.
        host.hostnamed.set_pretty_name("Awake")
        changes.wait()
    assert [change.args[1].get("FriendlyName") for change in changes.received] == ["Awake"]


@needs_hostnamed
def test_hostname1_that_hangs_delays_nothing(make_host):
    host = make_host(hostnamed={"PRETTY_HOSTNAME": "Late"}, sysroot=True)
    host.hostnamed.process.signal(signal.SIGSTOP)
    host.start_daemon("identityd")
    assert get(host, "FriendlyName") == "bed"
    host.hostnamed.process.signal(signal.SIGCONT)
    wait_for(host, "FriendlyName", "Late")


class Hostname1(StandIn):
    """hostname1 played by the test on a connection of its own; it counts how often it is asked."""

    def __init__(self, host, static_type="s", **values):
        self.questions = 0
        super().__init__(host.new_connection(), HOSTNAME1_PATH, HOSTNAME1_XML.format(static_type),
                         {HOSTNAME1: values})
        self.connection.own(HOSTNAME1)

    def _get(self, connection, sender, path, interface, name):
        self.questions += name == "PrettyHostname"
        return super()._get(connection, sender, path, interface, name)


def test_absurd_hostname1(make_host):
    host = make_host(sysroot=True, strict_bus=False)
    stand_in = Hostname1(host, "u", PrettyHostname="x" * 100_000, StaticHostname=7, Chassis="convertible")
    host.start_daemon("identityd")
    wait_for(host, "Chassis", "convertible")
    assert get(host, "FriendlyName") == "bed"
    stand_in.change(HOSTNAME1, PrettyHostname="Sane again")
    wait_for(host, "FriendlyName", "Sane again")


def connections_of(host, daemon):
    """The unique names under which a daemon listens."""
    bus = host.connection()
    names = [name for name in bus.call_bus("ListNames") if name.startswith(":")]
    return [name for name in names if bus.call_bus("GetConnectionUnixProcessID", "s", (name,)) == daemon.pid]


# Where Alidade has a bus of its own, hostname1 is listened to on a second connection.
FORGERY_CASES = pytest.mark.parametrize("environment, connections", [({"ALIDADE_BUS_ADDRESS": ""}, 1), ({}, 2)],
                                        ids=["one connection", "two connections"])


def start_beside_hostname1(make_host, environment):
    host = make_host(sysroot=True, strict_bus=False, environment=environment)
    stand_in = Hostname1(host, PrettyHostname="True", StaticHostname="", Chassis="desktop")
    daemon = host.start_daemon("identityd")
    wait_for(host, "FriendlyName", "True")
    return host, stand_in, daemon


def change_after(host, stand_in, forge):
    """A true change behind the forgeries, on the same connection: when it is there they have been judged. The
    one change must be the one that is published, after the one question it is worth."""
    questions = stand_in.questions
    with host.log_signals(NAME, PATH, PROPERTIES, "PropertiesChanged") as published:
        forge()
        stand_in.change(HOSTNAME1, PrettyHostname="Changed")
        published.wait(lambda signal: signal.args[1].get("FriendlyName") == "Changed")
    names = [signal.args[1].get("FriendlyName") for signal in published.received]
    assert [name for name in names if name is not None] == ["Changed"]
    assert stand_in.questions == questions + 1


@needs_namespaces
@FORGERY_CASES
def test_forged_hostname1_is_refused_and_counted(make_host, environment, connections):
    host, stand_in, daemon = start_beside_hostname1(make_host, environment)
    targets = connections_of(host, daemon)
    assert len(targets) == connections

    def forge():
        for target in targets * 2:
            host.forge(target, HOSTNAME1_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as",
                       (HOSTNAME1, {"PrettyHostname": GLib.Variant("s", "Mallory")}, []))

    change_after(host, stand_in, forge)
    assert host.get(NAME, PATH, NAME, "RefusedSignals") == 2
    assert daemon.log_text().count("Ignored signal PropertiesChanged") == 1


@needs_namespaces
@FORGERY_CASES
def test_forged_owner_changes_nothing(make_host, environment, connections):
    """NameOwnerChanged is the bus's own word only when the bus itself sends it."""
    host, stand_in, daemon = start_beside_hostname1(make_host, environment)
    nobody = host.connection("nobody").unique_name

    def forge():
        for target in connections_of(host, daemon):
            host.forge(target, "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
                       (HOSTNAME1, stand_in.connection.unique_name, nobody))
            host.forge(target, HOSTNAME1_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as", (HOSTNAME1, {}, []))

    change_after(host, stand_in, forge)
    assert host.get(NAME, PATH, NAME, "RefusedSignals") == 2


@needs_namespaces
def test_installed_policy_keeps_forgeries_away(make_host):
    host = make_host(sysroot=True, hostnamed=True, daemons=["identityd"], environment={"ALIDADE_BUS_ADDRESS": ""})
    host.forge(host.connection().owner(NAME), HOSTNAME1_PATH, PROPERTIES, "PropertiesChanged", "sa{sv}as",
               (HOSTNAME1, {}, []))
    assert host.get(NAME, PATH, NAME, "RefusedSignals") == 0
