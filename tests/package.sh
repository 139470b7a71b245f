#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/package.sh [BUILD]
#
# Makes the release's tarball in BUILD (build/ when none is given), the Debian
# packages from it, and asks lintian about them: an error of it is one here.
# Exit status: 0, 1, or 77 where debhelper or lintian is missing.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$root/build}" && pwd)
for tool in dpkg-buildpackage dh lintian; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "package: skipped: no $tool (apt-get install debhelper lintian)"
        exit 77
    }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^VERSION = //p' "$build/Makefile")
CUDA_HOME=$(sed -n 's/^CUDA_DIR = //p' "$build/Makefile")
export CUDA_HOME

make -s -C "$build" dist >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cp "$build/shmtune-$version.tar.xz" "$work/shmtune_$version.orig.tar.xz"
cd "$work"
tar -xf "shmtune_$version.orig.tar.xz"
cp -R "$root/debian" "shmtune-$version/"
cd "shmtune-$version"
# The toolkit need not be a package.
DEB_BUILD_OPTIONS="parallel=$(nproc) nocheck" dpkg-buildpackage -us -uc -b \
    -Pnocuda >"$work/log" 2>&1 || {
    tail -n 40 "$work/log"
    echo "package: the packages do not build"
    exit 1
}
cd "$work"
lintian --allow-root "shmtune_$version"-*.changes >"$work/words" 2>&1 || :
grep '^[EW]' "$work/words" || :
! grep -q '^E' "$work/words" || exit 1
for package in shmtune libshmtune1 libshmtune-dev shmtune-data; do
    [ -n "$(ls "$work/$package"_*.deb)" ] || exit 1
done
dpkg-deb -x "$(ls "$work"/shmtune_*.deb)" "$work/root"
"$work/root/usr/bin/shmtune" --version | grep "^shmtune $version"
# What `capture` preloads is where an installed shmtune looks for it.
cd "$work/root"
folder=$(echo usr/lib/*/shmtune)
test -f "$folder/libshmtune-capture.so"
grep -q "/$folder" usr/bin/shmtune
