# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may read the metrics of alidade-exporter, above all if that is configured wrongly."""

import contextlib
import itertools
import os
import re
import socket
import ssl
import subprocess
import time

import pytest

from bedlib import wait_until
from bedlib.waiting import DEADLINE, wait_steadily
from exporter import binary
from state_service import start

pytestmark = pytest.mark.skipif(not binary().exists(), reason="alidade-exporter is not built")

TOKEN = "0123456789abcdef"
BAD_CONFIG = 78  # EX_CONFIG, after which systemd does not restart it
QUIET = {"G_DEBUG": ""}  # refusals are logged as critical, which must not end in a core


@pytest.fixture
def host(make_host):
    host = start(make_host)
    host.allowed_problems.append("CRITICAL")
    return host


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    key, cert = (tmp_path_factory.mktemp("tls") / name for name in ("key.pem", "cert.pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-keyout", key, "-out", cert, "-subj", "/CN=x", "-days", "2"], check=True, capture_output=True)
    return cert, key


def with_token(exporter, token=TOKEN):
    return exporter.get("/", Authorization=f"Bearer {token}").status


def with_token_or_none(exporter):
    try:
        return with_token(exporter)
    except OSError:
        return None


def refused(exporter, *reasons):
    exporter.process.excused = True
    assert exporter.process.wait() == BAD_CONFIG, (reasons, exporter.process.log_text())
    for reason in reasons:
        assert reason in exporter.process.log_text()


# What the configuration says


def test_token(host, export, token):
    host.write_config(f"[exporter]\ntoken-file={token}\n")
    exporter = export(host)
    for wrong in ({}, {"Authorization": TOKEN}, {"Authorization": f"Bearer {TOKEN[:-1]}"},
                  {"Authorization": f"Bearer {TOKEN}0"}, {"Authorization": f"Bearer {TOKEN[:-1]}0"},
                  {"Authorization": "Basic eDp5"}):
        answer = exporter.get(**wrong)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer"), wrong
        assert "alidade_node" not in answer.text
    assert exporter.get(Authorization=f"Bearer {TOKEN}").status == 200
    token.write_text("another-token-16-long")
    exporter.reload()
    wait_steadily(lambda: with_token(exporter, "another-token-16-long") == 200, "the new token")
    assert with_token(exporter) == 401


def test_token_that_all_users_can_read_is_warned_of(host, export, token):
    host.write_config(f"[exporter]\ntoken-file={token}\n")
    for mode, warnings in ((0o600, 0), (0o640, 0), (0o644, 1)):
        token.chmod(mode)
        exporter = export(host)
        assert with_token(exporter) == 200, oct(mode)
        assert exporter.process.log_text().count(f"token-file={token} is readable by all users") == warnings, oct(mode)
        exporter.process.stop()


def test_pages_of_others_read_nothing_without_a_token(host, export, token):
    """A name of theirs may lead here, and a browser here may fetch for them."""
    host.write_config("[exporter]\nhost-names=gpu.example;gpu\n")
    exporter = export(host)
    for name in ("localhost", "127.0.0.1:10001", "[::1]:10001", "gpu.example:10001", "GPU"):
        assert exporter.get(Host=name).status == 200, name
    for name in ("evil.example", "evil.example:10001", "127.0.0.1.evil.example"):
        answer = exporter.get(Host=name)
        assert answer.status == 421 and "host-names=" in answer.text and "alidade_node" not in answer.text
    answer = exporter.get(**{"Sec-Fetch-Site": "cross-site"})
    assert answer.status == 403 and "alidade_node" not in answer.text
    assert exporter.get(**{"Sec-Fetch-Site": "same-origin"}).status == 200
    host.write_config(f"[exporter]\ntoken-file={token}\n")
    exporter.reload()
    wait_steadily(lambda: with_token(exporter) == 200 and exporter.get().status == 401, "the token to be asked for")
    assert exporter.get(Host="evil.example", Authorization=f"Bearer {TOKEN}").status == 200


def test_nobody_cuts_what_is_authorized(host, export, token):
    host.write_config(f"[exporter]\ntoken-file={token}\n")
    exporter = export(host)
    request = f"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode()
    with contextlib.ExitStack() as stack:
        # It reads slowly.
        scrape = stack.enter_context(contextlib.closing(socket.socket()))
        scrape.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        scrape.settimeout(DEADLINE)
        scrape.connect(exporter.address)
        scrape.sendall(request)
        received = scrape.recv(1)
        for number in range(300):
            other = stack.enter_context(contextlib.closing(exporter.connect()))
            with contextlib.suppress(OSError):
                other.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" if number % 2 else b"GET /met")
        # A text is kept for a quarter of a second.
        wait_steadily(lambda: exporter.get(Authorization=f"Bearer {TOKEN}").value(
            "alidade_exporter_ended_connections_total") > 100, "many connections to be ended")
        while part := scrape.recv(1 << 16):
            received += part
    head, _, body = received.partition(b"\r\n\r\n")
    assert f"content-length: {len(body)}" in head.decode().lower()


def test_handshakes_of_an_address_are_limited(host, export, certificate, token):
    """Each costs as much as many answers."""
    host.write_config("[exporter]\ntls-certificate={}\ntls-key={}\ntoken-file={}\n".format(*certificate, token))
    exporter = export(host)
    exporter.verify(certificate[0])
    done, begun = 0, time.monotonic()
    for _ in range(200):
        with contextlib.suppress(OSError, ssl.SSLError):
            exporter.connect().close()
            done += 1
    # 32 at once, and 8 a second.
    assert 32 <= done <= 33 + 8 * (time.monotonic() - begun)
    wait_steadily(lambda: with_token_or_none(exporter) == 200, "an address to be answered again")


def test_many_unknown_addresses_leave_room_for_who_was_answered(host, export, certificate, token):
    """As somebody with a /48 has them; each new address alone had a budget of its own."""
    host.write_config("[exporter]\ntls-certificate={}\ntls-key={}\ntoken-file={}\n".format(*certificate, token))
    exporter = export(host)
    exporter.verify(certificate[0])
    assert with_token_or_none(exporter) == 200
    done, begun = 0, time.monotonic()
    for i in range(400):
        with contextlib.suppress(OSError, ssl.SSLError):
            exporter.connect(source=f"127.0.{1 + i // 200}.{1 + i % 200}").close()
            done += 1
    # 64 at once, and 16 a second.
    assert 63 <= done <= 65 + 16 * (time.monotonic() - begun)
    assert with_token_or_none(exporter) == 200


def test_tls(host, export, certificate):
    host.write_config("[exporter]\ntls-certificate={}\ntls-key={}\n".format(*certificate))
    exporter = export(host)
    exporter.verify(certificate[0])
    assert exporter.get().status == 200
    with contextlib.suppress(OSError):
        with socket.create_connection(exporter.address, 10) as clear:
            clear.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"alidade_node" not in clear.recv(1 << 16)
    assert exporter.get().status == 200


REFUSED_FILES = [
    ("tls-certificate=/nonexistent", "alidade.conf:2: [exporter] tls-certificate=/nonexistent cannot be read"),
    ("token-file=/dev/zero", "alidade.conf:2: [exporter] token-file=/dev/zero cannot be read: not a regular file"),
    ("tls-certificate={cert}", "needs both"),
    ("tls-certificate={key}\ntls-key={cert}", "with this certificate and key")]


def test_files_that_it_refuses(host, export, certificate):
    for config, reason in REFUSED_FILES:
        host.write_config("[exporter]\n" + config.format(cert=certificate[0], key=certificate[1]))
        refused(export(host, environment=QUIET), reason)


# Addresses that others can reach

NO_TLS, NO_TOKEN = "Metrics are not sent unencrypted on ", "Metrics are not served to everybody on "
TLS = "tls-certificate={cert}\ntls-key={key}\n"
ASKED = "token-file={token}\n"
ADDRESSES = ("0.0.0.0", "::")


def filled(text, certificate, token):
    return "[exporter]\n" + text.format(cert=certificate[0], key=certificate[1], token=token)


SHUT = [
    ("", [NO_TLS, NO_TOKEN]),
    ("insecure=true\n", [NO_TOKEN]),
    ("insecure=true\nanonymous=false\n", [NO_TOKEN]),
    (TLS, [NO_TOKEN]),
    ("anonymous=true\n", [NO_TLS]),
    (ASKED, [NO_TLS])]


def test_what_others_reach_is_shut_unless_opened(host, export, certificate, token):
    for address, (config, reasons) in itertools.product(ADDRESSES, SHUT):
        host.write_config(filled(config, certificate, token))
        exporter = export(host, environment=QUIET, address=address)
        refused(exporter)
        log = exporter.process.log_text()
        assert [reason for reason in (NO_TLS, NO_TOKEN) if reason in log] == reasons, (address, config)
        assert f" on {'[::]' if address == '::' else address}:{exporter.address[1]}" in log, config


OPENED = [
    ("insecure=true\nanonymous=true\n", 200),
    ("insecure=true\n" + ASKED, 401),
    ("insecure=true\nanonymous=true\n" + ASKED, 401),
    (TLS + "anonymous=true\n", 200),
    (TLS + ASKED, 401)]


def test_what_others_reach_is_opened_as_said(host, export, certificate, token):
    for address, (config, status) in itertools.product(ADDRESSES, OPENED):
        host.write_config(filled(config, certificate, token))
        exporter = export(host, address=address)
        if TLS in config:
            exporter.verify(certificate[0])
        assert exporter.get("/").status == status, (address, config)
        assert with_token(exporter) == 200, (address, config)
        exporter.process.stop()


def test_what_nobody_else_reaches_needs_nothing(host, export):
    for address in ("127.0.0.1", "127.1.2.3", "::1"):
        assert export(host, address=address).get("/").status == 200, address


def test_addresses_of_its_own_are_judged_too(host):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    host.write_config(f"[exporter]\nlisten=127.0.0.1:{port};0.0.0.0:{port + 1}\ninsecure=true\n")
    process = host.spawn([binary()], "exporter", env={**host.daemon_environment("stated"), **QUIET})
    host.daemons.append(process)
    process.expect_exit(BAD_CONFIG)
    assert f"{NO_TOKEN}0.0.0.0:{port + 1}" in process.log_text()


# What is wrong with the configuration of the token


class Setting:
    """The configuration of an exporter that asks for a token, over TLS or not, and ways to get it wrong."""

    def __init__(self, host, token, tls):
        self.host, self.token = host, token
        self.directory = host.dir / "config"
        self.tls = "tls-certificate={}\ntls-key={}\n".format(*tls) if tls else ""
        self.good = f"token-file={token}"

    def write(self, line):
        self.host.write_config(f"[exporter]\n{line}\n{self.tls}")

    def write_groups(self, heading):
        self.host.write_config(f"{heading}\n{self.good}\n[exporter]\n{self.tls}")

    def drop_in(self, name="50.conf"):
        """Its path; the token is not set elsewhere."""
        self.write("")
        (self.directory / "alidade.conf.d").mkdir(exist_ok=True)
        return self.directory / "alidade.conf.d" / name

    def folder(self):
        folder = self.drop_in().parent
        folder.rmdir()
        folder.write_text(f"[exporter]\n{self.good}\n")

    def lost_folder(self):
        folder = self.drop_in().parent
        folder.rmdir()
        folder.symlink_to("/nonexistent")

    def write_token(self, text):
        self.write(self.good)
        self.token.write_text(text)

    def lose_token(self, make=lambda path: None):
        self.write(self.good)
        self.token.unlink()
        make(self.token)


# name: (how it is made, what the log names)
WRONG = {
    "relative": (lambda it: it.write("token-file=token"),
                 "alidade.conf:2: [exporter] token-file: not an absolute path"),
    "quoted": (lambda it: it.write(f'token-file="{it.token}"'),
               "alidade.conf:2: [exporter] token-file: not an absolute path; quotes are not needed"),
    "in single quotes": (lambda it: it.write(f"token-file='{it.token}'"),
                         "alidade.conf:2: [exporter] token-file: not an absolute path; quotes are not needed"),
    "empty": (lambda it: it.write("token-file="), "alidade.conf:2: [exporter] token-file: no file is named"),
    "emptied later": (lambda it: it.write(f"{it.good}\ntoken-file="),
                      "alidade.conf:3: [exporter] token-file: no file is named"),
    "group of a service": (lambda it: it.write_groups("[history]"),
                           "alidade.conf:2: [history] token-file: belongs in [exporter]"),
    "bad escape": (lambda it: it.write(f"token-file={it.token}\\q"), r"alidade.conf:2: [exporter] token-file: "),
    "misspelt key": (lambda it: it.write(f"token_file={it.token}"),
                     "alidade.conf:2: [exporter] token_file: unknown key"),
    "key of a language": (lambda it: it.write(f"token-file[de]={it.token}"),
                          "alidade.conf:2: [exporter] token-file[de]: unknown key"),
    "misspelt group": (lambda it: it.write_groups("[exporer]"), "alidade.conf:1: [exporer]: unknown group"),
    "group with a space": (lambda it: it.write_groups("[exporter ]"), "alidade.conf:1: [exporter ]: unknown group"),
    "file does not parse": (lambda it: it.write(f"{it.good}\nwhat"), "alidade.conf:3: left out: "),
    "drop-in does not parse": (lambda it: it.drop_in().write_text(f"[exporter\n{it.good}\n"),
                               "50.conf:1: left out: "),
    "drop-in without a group": (lambda it: it.drop_in().write_text(f"{it.good}\n"), "50.conf:1: left out: "),
    "drop-in is a FIFO": (lambda it: os.mkfifo(it.drop_in()), "50.conf: left out: not a regular file"),
    "drop-in is a folder": (lambda it: it.drop_in().mkdir(), "50.conf: left out: not a regular file"),
    "drop-in is masked": (lambda it: it.drop_in().symlink_to("/dev/null"), "50.conf: left out: not a regular file"),
    "drop-in leads nowhere": (lambda it: it.drop_in().symlink_to("/nonexistent"),
                              "50.conf: left out: No such file or directory"),
    "drop-in cannot be opened": (lambda it: it.drop_in().symlink_to("50.conf"),
                                 "50.conf: left out: Too many levels of symbolic links"),
    "drop-in is too large": (lambda it: it.drop_in().write_text(f"[exporter]\n{it.good}\n" + "#" * (1 << 20)),
                             "50.conf: left out: too large"),
    "drop-in is no text": (lambda it: it.drop_in().write_text(f"[exporter]\n{it.good}\n", encoding="utf-16"),
                           "50.conf: left out: not a text file"),
    "drop-ins are no folder": (Setting.folder, "alidade.conf.d: left out: "),
    "drop-ins lead nowhere": (Setting.lost_folder, "alidade.conf.d: left out: "),
    "another value": (lambda it: it.write(f"insecure=yes\n{it.good}"),
                      "alidade.conf:2: [exporter] insecure: neither true nor false"),
    "anonymous": (lambda it: it.write("anonymous=1"), "alidade.conf:2: [exporter] anonymous: neither true nor false"),
    "token is missing": (Setting.lose_token,
                         "alidade.conf:2: [exporter] token-file={token} cannot be read: No such file or directory"),
    "token is a folder": (lambda it: it.lose_token(lambda path: path.mkdir()),
                          "alidade.conf:2: [exporter] token-file={token} cannot be read: not a regular file"),
    "token is a FIFO": (lambda it: it.lose_token(os.mkfifo),
                        "alidade.conf:2: [exporter] token-file={token} cannot be read: not a regular file"),
    "token is empty": (lambda it: it.write_token(""),
                       "alidade.conf:2: [exporter] token-file={token} must contain a token of at least 16 characters"),
    "token is short": (lambda it: it.write_token("0123456789abcde\n"),
                       "alidade.conf:2: [exporter] token-file={token} must contain a token of at least 16 characters"),
    "token has a zero byte": (lambda it: it.write_token("0123456789abcdef\0more"),
                              "alidade.conf:2: [exporter] token-file={token} is not a text file"),
    "token is two words": (lambda it: it.write_token("0123456789 abcdefgh"),
                           "alidade.conf:2: [exporter] token-file={token} must contain one word"),
}
each_wrong = pytest.mark.parametrize("wrong", WRONG)


@pytest.fixture(params=[False, True], ids=["plain", "TLS"])
def setting(request, host, token, certificate):
    return Setting(host, token, certificate if request.param else None)


def critical(process):
    """What it logged as the reason."""
    return [line for line in process.log_text().splitlines() if "critical: " in line]


@each_wrong
def test_it_does_not_start_with_what_is_wrong(export, setting, wrong):
    make, reason = WRONG[wrong]
    make(setting)
    exporter = export(setting.host, environment=QUIET)
    refused(exporter)
    assert any(reason.format(token=setting.token) in line for line in critical(exporter.process))


@each_wrong
def test_it_goes_on_asking_for_the_token(export, setting, certificate, wrong):
    make, reason = WRONG[wrong]
    setting.write(setting.good)
    notify = setting.host.notify_socket()
    exporter = export(setting.host, environment={**QUIET, "NOTIFY_SOCKET": notify.path})
    if setting.tls:
        exporter.verify(certificate[0])
    notify.wait("READY=1")
    assert (exporter.get("/").status, with_token(exporter)) == (401, 200)
    notify.lines.clear()
    make(setting)
    exporter.reload()
    notify.wait("READY=1")
    assert notify.lines[0] == "RELOADING=1" and re.fullmatch(r"MONOTONIC_USEC=\d+", notify.lines[1])
    assert any(reason.format(token=setting.token) in line for line in critical(exporter.process))
    assert "Keeping the previous configuration" in critical(exporter.process)[-1]
    assert (exporter.get("/").status, with_token(exporter)) == (401, 200)


def test_what_was_mended_is_taken(host, export, token):
    """Also if it is less strict, once it is said without a mistake."""
    setting = Setting(host, token, None)
    setting.write(setting.good)
    exporter = export(host, environment=QUIET)
    assert exporter.get("/").status == 401
    setting.write("token-fil=/x")
    exporter.reload()
    wait_until(lambda: "Keeping the previous" in exporter.process.log_text(), "the refusal")
    assert exporter.get("/").status == 401
    setting.write("")
    exporter.reload()
    wait_steadily(lambda: exporter.get("/").status == 200, "the end of the token")


def test_it_does_not_open_what_others_reach_on_reload(host, export, token):
    host.write_config(f"[exporter]\ninsecure=true\ntoken-file={token}\n")
    exporter = export(host, environment=QUIET, address="0.0.0.0")
    assert exporter.get("/").status == 401
    host.write_config("[exporter]\ninsecure=true\n")
    exporter.reload()
    wait_until(lambda: NO_TOKEN in exporter.process.log_text(), "the refusal")
    assert (exporter.get("/").status, with_token(exporter)) == (401, 200)


def test_other_services_keys_do_not_concern_it(host, export):
    host.write_config("[link-probe]\nnonsense=1\nport=x\n[cluster]\nmirror=wrong\n[exporter]\n")
    assert export(host).get("/").status == 200
