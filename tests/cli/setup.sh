#!/bin/sh
# SPDX-License-Identifier: MIT
#
# ./quickstart on systems that are not there: what it says to a user who may
# not install, what root's package manager is asked for, and the libraries
# built from a folder of archives.  In a folder with quickstart alone, with
# programs of our own first in a $PATH that has little else.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

mkdir "$folder/tools"
for tool in sh bash sed tr grep cat mkdir rm mv cp dirname nproc head tail env tar \
    gzip ls sleep date chmod; do
    path=$(command -v "$tool") && ln -s "$path" "$folder/tools/$tool"
done

program() { # NAME TEXT: a program of that system
    printf '#!/bin/sh\n%s\n' "$2" >"$folder/system/$1"
    chmod +x "$folder/system/$1"
}

# A system with compiler, make, xz and this package manager, and nothing else.
new_system() { # USER MANAGER
    rm -rf "$folder/system" "$folder/tree"
    mkdir "$folder/system" "$folder/tree"
    cp "$source/quickstart" "$folder/tree/"
    for tool in cc make xz autoreconf automake libtoolize; do
        program "$tool" 'exit 1'
    done
    program id "echo $1"
    # shellcheck disable=SC2016
    [ -z "$2" ] || program "$2" 'echo "$0 $*" | sed "s,.*/,," >>"$LOG"; exit 1'
}

quickstart() {
    : >"$folder/log"
    env -i PATH="$folder/system:$folder/tools" LOG="$folder/log" \
        CUDA_HOME="$folder/cuda" "$@" ./quickstart build \
        >"$folder/out" 2>"$folder/err" </dev/null
    status=$?
}
mkdir -p "$folder/cuda/include"
for header in cuda.h nvrtc.h cuda_occupancy.h; do
    : >"$folder/cuda/include/$header"
done

says() { grep -qF -- "$1" "$folder/err"; }
asked() { grep -qxF -- "$1" "$folder/log"; }

while read -r manager packages; do
    command=$(echo "$packages" | cut -d: -f1)
    packages=$(echo "$packages" | cut -d: -f2)
    new_system 1000 "$manager"
    cd "$folder/tree" || exit 1
    quickstart
    # Where nothing was ever installed apt knows no package before.
    update=
    [ "$manager" != apt-get ] || update='apt-get update && '
    check "$manager: says the command that root may type" \
        says "as root: $update$command $packages"
    check "$manager: and fails without having run it" \
        test "$status" -eq 1 -a ! -s "$folder/log"
    new_system 0 "$manager"
    cd "$folder/tree" || exit 1
    quickstart
    # The first thing asked of apt is to update.
    [ "$manager" != apt-get ] || command="$manager update" packages=-q
    check "$manager: root's is run" asked "$command $packages"
done <<'END'
apt-get apt-get install -y --no-install-recommends:pkg-config libyaml-dev libjansson-dev zlib1g-dev
dnf dnf install -y:pkgconf-pkg-config libyaml-devel jansson-devel zlib-devel
pacman pacman -S --needed --noconfirm:pkgconf libyaml jansson zlib
zypper zypper --non-interactive install:pkg-config libyaml-devel libjansson-devel zlib-devel
apk apk add:pkgconf yaml-dev jansson-dev zlib-dev
END

new_system 1000 conda
cd "$folder/tree" || exit 1
quickstart CONDA_PREFIX=/conda
check "conda: says what to type in its environment" \
    says "conda install -y -c conda-forge pkg-config yaml jansson zlib"

new_system 1000 ""
cd "$folder/tree" || exit 1
quickstart
check "no manager: says what is missing, by Debian's names" \
    says "pkg-config libyaml-dev libjansson-dev zlib1g-dev"
check "and that archives would do" says "SHMTUNE_DEPS=FOLDER"

new_system 1000 sudo
program dnf 'exit 1'
cd "$folder/tree" || exit 1
quickstart
check "a user with sudo has it run" \
    asked "sudo env DEBIAN_FRONTEND=noninteractive dnf install -y pkgconf-pkg-config libyaml-devel jansson-devel zlib-devel"

# -- from archives ----------------------------------------------------------

mkdir "$folder/archives"
for name in libyaml_0.2.5.orig jansson-2.14 zlib-1.3.1; do
    mkdir -p "$folder/pack/$name"
    cat >"$folder/pack/$name/configure" <<'END'
#!/bin/sh
echo "$*" >>"$LOG"
END
    chmod +x "$folder/pack/$name/configure"
    tar -C "$folder/pack" -czf "$folder/archives/$name.tar.gz" "$name"
done
new_system 1000 ""
# As if what make installs were found from then on.
# shellcheck disable=SC2016
program make 'echo "make $*" >>"$LOG"; case $PWD in */deps/*) : >"$LOG.${PWD##*/}" ;; esac'
# shellcheck disable=SC2016
program pkg-config 'case "$2" in yaml*) test -f "$LOG.yaml" ;;
    jansson*) test -f "$LOG.jansson" ;; *) test -f "$LOG.zlib" ;; esac'
cd "$folder/tree" || exit 1
quickstart SHMTUNE_DEPS="$folder/archives"
check "each archive is configured for deps/local" \
    test "$(grep -c -- "--prefix=$folder/tree/deps/local" "$folder/log")" -eq 3
check "nothing is missing then" test "$(grep -c missing "$folder/err")" -eq 0
check "the build goes on" says "bootstrapping"
# Each step is told before it, not four seconds into it.
program autoreconf 'mkdir build-aux; : >build-aux/tap-driver.sh
    echo "#!/bin/sh" >configure; chmod +x configure'
program make 'exit 0'
quickstart SHMTUNE_DEPS="$folder/archives"
check "each step is told as it begins" test "$(
    sed -n 's/^quickstart: \([a-z]*\).*/\1/p' "$folder/err" | tail -n 4 |
        tr '\n' ' ')" = 'bootstrapping configuring building built '
rm -f "$folder"/log.*
rm "$folder/archives/jansson-2.14.tar.gz"
quickstart SHMTUNE_DEPS="$folder/archives"
check "an archive that is not there is named" \
    says "no jansson-*.tar.* in $folder/archives"
finish
