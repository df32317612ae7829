# SPDX-License-Identifier: LGPL-2.1-or-later
"""What every test folder that uses the bed imports into its conftest.py."""

import sys

import pytest

from .cluster import Cluster
from .errors import BedFailure
from .host import Host
from .machine import can_isolate

needs_namespaces = pytest.mark.skipif(not can_isolate(),
                                      reason="needs root with the right to make namespaces")


def made(kind):
    """The body of a fixture that makes things of this kind, and takes them down at the end."""
    hosts = []

    def make(*args, **options):
        host = kind(*args, **options)
        host.__enter__()
        hosts.append(host)
        return host

    yield make
    problems = []
    for host in reversed(hosts):
        print(host.logs(), file=sys.stderr)
        try:
            host.close()
        except BedFailure as failure:
            problems.append(str(failure))
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


@pytest.fixture
def make_host():
    """make_host(…) gives a started Host, taken down at the end of the test; a daemon that misbehaved fails
    the test, and a failed test shows everything the hosts printed."""
    yield from made(Host)


@pytest.fixture
def make_cluster():
    """make_cluster(3, brokers=(0, 1)) gives a started Cluster, taken down as a Host is."""
    yield from made(Cluster)
