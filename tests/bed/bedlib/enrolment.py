# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gives the nodes of a simulated cluster their certificates and configuration."""

from .pki import Authority

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


def write_node(node, authority, name, brokers):
    config = node.dir / "config/cluster"
    config.mkdir()
    authority.issue(config / "node", node.id, "clientAuth")
    (config / "ca.crt").write_bytes(authority.certificate.read_bytes())
    authority.write_crl(config / "crl.pem")
    (config / "node.key").chmod(0o640)
    node.run(["chgrp", "alidade-tls", config / "node.key"])
    drop_in = node.dir / "config/alidade.conf.d/50-cluster.conf"
    drop_in.parent.mkdir(exist_ok=True)
    drop_in.write_text(f"[cluster]\nname={name}\nbrokers={brokers}\ndiscovery=false\n")


def write_broker(node, authority, name):
    config = node.dir / "config/cluster"
    (config / "broker").mkdir()
    authority.issue(config / "broker/broker", f"broker-{node.id}", "serverAuth",
                    [f"IP:{node.address}", f"DNS:{node.name}"])
    (config / "broker/broker.key").chmod(0o640)
    node.run(["chgrp", "mosquitto", config / "broker/broker.key"])
    (node.broker.config / "conf.d/alidade.conf").write_text(BROKER_CONF.format(config=config))
    (node.broker.config / "alidade.acl").write_text(ACL.format(name=name))


def enrol(cluster):
    authority = Authority(cluster.switch.dir / "authority")
    brokers = ";".join(f"{node.address}:8883" for node in cluster.brokers)
    for node in cluster.nodes:
        write_node(node, authority, cluster.name, brokers)
    for node in cluster.brokers:
        write_broker(node, authority, cluster.name)
    return authority
