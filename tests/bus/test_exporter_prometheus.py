# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is shipped for Prometheus and Grafana, with a real prometheus that scrapes the exporter."""

import json
import re
import shutil
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from bedlib.services import SOURCE
from bedlib.waiting import wait_steadily
from exporter import Exporter, binary
from state_service import KINDS, NODE_KINDS, Cluster, full_record, local_id, memory, node_id, schema, start

pytestmark = [pytest.mark.skipif(not binary().exists(), reason="alidade-exporter is not built"),
              pytest.mark.skipif(not shutil.which("promtool"), reason="prometheus is not installed")]
RULES = SOURCE / "clients/exporter/prometheus/alidade.rules.yml"
DASHBOARD = json.loads((SOURCE / "clients/exporter/grafana/alidade.json").read_text(encoding="utf-8"))
# Of the cluster, of which some are absent here.
TOTALS = {f"alidade_cluster_{schema.snake(member.name)}" for member in
          schema.load(SOURCE / "dbus-interfaces/org.alidade.State1.xml.in")[0].members}
PEER, GONE = node_id(2), node_id(3)


def promtool(*arguments, cwd=None):
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_rules_are_valid():
    assert "12 rules found" in promtool("check", "rules", RULES)


def test_rules_alert_when_they_should(tmp_path):
    for path in (RULES, Path(__file__).with_name("alidade.rules.test.yml")):
        shutil.copy(path, tmp_path)
    promtool("test", "rules", "alidade.rules.test.yml", cwd=tmp_path)


class Prometheus:
    def __init__(self, folder, target):
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = "127.0.0.1:%i" % free.getsockname()[1]
        shutil.copy(RULES, folder)
        config = folder / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": ["alidade.rules.yml"],
            "scrape_configs": [{"job_name": "alidade", "static_configs": [{"targets": [target]}]}]}))
        promtool("check", "config", config)
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder}/data",
             f"--web.listen-address={self.address}", "--log.level=warn"], cwd=folder)

    def ask(self, path, **arguments):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(arguments)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.URLError:
            return None

    def query(self, expression):
        return (self.ask("query", query=expression) or {"result": []})["result"]

    def rules(self):
        return {rule["name"]: rule for rule in self.ask("rules")["groups"][0]["rules"]}

    def close(self):
        self.process.terminate()
        self.process.wait()


@pytest.fixture
def prometheus(make_host, tmp_path):
    """One that scrapes an exporter which knows each field of another node, and of its links."""
    host = start(make_host, "identityd", "telemetryd")
    cluster, own = Cluster(host), local_id(host)
    cluster.presences((PEER, "online", 1, -250, 0), (GONE, "offline", 1, 0, 0))
    cluster.take(*(full_record(kind, PEER, seq=place + 1) for place, kind in enumerate(NODE_KINDS)),
                 *(full_record(kind, PEER, own, seq=place + 100) for place, kind in enumerate(KINDS)
                   if KINDS[kind].is_link),
                 memory(GONE))
    exporter = Exporter(host)
    exporter.get()
    made = Prometheus(tmp_path, "%s:%i" % exporter.address)
    yield made
    made.close()
    exporter.close()


def test_prometheus_scrapes(prometheus):
    wait_steadily(lambda: len(prometheus.query("alidade_node_up")) == 3, "three nodes", interval=0.2)
    target, = prometheus.ask("targets")["activeTargets"]
    assert (target["health"], target["lastError"]) == ("up", "")
    assert {found["metric"]["node"]: found["value"][1] for found in prometheus.query("alidade_node_up")}[GONE] == "0"
    units = prometheus.ask("metadata", metric="alidade_memory_total_bytes")["alidade_memory_total_bytes"]
    assert [(fact["type"], fact["unit"]) for fact in units] == [("gauge", "bytes")]
    assert units[0]["help"].startswith("MemTotal of /proc/meminfo")
    wait_steadily(lambda: all(rule["health"] == "ok" for rule in prometheus.rules().values()), "rules", interval=0.2)
    wait_steadily(lambda: [alert["labels"]["node"] for alert in prometheus.rules()["AlidadeNodeOffline"]["alerts"]]
                  == [GONE], "the alert", interval=0.2)
    assert len(prometheus.rules()) == 12
    names = set(prometheus.ask("label/__name__/values")) | TOTALS
    for expression in expressions() + [rule["query"] for rule in prometheus.rules().values()]:
        prometheus.query(expression.replace("$instance", target["labels"]["instance"]))
        assert set(re.findall(r"alidade_\w+", expression)) <= names, expression


def expressions():
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


def test_dashboard():
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"]) > 10
    assert all('instance="$instance"' in expression for expression in expressions())
    assert {variable["name"] for variable in DASHBOARD["templating"]["list"]} == {"datasource", "instance"}
    text = json.dumps(DASHBOARD)
    assert not re.search(r"localhost|127\.0\.0\.1", text)
