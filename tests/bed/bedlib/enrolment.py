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


# Enrolment is only preparation here, and the search for leaks takes half of its time.
WITHOUT_LEAK_DETECTION = {"ASAN_OPTIONS": "detect_leaks=0"}


def join(first, node):
    """The node enters the cluster whose keys the first one keeps, in the two halves that need no ssh."""
    broker = ["--broker", f"--address={node.address}"] if node.broker else []
    request = node.alidadectl("cluster", "join", "--request", *broker, env=WITHOUT_LEAK_DETECTION).stdout
    bundle = first.alidadectl("cluster", "sign", *broker[:1], text_in=request, env=WITHOUT_LEAK_DETECTION).stdout
    node.alidadectl("cluster", "join", "--accept", text_in=bundle, env=WITHOUT_LEAK_DETECTION)


def enrol(cluster):
    """The first broker keeps the keys. Brokers come first, so that who comes later knows them all."""
    first, *others = [*cluster.brokers, *(node for node in cluster.nodes if node not in cluster.brokers)]
    first.alidadectl("cluster", "init", cluster.name, f"--address={first.address}", env=WITHOUT_LEAK_DETECTION)
    for node in others:
        join(first, node)
    return first
