# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# What ./check and ./demo have in common: the packages that they need, and a tidy end.

# A pyenv, a ccache or a user's flags must not change what is built.
export PATH=/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin:/usr/local/bin
export LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1
unset CC CFLAGS CPPFLAGS LDFLAGS PYTHONPATH PYTHONHOME MAKEFLAGS

say() { printf '%s\n' "$*" >&2; }

apt_log=$PWD/build/apt.log
apt() {
        DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" >>"$apt_log" 2>&1
}

# wanted: debian/control, or what lists less.
wanted() { cat debian/control; }
# lacks [-P PROFILE]: what debian/control wants and is not there; nothing, where all is.
lacks() {
        if ! command -v dpkg-checkbuilddeps >/dev/null; then
                echo "build-essential, and what debian/control lists"
                return
        fi
        dpkg-checkbuilddeps "$@" <(wanted) 2>&1 | sed -n 's/.*[Uu]nmet build dependencies: //p'
}

# Packages may bring daemons, which are for tests and are not to run on this machine.
policy=/usr/sbin/policy-rc.d
own_policy=
keep_daemons_still() {
        if [ -e $policy ]; then
                return
        fi
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod 755 $policy
        own_policy=yes
        at_end "rm -f $policy"
}

# install_missing [-P PROFILE]
install_missing() {
        local missing
        missing=$(lacks "$@")
        if [ -z "$missing" ]; then
                return
        fi
        if [ $EUID != 0 ]; then
                say "Not installed, and only root can install it: $missing"
                return 1
        fi
        say "Installing: $missing"
        mkdir -p build/wanted/debian && wanted >build/wanted/debian/control && apt_fresh build-dep "$@" ./build/wanted/
}

# Postinst scripts enable units for the next boot; what was not enabled before is disabled again.
enabled_units() { find /etc/systemd/system /etc/rc[S2-5].d \( -path '*.d/S*' -o ! -path '/etc/rc*' \) -type l 2>/dev/null | sort; }
disable_new_units() {
        local link
        comm -13 - <(enabled_units) <<<"$1" | while IFS= read -r link; do
                case $link in
                /etc/rc*) update-rc.d "$(sed -E 's|.*/S[0-9]*||' <<<"$link")" disable >>"$apt_log" 2>&1 ;;
                *) rm -f "$link" ;;
                esac
        done
}

# Lists that are old or not there are fetched only where they stand in the way.
apt_fresh() {
        local enabled status=0
        mkdir -p build && : >"$apt_log" || return
        keep_daemons_still
        enabled=$(enabled_units)
        apt "$1" --no-install-recommends "${@:2}" || { apt update && apt "$1" --no-install-recommends "${@:2}"; } || status=$?
        disable_new_units "$enabled"
        [ -z "$own_policy" ] || rm -f $policy
        [ $status = 0 ] || { say "Packages cannot be installed; build/apt.log has all of this:"; tail -n 20 "$apt_log" >&2; }
        return $status
}

has_opencl() { compgen -G '/etc/OpenCL/vendors/*.icd' >/dev/null; }

# Under sudo the rest needs no root: goes on as who called, where the tree is theirs to write.
drop_privileges() {
        local user=(setpriv --reuid="${SUDO_UID:-0}" --regid="${SUDO_GID:-0}" --init-groups)
        if [ $EUID = 0 ] && [ "${SUDO_UID:-0}" != 0 ] && "${user[@]}" test -w .; then
                [ ! -d build ] || chown -R "$SUDO_UID:$SUDO_GID" build
                exec "${user[@]}" "$0" "$@"
        fi
}

# at_end COMMAND: run when the script ends, however it ends, after its children; the latest first.
end_commands=()
at_end() { end_commands=("$1" "${end_commands[@]}"); }
run_end_commands() {
        local status=$? command
        trap '' INT TERM HUP
        end_children
        for command in "${end_commands[@]}"; do
                eval "$command"
        done
        exit $status
}
trap run_end_commands EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# Under sudo the build folder still belongs to who called it.
if [ $EUID = 0 ] && [ -n "${SUDO_UID:-}" ]; then
        at_end '[ ! -d build ] || chown -R "$SUDO_UID:$SUDO_GID" build'
fi

# begin COMMAND…: in a process group of its own that ends with this script, however that ends; sets $child.
declare -A children=()
# The kernel tells nothing of a parent that has died before it is asked to. Bash, unlike dash, passes exported functions on.
# shellcheck disable=SC2016 # of that shell
tied=(setpriv --pdeathsig TERM -- bash -c '[ "$PPID" = "$0" ] && exec "$@"')
begin() {
        local parent=$BASHPID
        setsid "${tied[@]}" "$parent" "$@" &
        child=$!
        children[$child]=1
}
# through COMMAND…: runs it to its end, yet a signal to this script is not kept waiting.
through() {
        local status
        begin "$@"
        wait "$child"
        status=$?
        unset "children[$child]"
        return $status
}
end_children() {
        local pid never guard
        # A signal may have come before one was noted.
        for pid in $(jobs -p); do
                children[$pid]=1
        done
        [ ${#children[@]} -gt 0 ] || return
        for pid in "${!children[@]}"; do
                kill -TERM -- "-$pid" 2>/dev/null || kill -TERM "$pid" 2>/dev/null
        done
        # A pipe that stays silent makes a pause without a process.
        exec {never}<> <(:)
        (read -rt 5 -u "$never"; for pid in "${!children[@]}"; do kill -KILL -- "-$pid"; done) 2>/dev/null &
        guard=$!
        for pid in "${!children[@]}"; do
                wait "$pid" 2>/dev/null
        done
        kill -KILL "$guard" 2>/dev/null && wait "$guard" 2>/dev/null
}

# All targets, with the tests, which newer versions of meson do not build otherwise.
test_goals="all meson-test-prereq"
all_goals="$test_goals benchmarks"

# option_names: of what build() keeps in "options"; the compiler is one of them.
option_names() { sed -E 's/=[^ ]*//g'; }

# Once, where the caller of build() wants it said.
say_rebuilding() {
        [ -z "${rebuilding-}" ] || say "$rebuilding"
        rebuilding=
}

# build DIRECTORY [MESON OPTION…]: quiet unless it fails. $goals: targets of ninja, instead of all programs.
# $rebuilding: what is said before anything is made where something was built before.
build() {
        local dir=$1 log words
        shift
        words="${CC:-cc} $*"
        # With other values of the same options, ninja makes only what they change.
        if [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/options" 2>/dev/null)" != "$words" ]; then
                say_rebuilding
                if [ -f "$dir/options" ] && [ "$(option_names <"$dir/options")" = "$(option_names <<<"$words")" ] &&
                        through meson setup "$dir" --reconfigure "$@" >"$dir/build.log" 2>&1 </dev/null; then
                        echo "$words" >"$dir/options"
                fi
        fi
        # That of another compiler, or with other options.
        if [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/options" 2>/dev/null)" != "$words" ]; then
                # What is not of the build itself stays: a running demo, and what fuzzing found.
                find "$dir" -mindepth 1 -maxdepth 1 ! -name run ! -name lock ! -name found -exec rm -rf {} +
        fi
        mkdir -p "$dir" || return
        log=$dir/build.log
        if [ ! -f "$dir/build.ninja" ]; then
                # It was ended while it configured anew.
                [ ! -e "$dir/meson-private/coredata.dat" ] || set -- --reconfigure "$@"
                through meson setup "$dir" --auto-features=enabled "$@" >"$log" 2>&1 </dev/null ||
                        { cat "$log" >&2; return 1; }
                echo "$words" >"$dir/options"
        fi
        # shellcheck disable=SC2086 # words
        [ -z "${rebuilding-}" ] || ninja -n -C "$dir" ${goals:-all} 2>&1 | grep -q 'no work to do' || say_rebuilding
        # shellcheck disable=SC2086 # words
        through ninja -C "$dir" ${goals:-all} >"$log" 2>&1 </dev/null || { grep -v '^\[' "$log" | tail -n 60 >&2; return 1; }
}

# copy_build DIRECTORY TO: without what only ninja and meson need.
copy_build() {
        local statuses
        tar -C "$1" --exclude='*.p' --exclude='*.a' --exclude='*.log' --exclude='test-*' --exclude='fuzz-*' \
                --warning=no-file-changed -cf - . | tar -C "$2" --no-same-owner -xf -
        statuses=("${PIPESTATUS[@]}")
        # What is explored meanwhile leaves files there: status 1.
        [ "${statuses[0]}" -le 1 ] && [ "${statuses[1]}" = 0 ]
}
