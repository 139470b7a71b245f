#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/bare.sh [SUITE [USER]]
#
# Types the README's two commands on a bare machine: a Debian SUITE (bookworm
# when none is given; trixie works too) that holds git and ca-certificates and
# nothing else, so neither a compiler nor a CUDA toolkit.  First root types
# them in a clone of this checkout; then, as the packages are in by now, an
# ordinary user types them in another clone.  With a USER one of the two does:
# root, or somebody, for whom root types what quickstart then asks for, and
# nothing else.  What is not committed is not in the clones.
#
# The machine is a folder made by debootstrap, entered by chroot, and removed
# in the end.  This needs root, the right to mount, 3 GB of disk, Debian's
# mirror and PyPI; how they are reached (sources, proxies, certificates, pip's
# settings) is taken from this machine.  debootstrap is installed if missing.
#
# Environment: DEBIAN_MIRROR (else the one apt uses here), TMPDIR (where the
# folder is made; /var/tmp if not set).
#
# Exit status: 0 both commands work, 1 one of them does not, 77 it cannot be
# tried here (the message says why), 130 interrupted.
set -eu

keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# What is taken over from the environment; nothing else is.
settings='http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY
HTTPS_PROXY ALL_PROXY NO_PROXY PIP_CERT PIP_DEFAULT_TIMEOUT PIP_EXTRA_INDEX_URL
PIP_INDEX_URL PIP_PROXY PIP_RETRIES PIP_TRUSTED_HOST REQUESTS_CA_BUNDLE
SSL_CERT_FILE'

say() { printf 'bare: %s\n' "$*" >&2; }
fail() { say "$suite: $*"; exit 1; }
skip() { say "$suite: skipped: $*"; exit 77; }

# -- on the machine itself -------------------------------------------------

install_debootstrap() {
    ! command -v debootstrap >/dev/null 2>&1 || [ ! -f "$keyring" ] || return 0
    command -v apt-get >/dev/null 2>&1 ||
        skip "debootstrap and debian-archive-keyring are missing, and there" \
            "is no apt-get to install them"
    say "installing debootstrap and debian-archive-keyring"
    { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q \
        -y --no-install-recommends debootstrap debian-archive-keyring; } \
        >"$work/log" 2>&1 || {
        grep '^[EW]:' "$work/log" | tail -n 4 >&2 || :
        skip "apt-get cannot install debootstrap and debian-archive-keyring"
    }
}

# Writes the address of Debian's archive, as apt knows it here.
find_mirror() {
    {
        echo "${DEBIAN_MIRROR:-}"
        # shellcheck disable=SC2016
        apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
            2>/dev/null | grep -E '^https?://.*/debian/?$' || :
        echo http://deb.debian.org/debian
    } | sed -n '/./{p;q;}'
}

# A namespace, /proc mounted in it, a device made and written.
try_namespace() {
    # shellcheck disable=SC2016
    reason=$(unshare --mount --pid --fork --kill-child sh -ec '
        mount -t proc proc "$1"
        mount -t devpts -o newinstance devpts "$1"
        mknod "$2" c 1 3
        echo x >"$2"' sh "$work/root" "$work/null" 2>&1) ||
        skip "a namespace to mount in is refused here:" \
            "$(echo "$reason" | sed 1q)"
}

# Copies the last of the files $2... that is there to the file $1.
copy_last() {
    copy=$1 last=
    shift
    for file; do
        [ ! -s "$file" ] || last=$file
    done
    [ -z "$last" ] || cp "$last" "$copy"
}

# Writes the files of certificates that this machine trusts.
certificate_files() {
    {
        echo /etc/ssl/certs/ca-certificates.crt
        printf '%s\n' "${PIP_CERT:-}" "${REQUESTS_CA_BUNDLE:-}" \
            "${SSL_CERT_FILE:-}"
        cat "$work/etc/xdg/pip/pip.conf" "$work/etc/pip.conf" 2>/dev/null |
            sed -n 's/^cert *= *//p'
    } | sort -u | while read -r file; do
        [ ! -f "$file" ] || echo "$file"
    done
}

# Puts what reaching Debian and PyPI takes here into the folder $work/etc.
collect_settings() {
    mkdir -p "$work/etc/apt/apt.conf.d" "$work/etc/xdg/pip"
    apt-config dump 2>/dev/null |
        grep -E '^Acquire::(http|https|ftp|Retries|Check-Date|Check-Valid)' |
        grep -v 'Proxy-Auto-Detect' >"$work/etc/apt/apt.conf.d/90host" || :
    for file in /etc/apt/auth.conf /etc/apt/auth.conf.d; do
        [ ! -e "$file" ] || cp -R "$file" "$work/etc/apt/"
    done
    # pip reads both, and the second wins.
    copy_last "$work/etc/xdg/pip/pip.conf" /etc/xdg/pip/pip.conf /etc/pip.conf
    copy_last "$work/etc/pip.conf" "${HOME:-/root}/.pip/pip.conf" \
        "${XDG_CONFIG_HOME:-${HOME:-/root}/.config}/pip/pip.conf" \
        "${PIP_CONFIG_FILE:-}"
    certificate_files >"$work/certificates"
}

clone() { # FOLDER
    # The checkout may be somebody else's.
    printf '[safe]\n\tdirectory = *\n' >"$work/gitconfig"
    GIT_CONFIG_GLOBAL=$work/gitconfig git clone -q --no-hardlinks \
        "$source" "$1" || fail "git cannot clone $source"
}

# The namespace's first process takes all others and all mounts with it.
clean_up() {
    status=$?
    trap - EXIT
    trap '' HUP INT TERM
    if [ -n "$child" ]; then
        first=$(cat "$work/first" 2>/dev/null || echo "$child")
        kill -KILL "$first" 2>/dev/null || :
        wait "$child" 2>/dev/null || :
    fi
    # Nothing was ever mounted outside of the namespace; should this be wrong
    # the folder stays.
    if grep -qF " $work/" /proc/self/mounts; then
        say "something is mounted in $work: it is left there"
    else
        rm -rf --one-file-system "$work"
    fi
    exit "$status"
}

# Starts this script again in a namespace of its own, with a clean environment.
# unshare itself is quiet, as it complains when clean_up kills what it started.
enter() {
    set -- PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    for name in $settings; do
        eval "value=\${$name:-}"
        # shellcheck disable=SC2154
        [ -z "$value" ] || set -- "$@" "$name=$value"
    done
    # In the background: a trap waits for a command in the foreground.
    unshare --mount --pid --fork --kill-child env -i "$@" \
        sh "$script" --inside "$suite" "$user" "$work" "$mirror" 3>&2 \
        2>/dev/null &
    child=$!
    status=0
    wait "$child" || status=$?
    child=
    [ "$status" = 0 ] || exit "$status"
}

# -- inside of the namespace -----------------------------------------------

make_root() {
    say "$suite: making a bare root from $mirror"
    proxy=$(apt-config shell value Acquire::http::Proxy 2>/dev/null || :)
    eval "$proxy"
    http_proxy=${http_proxy:-${value:-}} debootstrap --variant=minbase \
        --include=git,ca-certificates --keyring="$keyring" "$suite" "$root" \
        "$mirror" >"$work/log" 2>&1 || {
        tail -n 15 "$work/log" >&2
        ! grep -q '^E: Failed getting release' "$work/log" ||
            skip "$mirror cannot be reached"
        fail "debootstrap failed"
    }
    cp -R "$work/etc/." "$root/etc/"
    while read -r file; do
        mkdir -p "$root$(dirname "$file")"
        cp -L "$file" "$root$file"
    done <"$work/certificates"
    mount -t proc proc "$root/proc"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts \
        "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
    # So that the test is one: were there a toolkit, it would prove nothing.
    for path in usr/local/cuda opt/cuda usr/lib/cuda usr/include/cuda.h \
        usr/bin/cc usr/bin/make; do
        [ ! -e "$root/$path" ] || fail "the root is not bare: it has /$path"
    done
}

typed_by() { # NAME HOME COMMAND, in the user's clone
    chroot --userspec="$1:$1" "$root" env "HOME=$2" "USER=$1" "LOGNAME=$1" \
        sh -c "cd ~/shmtune && $3" </dev/null
}

give_clone() { # NAME HOME
    mv "$work/clone.$1" "$root$2/shmtune"
    chroot "$root" chown -R "$1:" "$2/shmtune"
}

# Where nobody may install, quickstart says what root has to type.
ask_root() { # NAME HOME
    ! typed_by "$1" "$2" './quickstart test' >"$work/said" 2>&1 ||
        fail "nothing is missing for $1"
    command=$(sed -n 's/^quickstart: as root: //p' "$work/said")
    [ -n "$command" ] || {
        cat "$work/said" >&2
        fail "$1 is not told what is missing"
    }
    say "$suite: root types $command"
    chroot "$root" env DEBIAN_FRONTEND=noninteractive sh -c "$command" \
        </dev/null >"$work/log" 2>&1 || {
        tail -n 15 "$work/log" >&2
        fail "what quickstart asks root for fails"
    }
}

# Both commands, as they stand in the README.
try_user() { # NAME HOME
    for command in './quickstart' './quickstart test'; do
        started=$(date +%s)
        say "$suite: $1 types $command"
        typed_by "$1" "$2" "$command" ||
            fail "$command fails for $1: exit status $?"
        say "$suite: $command: $(($(date +%s) - started)) s"
    done
    [ -d "$root$2/shmtune/deps/cuda" ] ||
        fail "$1 built with another CUDA than the wheels of quickstart"
}

inside() {
    # /proc is still the outer one: this process as clean_up sees it.
    read -r first _ </proc/self/stat
    echo "$first" >"$work/first"
    root=$work/root
    make_root
    if [ "$user" != somebody ]; then
        give_clone root /root
        try_user root /root
    fi
    if [ "$user" != root ]; then
        chroot "$root" useradd --create-home somebody
        give_clone somebody /home/somebody
        [ -z "$user" ] || ask_root somebody /home/somebody
        try_user somebody /home/somebody
    fi
}

# -- the whole -------------------------------------------------------------

case ${1:-} in
-h | --help)
    sed -n '4,/^set /{/^#/s/^# \{0,1\}//p;}' "$0"
    exit 0 ;;
--inside)
    suite=$2 user=$3 work=$4 mirror=$5
    exec 2>&3 3>&-
    inside
    exit 0 ;;
-*)
    echo "bare: unknown option $1; tests/bare.sh --help says more" >&2
    exit 1 ;;
esac
suite=${1:-bookworm}
user=${2:-}
[ $# -lt 3 ] || fail "one suite at a time, please"
case $user in
'' | root | somebody) ;;
*) fail "nobody is called $user here: root or somebody" ;;
esac
[ "$(id -u)" = 0 ] || skip "this needs root: debootstrap, chroot and mount do"
for tool in git unshare chroot; do
    command -v "$tool" >/dev/null 2>&1 || skip "there is no $tool here"
done
source=$(cd "$(dirname "$0")/.." && pwd)
script=$source/tests/bare.sh
work=$(mktemp -d "${TMPDIR:-/var/tmp}/shmtune-bare.XXXXXX")
child=
trap clean_up EXIT
trap 'say "$suite: interrupted, removing $work"; exit 130' HUP INT TERM
chmod 755 "$work"
mkdir "$work/root"
began=$(date +%s)

try_namespace
install_debootstrap
mirror=$(find_mirror)
[ -z "$(git -c safe.directory='*' -C "$source" status --porcelain)" ] ||
    say "$suite: what is not committed here is not in the clones"
for name in ${user:-root somebody}; do
    clone "$work/clone.$name"
done
collect_settings
enter
say "$suite: both commands work, for ${user:-root and somebody}" \
    "($(($(date +%s) - began)) s)"
