# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ./demo does to the machine and says before there is a picture: packages, units, users, builds."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2]
DEADLINE = 300

sys.path.insert(0, str(SOURCE / "tests/bed"))
from bedlib.machine import can_isolate  # noqa: E402

needs_root = pytest.mark.skipif(not can_isolate(), reason="needs root that may make namespaces")

# A package that enables a unit, as its postinst does; the first calls fail as often as ./fails says.
APT_GET = """#!/bin/sh
echo "E: Unable to locate package, of $1"
case $* in *" update"*) exit ;; esac
read -r n <"$FAKE/fails"
echo $((n - 1)) >"$FAKE/fails"
[ "$n" -le 0 ] || exit 100
cd /etc/systemd/system
mkdir multi-user.target.wants 2>/dev/null
ln -s /lib/systemd/system/played.service multi-user.target.wants
ln -s /lib/systemd/system/played.service dbus-org.played.service
"""


def isolated(script, *arguments, environment=None):
    """Runs it where what it mounts is seen by it alone."""
    return subprocess.run(["unshare", "--mount", "--propagation", "private", "bash", "-c", script, "bash", *arguments],
                          env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=DEADLINE, check=False)


def install(folder, fails):
    """Installs a package with a fake apt-get: what is shown, its status, and the links to units that are there."""
    (folder / "bin").mkdir()
    (folder / "bin/apt-get").write_text(APT_GET)
    (folder / "bin/apt-get").chmod(0o755)
    (folder / "fails").write_text(f"{fails}\n")
    done = isolated("""
        cd "$FAKE" && mount --bind bin /usr/local/sbin && mount -t tmpfs units /etc/systemd || exit 9
        mkdir -p /etc/systemd/system/multi-user.target.wants
        ln -s /own /etc/systemd/system/multi-user.target.wants/own.service
        . "$1/tests/prepare.sh"
        apt_fresh install played
        echo "status $?"
        find /etc/systemd -type l""", SOURCE, environment={"FAKE": str(folder)})
    status, *links = done.stdout.splitlines()
    return done.stderr, status, links


@needs_root
def test_what_a_package_enables_is_disabled_again(tmp_path):
    said, status, links = install(tmp_path, fails=0)
    assert (said, status) == ("", "status 0")
    assert links == ["/etc/systemd/system/multi-user.target.wants/own.service"]
    assert "of -q" in (tmp_path / "build/apt.log").read_text()


@needs_root
def test_a_first_try_that_is_repeated_says_nothing(tmp_path):
    assert install(tmp_path, fails=1)[:2] == ("", "status 0")


@needs_root
def test_what_cannot_be_installed_is_said(tmp_path):
    said, status, _ = install(tmp_path, fails=2)
    assert status == "status 100"
    assert "build/apt.log" in said and "E: Unable to locate package" in said


@needs_root
@pytest.mark.parametrize("mode", ["--once", "desktop"])
def test_who_may_not_install_gets_one_sentence(tmp_path, mode):
    checker = tmp_path / "dpkg-checkbuilddeps"
    checker.write_text("#!/bin/sh\necho 'dpkg-checkbuilddeps: error: Unmet build dependencies: libplayed-dev' >&2\n"
                       "exit 1\n")
    checker.chmod(0o755)
    tmp_path.chmod(0o755)
    # Another user reads the tree where it is bound.
    done = isolated("""
        mount --bind "$2" /usr/local/sbin && mount -t tmpfs -o mode=755 tree /mnt && mkdir /mnt/tree &&
                mount --bind "$1" /mnt/tree || exit 9
        exec setpriv --reuid=65534 --regid=65534 --clear-groups /mnt/tree/demo "$3" """, SOURCE, tmp_path, mode,
                    environment={"DISPLAY": ":0", "TMPDIR": "/tmp"})
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"Not installed, and only root can install it: libplayed-dev\n", done.stderr), done.stderr


@needs_root
def test_what_is_missing_is_what_apt_is_asked_for(tmp_path):
    """apt itself reads the list, and installs nothing."""
    (tmp_path / "bin").mkdir()
    checker, apt_get = tmp_path / "bin/dpkg-checkbuilddeps", tmp_path / "bin/apt-get"
    checker.write_text("#!/bin/sh\necho 'dpkg-checkbuilddeps: error: Unmet build dependencies: libplayed-dev' >&2\n")
    apt_get.write_text("#!/bin/sh\nexec /usr/bin/apt-get --simulate \"$@\"\n")
    for program in checker, apt_get:
        program.chmod(0o755)
    done = isolated("""
        cd "$2" && mount --bind bin /usr/local/sbin || exit 9
        . "$1/tests/prepare.sh"
        wanted() { printf 'Source: played\\nBuild-Depends: bash\\n\\nPackage: played\\nArchitecture: any\\n'; }
        install_missing -P nocheck""", SOURCE, tmp_path)
    assert (done.returncode, done.stderr) == (0, "Installing: libplayed-dev\n")


@needs_root
def test_a_cluster_runs_from_a_folder_that_others_cannot_enter():
    done = isolated("""
        mount -t tmpfs -o mode=755 aside /media && mkdir /media/tree && mount --bind "$1" /media/tree &&
                mount -t tmpfs -o mode=700 home "${1%/*}" && mkdir "$1" && mount --bind /media/tree "$1" &&
                umount -l /media && ! setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$1/demo" || exit 9
        exec "$1/demo" cluster 2 --json""", SOURCE)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^2 nodes found each other", done.stderr, re.MULTILINE)
    assert '"node2"' in done.stdout
    assert "mounts" not in done.stderr and not Path("/mnt/build").exists()


def test_another_value_of_an_option_keeps_what_was_built(tmp_path):
    (tmp_path / "meson.build").write_text("project('played', 'c')\nexecutable('one', 'one.c')\n"
                                          "if get_option('more')\n  executable('two', 'two.c')\nendif\n")
    (tmp_path / "meson_options.txt").write_text("option('more', type: 'boolean', value: false)\n")
    for name in ("one", "two"):
        (tmp_path / f"{name}.c").write_text("int main(void)\n{\n        return 0;\n}\n")

    def build(*options):
        subprocess.run(["bash", "-c", '. "$0/tests/prepare.sh"; cd "$1" && build build "${@:2}"', SOURCE, tmp_path,
                        *options], check=True, timeout=DEADLINE)
        return {path.name: path.stat().st_mtime_ns for path in (tmp_path / "build").glob("one*/*.o")}

    first = build("-Dmore=false")
    assert first and build("-Dmore=true") == first
    assert (tmp_path / "build/two").exists()
    assert build("-Dmore=true", "-Doptimization=1") != first, "other options are a build of its own"


def test_a_rebuild_is_said_before_it_begins(tmp_path):
    """Not where there is nothing to make."""
    (tmp_path / "meson.build").write_text("project('played', 'c')\nexecutable('one', 'one.c')\n")
    (tmp_path / "one.c").write_text("int main(void)\n{\n        return 0;\n}\n")

    def said(*options):
        return subprocess.run(["bash", "-c", '. "$0/tests/prepare.sh"; cd "$1" && rebuilding=Again && '
                               'build build "${@:2}"', SOURCE, tmp_path, *options],
                              check=True, timeout=DEADLINE, capture_output=True, text=True).stderr

    assert said() == "Again\n"
    assert said() == ""
    (tmp_path / "one.c").write_text("int main(void)\n{\n        return 1;\n}\n")
    assert said() == "Again\n"
    assert said() == ""
    assert said("-Dwerror=true") == "Again\n"
    assert said("-Dwerror=true") == ""


@pytest.mark.parametrize("name, status", [("build", 0), ("elsewhere", 1)])
def test_a_build_is_copied(tmp_path, name, status):
    """As where users of daemons cannot enter the tree."""
    (tmp_path / "build/state").mkdir(parents=True)
    (tmp_path / "build/state/daemon").write_text("")
    (tmp_path / "build/state/libstate.a").write_text("")
    (tmp_path / "copy").mkdir()
    done = subprocess.run(["bash", "-c", 'set -u -o pipefail; . "$1/tests/prepare.sh"; copy_build "$2" "$3"; '
                           'echo "status $?"', "bash", SOURCE, tmp_path / name, tmp_path / "copy"],
                          capture_output=True, text=True, check=False)
    assert done.stdout == f"status {status}\n", done.stderr
    copied = [path.name for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert copied == (["daemon"] if status == 0 else [])


def is_running(command):
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if entry.read_text().split("\0")[:-1] == command.split():
                return True
        except OSError:
            continue
    return False


# Bash runs the trap of a signal before its next command, which is where the trap of DEBUG sends one.
AT_A_COMMAND = """
    . "$1/tests/prepare.sh"
    set -T
    trap '[[ $BASH_COMMAND != $what ]] || { what=; kill -s "$number" $$; }' DEBUG
    what=$2 number=$3
    begin $4
    wait "$child"
"""
SLEEP = "sleep 1000.0625"


@pytest.mark.parametrize("command", ["child=*", "children*", "wait*"])
@pytest.mark.parametrize("number", ["INT", "TERM", "HUP", "KILL"])
def test_a_child_ends_with_a_script_that_is_ended_as_it_begins(command, number):
    done = subprocess.run(["env", "--default-signal=INT,TERM,HUP", "bash", "-c", AT_A_COMMAND, "bash", SOURCE, command,
                           number, SLEEP], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=DEADLINE, check=False)
    assert done.returncode in (130, 143, 129, -9)
    end = time.monotonic() + 30
    while is_running(SLEEP) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(SLEEP)


def test_what_begins_knows_exported_functions():
    done = subprocess.run(["bash", "-c", '. "$1/tests/prepare.sh"; hello() { echo "hello $1"; }; export -f hello; '
                           'through bash -c "hello you"', "bash", SOURCE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("hello you\n", 0), done.stderr
