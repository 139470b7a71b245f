#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What `make install` puts somewhere, and what others make of it there: the
# names that the library shows are those recorded, examples/choose is built by
# pkg-config and by CMake, against an installation that has been moved.
set -u
LC_ALL=C
export LC_ALL

source=${SHMT_SRCDIR:?} build=${SHMT_BUILDDIR:?}
map=$source/src/runtime/libshmtune.map
library=$build/.libs/libshmtune.so
if [ ! -f "$library" ]; then
    echo "1..0 # SKIP no shared library was built"
    exit 0
fi
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
count=0
setting() { sed -n "s/^$1 = //p" "$build/Makefile"; }

report() { # STATUS NAME
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        sed 's/^/# /' "$folder/log"
        echo "not ok $count - $2"
    fi
}

# -- names -------------------------------------------------------------------

node=$(sed -n 's/^\(SHMTUNE_[0-9]*\) {$/\1/p' "$map")
sed -n 's/^    \(shmtune_[a-z_0-9]*\);$/\1/p' "$map" | sort >"$folder/recorded"
nm -D --defined-only "$library" | sed -n 's/^.* T \(.*\)$/\1/p' | sort \
    >"$folder/shown"
sed "s/$/@@$node/" "$folder/recorded" >"$folder/versioned"
if [ "$(grep -c . "$folder/recorded")" -lt 30 ]; then
    echo "too few names in $map" >"$folder/log"
    report 1 "the library shows what is recorded"
elif grep -q '@@' "$folder/shown"; then
    diff "$folder/versioned" "$folder/shown" >"$folder/log"
    report $? "the library shows what is recorded, with its version"
else
    diff "$folder/recorded" "$folder/shown" >"$folder/log"
    report $? "the library shows what is recorded"
fi
tr -s ' *(' '\n' <"$source/src/shmtune.h" | sed -n '/^shmtune_[a-z_0-9]*$/p' |
    sort -u >"$folder/words"
comm -23 "$folder/recorded" "$folder/words" >"$folder/log"
[ ! -s "$folder/log" ]
report $? "every name is one of the header"
soname=$(readelf -d "$library" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
echo "soname $soname, node $node" >"$folder/log"
[ "$soname" = "libshmtune.so.${node#SHMTUNE_}" ]
report $? "the version of the names is the soname's number"

# -- an installation, moved --------------------------------------------------

make -s -C "$build" install DESTDIR="$folder/first" >"$folder/log" 2>&1
report $? "make install"
prefix=$(setting prefix)
cp -R "$folder/first$prefix" "$folder/moved"
lib=$(dirname "$(find "$folder/moved" -name libshmtune.so)")
"$folder/moved/bin/shmtune" --version >"$folder/log" 2>&1 &&
    grep -q "^shmtune $(setting VERSION)" "$folder/log"
report $? "the command runs there"
for file in share/man/man1/shmtune.1 share/shmtune/kernels/transpose.yaml \
    share/shmtune/tunings/transpose/sm_90-nvidia-h100-80gb-hbm3.yaml \
    include/shmtune.h; do
    [ -f "$folder/moved/$file" ] || echo "no $file"
done >"$folder/log"
[ ! -s "$folder/log" ]
report $? "manual, kernels, tunings and header are there"

sanitized=$(setting SAN_CFLAGS)
choose() { # PROGRAM: what it says of an H100
    SHMTUNE_PATH=$folder/moved/share/shmtune LD_LIBRARY_PATH=$lib \
        "$1" transpose sm_90 >"$folder/log" 2>&1 &&
        grep -q '^[a-z ]*: .*TILE_X=[0-9]' "$folder/log"
}

if command -v pkg-config >/dev/null 2>&1; then
    mkdir "$folder/make"
    cp "$source"/examples/choose/* "$folder/make/"
    # shellcheck disable=SC2030
    (PKG_CONFIG_PATH=$lib/pkgconfig
        export PKG_CONFIG_PATH
        [ "$(pkg-config --modversion shmtune)" = "$(setting VERSION)" ] &&
            sed -i "s#^prefix=.*#prefix=$folder/moved#" \
                "$lib/pkgconfig/shmtune.pc" &&
            make -s -C "$folder/make" CC="$(setting CC)" \
                CFLAGS="-std=c17 -Wall -Werror $sanitized") \
        >"$folder/log" 2>&1 && choose "$folder/make/choose"
    report $? "make and pkg-config build the example, which runs"
else
    report 0 "the example by pkg-config # SKIP no pkg-config"
fi

if command -v cmake >/dev/null 2>&1; then
    mkdir "$folder/cmake"
    cp "$source"/examples/choose/* "$folder/cmake/"
    configure() { # FOLDER
        CC=$(setting CC) CFLAGS="-std=c17 $sanitized" cmake \
            -S "$folder/cmake" -B "$1" -DCMAKE_PREFIX_PATH="$folder/moved" \
            >"$folder/log" 2>&1
    }
    configure "$folder/cmake/build" &&
        cmake --build "$folder/cmake/build" >"$folder/log" 2>&1 &&
        choose "$folder/cmake/build/choose"
    report $? "find_package builds the example, which runs"
    sed -i 's/shmtune 0.2 /shmtune 0.1 /' "$folder/cmake/CMakeLists.txt"
    ! configure "$folder/cmake/other" &&
        grep -q "compatible with requested version \"0.1\"" "$folder/log"
    report $? "find_package refuses another minor version"
else
    report 0 "the example by CMake # SKIP no cmake"
    report 0 "another minor version by CMake # SKIP no cmake"
fi

make -s -C "$build" uninstall DESTDIR="$folder/first" >"$folder/log" 2>&1 &&
    find "$folder/first" -type f >"$folder/log" && [ ! -s "$folder/log" ]
report $? "make uninstall leaves nothing"
echo "1..$count"
