# SPDX-License-Identifier: LGPL-2.1-or-later
"""How the list of brokers behaves with real brokers that come, go, hang and refuse."""

import pytest

from bedlib import Machine, network
from bedlib.fixtures import needs_namespaces
from bedlib.mosquitto import Mosquitto, SampleBrokers
from bedlib.pki import Authority

pytestmark = needs_namespaces

NODE = "0123456789abcdef0123456789abcdef"
OTHER = "fedcba9876543210fedcba9876543210"
MINE = f"alidade/1/bed/{NODE}"


class Site:
    """A machine, an authority, brokers on it, and nodes that use them."""

    def __init__(self, machine):
        self.machine = machine
        self.authority = Authority(machine.dir / "authority")
        self.samples = []
        network.ip(machine, "link", "set", "lo", "up")

    def certificate(self, name, usage="serverAuth", names=("IP:127.0.0.1",), authority=None, common_name=None):
        path = self.machine.dir / name
        (authority or self.authority).issue(path, common_name or f"broker-{OTHER}", usage, names)
        return path

    def broker(self, port, start=True, **options):
        certificate = options.pop("certificate", None) or self.certificate(f"broker-{port}")
        broker = Mosquitto(self.machine, options.pop("authority", self.authority), certificate, port, **options)
        return broker.start() if start else broker

    def node(self, node=NODE, authority=None, **environment):
        authority = authority or self.authority
        folder = self.machine.dir / f"node.{len(self.samples)}"
        folder.mkdir()
        authority.issue(folder / "node", node, "clientAuth")
        (folder / "ca.crt").write_bytes(authority.certificate.read_bytes())
        authority.write_crl(folder / "crl.pem")
        sample = SampleBrokers(self.machine, folder, node, **environment)
        sample.folder = folder
        self.samples.append(sample)
        return sample


@pytest.fixture
def site():
    with Machine("site") as machine:
        site = Site(machine)
        yield site
        for process in machine.processes:
            print(f"--- {process.name}\n{process.log_text()}")
        for sample in site.samples:
            if sample.process.poll() is None:
                sample.process.stop()
            sample.close()
            assert "CRITICAL" not in sample.process.log_text()
            assert "ERROR: " not in sample.process.log_text()


def connect(sample, *brokers):
    sample.tell("configure", *(broker.name for broker in brokers))
    for broker in brokers:
        sample.wait_for("connected", broker.name)


def listen(sample, broker, *filters):
    """Returns when the broker has the subscriptions, of which one is to the node's own topics."""
    sample.tell("subscribe", *filters)
    connect(sample, broker)
    sample.tell("publish", f"alidade/1/bed/{sample.node}/status", 0, "live", "listening")
    sample.wait_for("message", broker.name, "live", f"alidade/1/bed/{sample.node}/status", "listening")


def test_publish_and_receive(site):
    broker = site.broker(8883)
    one, two = site.node(), site.node(OTHER)
    connect(one, broker)
    listen(two, broker, "alidade/1/bed/#")
    one.tell("publish", f"{MINE}/a", 1, "retain", "first")
    two.wait_for("message", broker.name, "live", f"{MINE}/a", "first")
    # Subscribing again brings what the broker keeps.
    seen = len(two.events)
    two.tell("subscribe", "alidade/1/bed/#")
    two.wait_for("message", broker.name, "retained", f"{MINE}/a", "first", after=seen)
    # An empty payload clears it.
    one.tell("publish", f"{MINE}/a", 1, "retain", "")
    two.wait_for("message", broker.name, "live", f"{MINE}/a", "")
    one.tell("publish", f"{MINE}/b", 0, "live", "passing")
    two.wait_for("message", broker.name, "live", f"{MINE}/b", "passing")
    # What is no longer among the filters is heard no more.
    listen(two, broker, f"{MINE}/b", f"alidade/1/bed/{OTHER}/#")
    two.tell("publish", f"alidade/1/bed/{OTHER}/end", 1, "live", "")
    two.wait_for("message", broker.name, "live", f"alidade/1/bed/{OTHER}/end")
    seen = len(two.events)
    one.tell("publish", f"{MINE}/a", 1, "live", "unheard")
    one.tell("publish", f"{MINE}/b", 1, "live", "heard")
    two.wait_for("message", broker.name, "live", f"{MINE}/b", "heard", after=seen)
    assert not [event for event in two.events[seen:] if event[0] == "message" and event[3] == f"{MINE}/a"]


def test_first_step_of_tls(site):
    """A libmosquitto that leaves it to us connects at once, rather than when something else wakes the session."""
    broker = site.broker(8883)
    node = site.node(LATE_TLS="1")
    connect(node, broker)
    assert not [event for event in node.events if event[0] == "row" and event[6]]


def test_asking_again_for_a_part(site):
    """What the broker keeps of that comes once more, nothing else does, and live messages come once."""
    broker = site.broker(8883)
    one, two = site.node(), site.node(OTHER)
    connect(one, broker)
    listen(two, broker, "alidade/1/bed/#")
    for sample, topic in ((one, f"{MINE}/a"), (two, f"alidade/1/bed/{OTHER}/a")):
        sample.tell("publish", topic, 1, "retain", "kept")
        two.wait_for("message", broker.name, "live", topic, "kept")
    seen = len(two.events)
    assert two.ask("again", f"{MINE}/#", answer="again") == ["again", "1"]
    two.wait_for("message", broker.name, "retained", f"{MINE}/a", "kept", after=seen)
    # What is subscribed to stays so.
    assert two.ask("again", "alidade/1/bed/#", answer="again") == ["again", "1"]
    two.wait_for("message", broker.name, "retained", f"alidade/1/bed/{OTHER}/a", "kept", after=seen)
    seen = len(two.events)
    for word in ("heard", "end"):
        one.tell("publish", f"{MINE}/b", 1, "live", word)
        two.wait_for("message", broker.name, "live", f"{MINE}/b", word, after=seen)
    assert len([event for event in two.events[seen:] if event[0] == "message"]) == 2


def test_broker_that_comes_later(site):
    broker = site.broker(8883, start=False)
    sample = site.node()
    sample.tell("configure", broker.name)
    sample.wait_row(broker.name, "unreachable", "connection refused")
    broker.start()
    sample.wait_for("connected", broker.name)
    sample.wait_for("first", broker.name)
    source, state, publishing, expiry, problem = sample.rows()[broker.name]
    assert (source, state, publishing, problem) == ("configured", "connected", "publishing", "")
    assert 0 < int(expiry) < 2 ** 63


def test_failover_and_return(site):
    one, two = site.broker(8883), site.broker(8884)
    sample = site.node()
    sample.tell("subscribe", "alidade/1/bed/#")
    connect(sample, one, two)
    sample.wait_for("first", one.name)
    seen = len(sample.events)
    one.kill()
    sample.wait_for("disconnected", one.name, "the broker closed the connection", after=seen)
    sample.wait_for("first", two.name, after=seen)
    sample.tell("publish", f"{MINE}/a", 1, "retain", "to the second")
    sample.wait_for("message", two.name, "live", f"{MINE}/a", "to the second")
    one.start()
    seen = sample.wait_for("first", one.name, after=seen)
    sample.tell("publish", f"{MINE}/a", 1, "retain", "to the first")
    sample.wait_for("message", one.name, "live", f"{MINE}/a", "to the first")
    # The only one that is lost is told as none.
    two.kill()
    one.kill()
    sample.wait_for("first", "", after=seen)
    sample.wait_row(two.name, "unreachable", "connection refused")
    assert sample.ask("publish", f"{MINE}/a", 1, "retain", "to nobody", answer="refused")[2] == \
        "Transport endpoint is not connected"


def test_broker_that_hangs(site):
    one, two = site.broker(8883), site.broker(8884)
    sample = site.node()
    connect(sample, one, two)
    seen = sample.wait_for("first", one.name)
    one.pause()
    sample.wait_for("first", two.name, after=seen, deadline=30)
    sample.wait_row(one.name, "unreachable", "timed out", deadline=30)
    one.resume()
    sample.wait_for("first", one.name, after=sample.wait_for("first", two.name, after=seen), deadline=30)


def test_link_that_goes(site):
    """Nothing says that the network is gone but silence."""
    sample = site.node()
    network.add_veth(site.machine, "there", "gone")
    sample.tell("configure", "192.0.2.1", "no-such-host.invalid", "127.0.0.1:1", "[fe80::1%nowhere0]")
    sample.wait_row("192.0.2.1", "unreachable", "its network is unreachable")
    sample.wait_row("no-such-host.invalid", "unreachable", "its name does not resolve", deadline=30)
    sample.wait_row("127.0.0.1:1", "unreachable", "connection refused")
    sample.wait_row("[fe80::1%nowhere0]", "unreachable", "the interface in its address does not exist")
    network.add_address(site.machine, "there", "192.0.2.2/24")
    sample.wait_row("192.0.2.1", "unreachable", "the host cannot be reached")
    network.ip(site.machine, "neighbour", "replace", "192.0.2.1", "lladdr", "02:00:00:00:00:01", "dev", "there")
    sample.wait_row("192.0.2.1", "unreachable", "timed out", deadline=30)


def test_many_addresses_of_one_name(site):
    """ipv6 first, where nobody listens."""
    broker = site.broker(8883, certificate=site.certificate("named", names=["DNS:twofold.test"]))
    site.machine.run(["sh", "-ec", "cp /etc/hosts /tmp/hosts.bed; "
                      "printf '::1 twofold.test\\n127.0.0.1 twofold.test\\n' >> /tmp/hosts.bed; "
                      "mount --bind /tmp/hosts.bed /etc/hosts"])
    sample = site.node()
    sample.tell("configure", "twofold.test")
    sample.wait_for("connected", "twofold.test")
    assert broker.process.poll() is None


def test_ipv6(site):
    broker = site.broker(8883, address="::1", certificate=site.certificate("six", names=["IP:::1"]))
    sample = site.node()
    connect(sample, broker)
    assert sample.rows()["[::1]"][1] == "connected"


def test_two_addresses_of_one_broker(site):
    """Two connections of one node would throw each other out for ever."""
    certificate = site.certificate("both", names=["IP:127.0.0.1", "IP:127.0.0.2"])
    site.broker(8883, address="0.0.0.0", certificate=certificate)
    sample = site.node()
    sample.tell("discover", "127.0.0.2")
    sample.wait_for("connected", "127.0.0.2")
    # The configured one takes its place.
    sample.tell("configure", "127.0.0.1")
    sample.wait_for("connected", "127.0.0.1")
    sample.wait_row("127.0.0.2", "refused", "same broker as 127.0.0.1")
    seen = len(sample.events)
    sample.tell("configure")
    sample.wait_for("disconnected", "127.0.0.1", after=seen)
    sample.wait_for("connected", "127.0.0.2", after=seen)
    # Of two configured ones either may be first, and so again after all were ended.
    for command in (("configure", "127.0.0.1", "127.0.0.2"), ("reconnect",)):
        seen = len(sample.events)
        sample.tell(*command)
        winner = sample.events[sample.wait_for("connected", after=seen)][1]
        loser = {"127.0.0.1": "127.0.0.2", "127.0.0.2": "127.0.0.1"}[winner]
        sample.wait_row(loser, "refused", f"same broker as {winner}")
    seen = len(sample.events)
    sample.tell("configure")
    sample.tell("discover", "127.0.0.2")
    sample.wait_for("connected", "127.0.0.2", after=seen)
    # What is both is configured.
    seen = len(sample.events)
    sample.tell("configure", "127.0.0.2")
    sample.wait_for("connected", "127.0.0.2", after=sample.wait_for("disconnected", "127.0.0.2", after=seen))
    assert [row[0] for row in sample.rows().values()] == ["configured"]


@pytest.mark.parametrize("wrong", ["authority", "usage", "name", "revoked"])
def test_broker_to_be_refused(site, wrong):
    options, words = {}, ""
    authority = Authority(site.machine.dir / "foreign", "foreign") if wrong == "authority" else site.authority
    if wrong == "usage":
        options = {"usage": "clientAuth", "common_name": OTHER}
    if wrong == "name":
        options = {"names": ["IP:127.0.0.7"]}
    certificate = site.certificate("wrong", authority=authority, **options)
    if wrong == "revoked":
        site.authority.revoke(certificate.with_suffix(".crt"))
        words = "revoked"
    broker = site.broker(8883, certificate=certificate)
    sample = site.node()
    sample.tell("configure", broker.name)
    sample.wait_row(broker.name, "refused", words)
    assert sample.rows()[broker.name][4]
    print(sample.rows())
    if wrong == "name":
        # Where it was found rather than configured, its name proves nothing.
        sample.tell("configure")
        sample.tell("discover", broker.name)
        sample.wait_for("connected", broker.name)


def test_node_that_is_refused(site):
    """A broker that does not know our authority, and one that finds us revoked."""
    broker = site.broker(8883)
    foreign = Authority(site.machine.dir / "foreign", "foreign")
    sample = site.node(authority=foreign)
    (sample.folder / "ca.crt").write_bytes(site.authority.certificate.read_bytes())
    site.authority.write_crl(sample.folder / "crl.pem")
    sample.tell("configure", broker.name)
    sample.wait_row(broker.name, "refused")
    print(sample.rows())
    revoked = site.node(OTHER)
    site.authority.revoke(revoked.folder / "node.crt")
    other = site.broker(8884)
    revoked.tell("configure", other.name)
    revoked.wait_row(other.name, "refused", "revoked")


def test_port_without_tls(site):
    site.machine.spawn(["mosquitto", "-p", "1883"], "plain")
    sample = site.node()
    sample.tell("configure", "127.0.0.1:1883")
    sample.wait_row("127.0.0.1:1883", "refused", "")
    print(sample.rows())


def test_missing_certificates(site):
    broker = site.broker(8883)
    sample = site.node()
    certificate = (sample.folder / "node.crt").read_bytes()
    (sample.folder / "node.crt").unlink()
    sample.tell("configure", broker.name)
    sample.wait_row(broker.name, "refused", "node.crt")
    (sample.folder / "node.crt").write_bytes(certificate)
    sample.wait_for("connected", broker.name)


def test_will(site):
    broker = site.broker(8883)
    watcher, sample = site.node(OTHER), site.node()
    listen(watcher, broker, "alidade/1/bed/+/status")
    connect(sample, broker)
    conn = sample.events[sample.wait_for("connected", broker.name)][2]
    # Good-bye is no crash, and what was published before it arrives.
    sample.tell("publish", f"{MINE}/status", 1, "retain", "good-bye")
    sample.tell("reconnect")
    watcher.wait_for("message", broker.name, "live", f"{MINE}/status", "good-bye")
    later = sample.wait_for("connected", broker.name, after=sample.wait_for("disconnected", broker.name))
    later = sample.events[later][2]
    assert int(later) > int(conn)
    sample.process.kill()
    watcher.wait_for("message", broker.name, "live", f"{MINE}/status", f"gone {later}")
    assert not [e for e in watcher.events if e[0] == "message" and e[4] == f"gone {conn}"]


def test_good_bye_at_the_end(site):
    broker = site.broker(8883)
    watcher, sample = site.node(OTHER), site.node()
    listen(watcher, broker, "alidade/1/bed/#")
    connect(sample, broker)
    # More than are on their way at a time, and no more than a busy machine sends in the second that it has.
    sample.ask("flood", f"{MINE}/Many", 100, 10, answer="flooded")
    sample.process.stop()
    watcher.wait_for("message", broker.name, "live", f"{MINE}/Many/99")
    other = site.node(NODE)
    connect(other, broker)
    other.tell("publish", f"{MINE}/end", 1, "live", "end")
    watcher.wait_for("message", broker.name, "live", f"{MINE}/end")
    assert not [e for e in watcher.events if e[0] == "message" and e[4].startswith("gone")]


def test_broker_forbids(site):
    """What the broker's rules forbid goes nowhere. mosquitto 2.0.11 also ends a TLS connection that tries it."""
    broker = site.broker(8883)
    watcher, sample = site.node(OTHER), site.node()
    listen(watcher, broker, "alidade/1/bed/#")
    connect(sample, broker)
    sample.tell("publish", f"alidade/1/bed/{OTHER}/a", 0, "retain", "forged")
    sample.wait_for("connected", broker.name, after=sample.wait_for("disconnected", broker.name))
    sample.tell("publish", f"{MINE}/a", 1, "retain", "own")
    watcher.wait_for("message", broker.name, "live", f"{MINE}/a", "own")
    assert not [e for e in watcher.events if e[0] == "message" and e[4] == "forged"]


def test_many_retained(site):
    broker = site.broker(8883)
    one, two = site.node(), site.node(OTHER)
    connect(one, broker)
    assert one.ask("flood", f"{MINE}/Many", 20000, 100, answer="flooded")[1] == ""
    one.tell("subscribe", f"{MINE}/end")
    one.tell("publish", f"{MINE}/end", 1, "retain", "end")
    one.wait_for("message", broker.name, "live", f"{MINE}/end", deadline=60)
    two.tell("quiet")
    two.tell("subscribe", f"{MINE}/#")
    connect(two, broker)
    topics = 0
    while topics < 20001:
        topics, _, retained, dropped = map(int, two.ask("count", answer="count")[1:])
    assert retained == 20001 and dropped == 0


def test_newest_waits_while_the_loop_is_busy(site):
    broker = site.broker(8883)
    one, two = site.node(), site.node(OTHER)
    connect(one, broker)
    listen(two, broker, "alidade/1/bed/#")
    one.tell("subscribe", "alidade/1/bed/#")
    two.tell("sleep")
    for number in range(50):
        one.tell("publish", f"{MINE}/a", 1, "retain", number)
        one.wait_for("message", broker.name, "live", f"{MINE}/a", number)
    one.tell("publish", f"{MINE}/b", 1, "retain", "last")
    one.wait_for("message", broker.name, "live", f"{MINE}/b", "last")
    two.tell("rows")
    two.wait_for("message", broker.name, "live", f"{MINE}/b", "last")
    told = [e[4] for e in two.events if e[0] == "message" and e[3] == f"{MINE}/a"]
    assert told[-1] == "49" and len(told) < 25


def test_newest_waits_while_the_broker_is_slow(site):
    """What is published to a broker that takes nothing is not lost, and neither piles up."""
    broker = site.broker(8883)
    one, two = site.node(), site.node(OTHER)
    connect(one, broker)
    listen(two, broker, "alidade/1/bed/#")
    broker.pause()
    for number in range(1000):
        one.tell("publish", f"{MINE}/a", 1, "retain", number)
    one.rows()
    broker.resume()
    two.wait_for("message", broker.name, "live", f"{MINE}/a", "999")
    told = [e for e in two.events if e[0] == "message" and e[3] == f"{MINE}/a"]
    assert len(told) < 500


def test_no_more_than_fits(site):
    broker = site.broker(8883)
    one = site.node()
    connect(one, broker)
    broker.pause()
    assert one.ask("flood", f"{MINE}/Many", 100, 1000000, answer="flooded")[1] == "No buffer space available"
    broker.resume()


def test_list_that_changes(site):
    one, two = site.broker(8883), site.broker(8884)
    sample = site.node()
    connect(sample, one, two)
    sample.wait_for("first", one.name)
    seen = len(sample.events)
    # The order decides; nothing is connected anew.
    sample.tell("configure", two.name, one.name)
    sample.wait_for("first", two.name, after=seen)
    sample.tell("configure", one.name)
    sample.wait_for("disconnected", two.name, after=seen)
    sample.wait_for("first", one.name, after=seen)
    assert not [event for event in sample.events[seen:] if event[0] == "connected"]
    sample.tell("reconnect")
    sample.wait_for("connected", one.name, after=sample.wait_for("disconnected", one.name, after=seen))


def test_found_no_more(site):
    """Who is found no more stays as long as it is connected, unless nobody is looked for."""
    broker = site.broker(8883)
    sample = site.node()
    sample.tell("discover", broker.name)
    sample.wait_for("connected", broker.name)
    sample.tell("discover", "127.0.0.1:1")
    sample.wait_row("127.0.0.1:1", "unreachable")
    assert sample.rows()[broker.name][:3] == ("avahi", "connected", "publishing")
    broker.kill()
    # The list is made anew right after that was told.
    seen = sample.wait_for("disconnected", broker.name)
    sample.wait_for("row", "127.0.0.1:1", after=seen)
    while broker.name in sample.rows():
        pass
    assert list(sample.rows()) == ["127.0.0.1:1"]
    broker.start()
    sample.tell("discover", broker.name)
    seen = sample.wait_for("connected", broker.name, after=sample.wait_for("disconnected", broker.name))
    sample.tell("discover")
    sample.wait_for("disconnected", broker.name, after=seen)
    assert sample.rows() == {}
