# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the first ./demo --once costs on a bare Debian: download, packages, build, and what is shown."""

import shutil
import subprocess
import sys
from pathlib import Path

from requirement import MissingRequirement, need_programs, need_root

SOURCE = Path(__file__).resolve().parents[2]
NEEDS_BUILD = False
SHORTEST = {}
# Seconds of wall clock and of processors, by the program that ./demo calls.
DOWNLOAD, APT, SETUP, COMPILE, ALL = "download", "apt", "meson", "ninja", "demo"

# Runs in the root. Wrappers stand before the programs that ./demo calls, and note what each call takes.
INSIDE = r"""
cp /var/lib/dpkg/status build/status.before
dpkg-query -W -f '${Package}\n' | sort >build/packages.before
find /etc/systemd/system -type l | sort >build/enabled.before
timed() {
        cat <<EOT
#!/bin/bash
TIMEFORMAT="%R %U %S"
timed() { { time "\${@:2}" 2>&3; } 3>&2 2> >(read -r times; echo "\$1 \$times" >>$PWD/build/times); }
EOT
}
mkdir -p /usr/local/sbin
{
        timed
        cat <<'EOT'
case " $* " in
*" update "*) timed download /usr/bin/apt-get "$@" ;;
*) timed download /usr/bin/apt-get --download-only "$@" && timed apt /usr/bin/apt-get "$@" ;;
esac
EOT
} >/usr/local/sbin/apt-get
for name in meson ninja; do
        { timed; echo "timed $name /usr/bin/$name \"\$@\""; } >/usr/local/sbin/$name
done
chmod 755 /usr/local/sbin/*
TIMEFORMAT="%R %U %S"
{ time ./demo --once >build/shown 2>build/said; } 2>build/total
status=$?
dpkg-query -W -f '${Package} ${Installed-Size}\n' | sort >build/packages.after
for name in build-essential pocl-opencl-icd; do
        /usr/bin/apt-get -s -o Dir::State::status="$PWD/build/status.before" --no-install-recommends install $name
done 2>/dev/null | sed -n 's/^Inst \([^ :]*\).*/\1/p' | sort -u >build/packages.compiler
find /etc/systemd/system -type l | sort | comm -13 build/enabled.before - >build/enabled
exit $status
"""


def check_requirements():
    need_root("for a root directory of its own")
    need_programs("mmdebstrap")


def add_arguments(parser):
    parser.add_argument("--suite", choices=["bookworm", "trixie"], default="bookworm", help="the Debian (%(default)s)")
    parser.add_argument("--tree", type=Path, default=SOURCE, help="another checkout to measure")


def read_times(build):
    """{name: (seconds of wall clock, of processors)}"""
    found = {}
    for line in (build / "times").read_text().splitlines():
        name, *numbers = line.split()
        wall, user, system = map(float, numbers)
        before = found.get(name, (0, 0))
        found[name] = before[0] + wall, before[1] + user + system
    wall, user, system = map(float, (build / "total").read_text().split())
    found[ALL] = wall, user + system
    return found


def read_sizes(build):
    """MiB of all packages that came, and of those that neither the compiler nor PoCL brings."""
    before = set((build / "packages.before").read_text().split())
    others = set((build / "packages.compiler").read_text().split())
    rows = [line.split() for line in (build / "packages.after").read_text().splitlines()]
    sizes = {name: int(size) / 1024 for name, size in rows if name not in before}
    return sum(sizes.values()), sum(size for name, size in sizes.items() if name not in others)


def main(_build, json_only, suite, tree):
    made = subprocess.run([SOURCE / "tests/root/make", f"{suite}-bare"], text=True, stdout=subprocess.PIPE, check=False)
    if made.returncode:
        raise MissingRequirement("no bare root of Debian can be made")
    build = tree / "build/first-minute"
    shutil.rmtree(build, ignore_errors=True)
    done = subprocess.run([tree / "tests/root/enter", made.stdout.strip(), "build/first-minute", "bash", "-c", INSIDE],
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        sys.exit(f"./demo ended with {done.returncode}:\n{(build / 'said').read_text()}")
    times, (installed, own) = read_times(build), read_sizes(build)
    figures = {
        "seconds": times[ALL][0],
        "download_seconds": times[DOWNLOAD][0],
        "apt_seconds": times[APT][0],
        "build_seconds": times[SETUP][0] + times[COMPILE][0],
        "build_cpu_seconds": times[SETUP][1] + times[COMPILE][1],
        "installed_mib": installed,
        "installed_without_compiler_mib": own,
        "lines_said": len((build / "said").read_text().splitlines()),
        "units_enabled": len((build / "enabled").read_text().splitlines()),
    }
    figures = {name: round(value, 1) for name, value in figures.items()}
    if not json_only:
        print((build / "said").read_text() + (build / "shown").read_text())
        for name, value in figures.items():
            print(f"{name:32} {value}")
    return figures
