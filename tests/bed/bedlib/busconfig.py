# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes the configuration of a private dbus-daemon: as strict as the real system bus, or a user's own."""

from pathlib import Path

SYSTEM_POLICY_DIRS = (Path("/usr/share/dbus-1/system.d"), Path("/etc/dbus-1/system.d"))
# Policies of the real parts a machine may run; Alidade's own come from the source tree, never from /usr.
FOREIGN_POLICIES = ("org.freedesktop.NetworkManager.conf", "nm-dispatcher.conf", "nm-priv-helper.conf",
                    "org.freedesktop.PolicyKit1.conf", "org.freedesktop.hostname1.conf")

HEAD = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>{kind}</type>
  <auth>EXTERNAL</auth>
  <listen>unix:path={socket}</listen>
  <servicedir>{servicedir}</servicedir>
"""

# The rules of Debian's system.conf. Without the receive_type lines no reply ever arrives.
SYSTEM_RULES = """
  <policy context="default">
    <allow user="*"/>
    <deny own="*"/>
    <deny send_type="method_call"/>
    <allow send_type="signal"/>
    <allow send_requested_reply="true" send_type="method_return"/>
    <allow send_requested_reply="true" send_type="error"/>
    <allow receive_type="method_call"/>
    <allow receive_type="method_return"/>
    <allow receive_type="error"/>
    <allow receive_type="signal"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Introspectable"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Properties"/>
    <deny send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus"
          send_member="UpdateActivationEnvironment"/>
    <deny send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Debug.Stats"/>
  </policy>
  <policy user="root">
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Monitoring"/>
    <allow send_destination="org.freedesktop.DBus" send_interface="org.freedesktop.DBus.Debug.Stats"/>
  </policy>
"""

# Tests start the services as root as well as under their own users, and own stand-in names.
TEST_RULES = """
  <policy user="root">
    <allow own_prefix="org.alidade"/>
  </policy>
"""

# For tests of what the services themselves refuse: the bus lets everything through.
OPEN_RULES = """
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
"""


def installed_policies():
    return [found for name in FOREIGN_POLICIES
            for found in (folder / name for folder in SYSTEM_POLICY_DIRS) if found.exists()]


def policies_below(folders):
    """Alidade's bus policies; the first folder that has a file of that name wins."""
    found = {}
    for folder in folders:
        for path in sorted(folder.glob("services/*/org.alidade.*.conf")):
            found.setdefault(path.name, path)
    return list(found.values())


def system_config(socket, servicedir, policies, extra="", strict=True):
    """A system bus: type system without a servicehelper, so activation is a plain exec."""
    included = installed_policies() + (list(policies) if strict else [])
    return (HEAD.format(kind="system", socket=socket, servicedir=servicedir) + SYSTEM_RULES
            + "".join(f'  <include>{path}</include>\n' for path in included)
            + (TEST_RULES if strict else OPEN_RULES) + extra + "</busconfig>\n")


def session_config(socket, servicedir, extra=""):
    """One user's bus: nobody else can connect, so there is nothing to deny, and all connections are that user's."""
    return (HEAD.format(kind="session", socket=socket, servicedir=servicedir) + OPEN_RULES
            + '  <limit name="max_connections_per_user">100000</limit>\n' + extra + "</busconfig>\n")
