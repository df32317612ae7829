# SPDX-License-Identifier: LGPL-2.1-or-later
"""Machines of a cluster as `alidadectl cluster` sees them: each a folder of its own on one machine; and fixtures."""

import hashlib
import os
import subprocess

import pytest

from bedlib.machine import Machine
from bedlib.parts import find_program
from bedlib.services import client_binary, mosquitto_plugin
from bedlib.waiting import wait_steadily

OK, ERROR, USAGE, UNREACHABLE, NO_NODE, DENIED = range(6)
ADDRESS = "--address=127.0.0.1"
SSHD_CONFIG = """Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/client_key.pub
PidFile none
UsePAM no
StrictModes no
PermitRootLogin yes
SetEnv PATH={path}:/usr/bin:/bin {environment}
"""
SSH_CONFIG = """Port {port}
IdentityFile {folder}/client_key
IdentitiesOnly yes
UserKnownHostsFile {folder}/known_hosts
GlobalKnownHostsFile none
"""


class Seat:
    """A machine that joins: configuration, mosquitto and state of its own."""

    def __init__(self, machine, name, mosquitto=None):
        self.machine, self.name = machine, name
        self.dir = machine.dir / name
        self.config, self.state = self.dir / "config", self.dir / "state"
        self.mosquitto = mosquitto or self.dir / "mosquitto"
        for folder in (self.config, self.state, self.dir / "avahi/services"):
            folder.mkdir(parents=True)
        if mosquitto is None:
            (self.mosquitto / "conf.d").mkdir(parents=True)
            (self.mosquitto / "mosquitto.conf").write_text(f"include_dir {self.mosquitto}/conf.d\n")
        self.environment = {
            "ALIDADE_CONFIG_DIR": self.config, "ALIDADE_MOSQUITTO_DIR": self.mosquitto,
            "ALIDADE_AVAHI_DIR": self.dir / "avahi", "ALIDADE_SYSTEMD_DIR": self.dir / "systemd",
            "ALIDADE_MOSQUITTO_PLUGIN": mosquitto_plugin(),
            "ALIDADE_CLUSTER_STATE_DIR": self.state,
            "ALIDADE_BUS_ADDRESS": "unix:path=/nonexistent",
            "ALIDADE_MACHINE_ID": hashlib.md5(name.encode()).hexdigest()}

    def cluster(self, *words, code=OK, **options):
        """Runs alidadectl cluster; gives what it printed, both streams."""
        options.setdefault("env", self.environment)
        done = self.machine.run([client_binary(), "cluster", *words], check=False, **options)
        assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def path(self, name):
        return self.config / "cluster" / name

    def read(self, name):
        return self.path(name).read_text()

    @property
    def id(self):
        return common_name(self.path("node.crt"))

    def files(self):
        """{path: content} of all that lies below its folder."""
        return {str(path.relative_to(self.dir)): path.read_bytes()
                for path in self.dir.rglob("*") if path.is_file()}

    def settings(self):
        lines = (self.config / "alidade.conf.d/50-cluster.conf").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))

    def crl(self):
        """The revoked serials."""
        text = openssl("crl", "-in", self.path("crl.pem"), "-noout", "-text")
        return {line.split(":")[1].strip().lower() for line in text.splitlines() if "Serial Number:" in line}

    def crl_number(self):
        return int(openssl("crl", "-in", self.path("crl.pem"), "-noout", "-crlnumber").partition("=")[2], 16)

    # As a client of the broker

    def mqtt(self, program, *words, certificate=True, key=None):
        keys = ["--cert", self.path(f"{key or 'node'}.crt"), "--key", self.path(f"{key or 'node'}.key")]
        return [find_program(program), "-h", "127.0.0.1", "-p", "8883", "-V", "mqttv311", "--cafile",
                self.path("ca.crt"), *(keys if certificate else []), *words]

    def publish(self, topic, text, **options):
        message = ["-m", text] if text else ["-n"]
        return self.machine.run(self.mqtt("mosquitto_pub", "-q", "1", "-r", "-t", topic, *message, **options),
                                check=False)

    def retained(self, topic):
        """{topic: text} of what the broker holds below a filter."""
        marker = f"alidade/1/lab/{self.id}/alive"
        assert self.publish(marker, "end").returncode == 0
        # The broker answers the filters in turn, so that of the second ends what is of the first.
        reader = self.machine.spawn(self.mqtt("mosquitto_sub", "-t", topic, "-t", marker, "-v"),
                                    f"mosquitto_sub.{len(self.machine.processes)}")
        wait_steadily(lambda: reader.log_text().count(marker) == 2, "all that is retained")
        reader.kill()
        lines = dict(line.split(" ", 1) for line in reader.log_text().splitlines())
        assert self.publish(marker, "").returncode == 0
        del lines[marker]
        return lines


def openssl(*words):
    return subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, text=True).stdout


def common_name(certificate):
    subject = openssl("x509", "-in", certificate, "-noout", "-subject", "-nameopt", "multiline")
    return next(line.split("=")[1].strip() for line in subject.splitlines() if "commonName" in line)


def serial(certificate):
    return openssl("x509", "-in", certificate, "-noout", "-serial").partition("=")[2].strip().lower()


def make_request(folder, name):
    """A request as another tool makes it, for any common name."""
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-keyout",
            folder / "other.key", "-out", folder / "other.csr", "-subj", f"/CN={name}")
    return (folder / "other.csr").read_text()


DATED_CONFIG = """[ca]
default_ca = ca
[ca]
database = {folder}/index
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
policy = policy
x509_extensions = extensions
[policy]
commonName = supplied
[extensions]
basicConstraints = critical,CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = clientAuth
"""


def sign_dated(seat, request, start, end):
    """A certificate that the authority of a seat might have made at another time; years are enough."""
    folder = seat.machine.dir / f"dated-{start}"
    folder.mkdir()
    (folder / "index").touch()
    (folder / "config").write_text(DATED_CONFIG.format(folder=folder))
    (folder / "request").write_text(request)
    openssl("ca", "-batch", "-notext", "-config", folder / "config", "-cert", seat.path("ca.crt"), "-keyfile",
            seat.path("ca/ca.key"), "-in", folder / "request", "-startdate", f"{start}0101000000Z",
            "-enddate", f"{end}0101000000Z", "-out", folder / "made")
    return (folder / "made").read_text()


class Ssh:
    """A real sshd on this machine's loopback, whose alidadectl is that of one seat; and an ssh for that."""

    def __init__(self, seat, port=2222):
        self.machine = seat.machine
        self.dir = self.machine.dir / f"ssh-{port}"
        self.dir.mkdir()
        for name in ("host_key", "client_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.dir / name], check=True)
        (self.dir / "known_hosts").write_text(f"[127.0.0.1]:{port} " + (self.dir / "host_key.pub").read_text())
        environment = " ".join(f"{name}={value}" for name, value in seat.environment.items())
        (self.dir / "sshd_config").write_text(SSHD_CONFIG.format(
            port=port, folder=self.dir, path=client_binary().parent, environment=environment))
        (self.dir / "ssh_config").write_text(SSH_CONFIG.format(port=port, folder=self.dir))
        # ssh knows the home of a user from the user's entry, not from HOME.
        (self.dir / "bin").mkdir()
        (self.dir / "bin/ssh").write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {self.dir}/ssh_config "$@"\n')
        (self.dir / "bin/ssh").chmod(0o755)
        self.path = f"{self.dir}/bin:{os.environ['PATH']}"

    def start(self):
        self.machine.run(["mkdir", "-p", "/run/sshd"])
        # bash reads it for every command that comes over ssh, whatever this user has there.
        bashrc = os.path.expanduser("~/.bashrc")
        if os.path.exists(bashrc):
            self.machine.run(["mount", "--bind", "/dev/null", bashrc])
        process = self.machine.spawn([find_program("sshd"), "-D", "-e", "-f", self.dir / "sshd_config"],
                                     f"sshd.{self.dir.name}")
        wait_steadily(lambda: "Server listening" in process.log_text(), "sshd")
        return process

    def environment(self, seat):
        return {**seat.environment, "PATH": self.path}


@pytest.fixture
def machine():
    with Machine("enrol", isolated=True) as made:
        made.add_users(["alidade-cluster"])
        made.add_members([("alidade-cluster", "alidade-tls")])
        yield made


@pytest.fixture
def first(machine):
    """The machine that began the cluster, without mosquitto running."""
    seat = Seat(machine, "first")
    seat.cluster("init", "lab", ADDRESS)
    return seat
