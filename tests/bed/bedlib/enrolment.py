# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes nodes a cluster as its administrator would, with `alidadectl cluster`; and what a broker by hand needs."""

BROKER_CONF = """listener 8883
cafile {config}/ca.crt
certfile {config}/broker/broker.crt
keyfile {config}/broker/broker.key
crlfile {config}/crl.pem
require_certificate true
use_identity_as_username true
use_username_as_clientid true
tls_version tlsv1.3
allow_anonymous false
acl_file /etc/mosquitto/alidade.acl
max_queued_messages 0
max_queued_bytes 67108864
max_inflight_messages 100
"""
ACL = """pattern read alidade/1/{name}/#
pattern write alidade/1/{name}/%u/#
"""


# This is the way to a cluster, not what is tested. A search for leaks takes half of the time of such a program.
QUICK = {"ASAN_OPTIONS": "detect_leaks=0"}


def join(first, node):
    """The node enters the cluster whose keys the first one keeps, in the two halves that need no ssh."""
    broker = ["--broker", f"--address={node.address}"] if node.broker else []
    request = node.alidadectl("cluster", "join", "--request", *broker, env=QUICK).stdout
    bundle = first.alidadectl("cluster", "sign", *broker[:1], text_in=request, env=QUICK).stdout
    node.alidadectl("cluster", "join", "--accept", text_in=bundle, env=QUICK)


def enrol(cluster):
    """The first broker keeps the keys. Brokers come first, so that who comes later knows them all."""
    first, *others = [*cluster.brokers, *(node for node in cluster.nodes if node not in cluster.brokers)]
    first.alidadectl("cluster", "init", cluster.name, f"--address={first.address}", env=QUICK)
    for node in others:
        join(first, node)
    return first
