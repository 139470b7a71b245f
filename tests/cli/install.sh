#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What `make install` puts somewhere, and what others make of it there: the
# names that the library shows are those recorded, examples/choose is built by
# pkg-config and by CMake, against an installation that has been moved.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

map=$source/src/runtime/libshmtune.map
library=$build/.libs/libshmtune.so
if [ ! -f "$library" ]; then
    echo "1..0 # SKIP no shared library was built"
    exit 0
fi

report() { # STATUS NAME: what was said is in $folder/err
    status=$1
    check "$2" exits 0
}
: >"$folder/out"

# -- names -------------------------------------------------------------------

node=$(sed -n 's/^\(SHMTUNE_[0-9]*\) {$/\1/p' "$map")
sed -n 's/^    \(shmtune_[a-z_0-9]*\);$/\1/p' "$map" | sort >"$folder/recorded"
nm -D --defined-only "$library" | sed -n 's/^.* T \(.*\)$/\1/p' | sort \
    >"$folder/shown"
sed "s/$/@@$node/" "$folder/recorded" >"$folder/versioned"
if [ "$(grep -c . "$folder/recorded")" -lt 30 ]; then
    echo "too few names in $map" >"$folder/err"
    report 1 "the library shows what is recorded"
elif grep -q '@@' "$folder/shown"; then
    diff "$folder/versioned" "$folder/shown" >"$folder/err"
    report $? "the library shows what is recorded, with its version"
else
    diff "$folder/recorded" "$folder/shown" >"$folder/err"
    report $? "the library shows what is recorded"
fi
tr -s ' *(' '\n' <"$source/src/shmtune.h" | sed -n '/^shmtune_[a-z_0-9]*$/p' |
    sort -u >"$folder/words"
comm -23 "$folder/recorded" "$folder/words" >"$folder/err"
[ ! -s "$folder/err" ]
report $? "every name is one of the header"
soname=$(readelf -d "$library" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
echo "soname $soname, node $node" >"$folder/err"
[ "$soname" = "libshmtune.so.${node#SHMTUNE_}" ]
report $? "the version of the names is the soname's number"

# What a plug-in that links the archive shows of it.
printf '%s\n' '#include "shmtune.h"' 'int plug(void);' \
    'int plug(void) { return shmtune_open("", NULL, NULL); }' \
    >"$folder/plug.c"
if [ -f "$build/.libs/libshmtune.a" ]; then
    # shellcheck disable=SC2046,SC2086
    $(setting CC) -shared -fPIC $(setting SAN_CFLAGS) -I"$source/src" \
        "$folder/plug.c" "$build/.libs/libshmtune.a" $(setting YAML_LIBS) \
        $(setting LIBS) -o "$folder/plug.so" >"$folder/err" 2>&1 &&
        nm -D --defined-only "$folder/plug.so" |
        sed -n 's/^.* T \([a-z].*\)$/\1/p' | grep -vx plug |
        sort >"$folder/shown"
    comm -13 "$folder/recorded" "$folder/shown" >>"$folder/err"
    grep -q '^shmtune_open$' "$folder/shown" && [ ! -s "$folder/err" ]
    report $? "and so does what links the archive"
else
    skip "and so does what links the archive" "no archive was built"
fi

# libtool would fail after all has been built.
if [ -x "$source/configure" ]; then
    mkdir "$folder/refused"
    for option in --prefix --libdir; do
        (cd "$folder/refused" &&
            "$source/configure" "$option=$folder/two words") \
            >>"$folder/err" 2>&1 && echo "not refused: $option"
    done >>"$folder/err"
    [ "$(grep -c "error: \"$folder/two words\": .*white space" \
        "$folder/err")" -eq 2 ]
    report $? "configure refuses a folder with a space in its name"
else
    skip "configure refuses a folder with a space" "no configure"
fi

make -s -C "$build" install DESTDIR="$folder/two words" >"$folder/err" 2>&1
[ $? -ne 0 ] && [ ! -e "$folder/two words" ] &&
    grep -q "DESTDIR is \"$folder/two words\": .*white space" "$folder/err"
report $? "make install refuses a DESTDIR with a space before it begins"

# -- an installation, moved --------------------------------------------------

make -s -C "$build" install DESTDIR="$folder/first" >"$folder/err" 2>&1
report $? "make install"
prefix=$(setting prefix)
cp -R "$folder/first$prefix" "$folder/moved"
lib=$(dirname "$(find "$folder/moved" -name libshmtune.so)")
"$folder/moved/bin/shmtune" --version >"$folder/err" 2>&1 &&
    grep -q "^shmtune $(setting VERSION)" "$folder/err"
report $? "the command runs there"
ASAN_OPTIONS=verify_asan_link_order=0 \
    "$folder/moved/bin/shmtune" capture --list -- true >"$folder/err" 2>&1 &&
    grep -q 'launched no kernel' "$folder/err"
report $? "and finds what it preloads"
for file in share/man/man1/shmtune.1 share/shmtune/kernels/transpose.yaml \
    share/shmtune/tunings/transpose/sm_90-nvidia-h100-80gb-hbm3.yaml \
    include/shmtune.h; do
    [ -f "$folder/moved/$file" ] || echo "no $file"
done >"$folder/err"
[ ! -s "$folder/err" ]
report $? "manual, kernels, tunings and header are there"
(cd "$folder/moved/share/doc/shmtune" &&
    find . -type f | sed 's,^\./,,' >"$folder/list" && grep -q '\.md$' "$folder/list" &&
    grep '\.md$' "$folder/list" | xargs awk -v list="$folder/list" \
        -f "$source/tests/rules/links.awk") >"$folder/err" 2>&1 &&
    [ ! -s "$folder/err" ]
report $? "no link of the documents is dead there"

sanitized=$(setting SAN_CFLAGS)
choose() { # PROGRAM: what it says of an H100
    SHMTUNE_PATH=$folder/moved/share/shmtune LD_LIBRARY_PATH=$lib \
        "$1" transpose sm_90 >"$folder/err" 2>&1 &&
        grep -q '^[a-z ]*: .*TILE_X=[0-9]' "$folder/err"
}

if command -v pkg-config >/dev/null 2>&1; then
    mkdir "$folder/make"
    cp "$source"/examples/choose/* "$folder/make/"
    # No other package's file: libyaml's may be nowhere.
    # shellcheck disable=SC2030
    (PKG_CONFIG_LIBDIR=$lib/pkgconfig
        export PKG_CONFIG_LIBDIR
        [ "$(pkg-config --modversion shmtune)" = "$(setting VERSION)" ] &&
            make -s -C "$folder/make" CC="$(setting CC)" \
                PKG_CONFIG="pkg-config --define-prefix" \
                CFLAGS="-std=c17 -Wall -Werror $sanitized") \
        >"$folder/err" 2>&1 && choose "$folder/make/choose"
    report $? "make and pkg-config build the example, which runs"
else
    skip "the example by pkg-config" "no pkg-config"
fi

if command -v cmake >/dev/null 2>&1; then
    mkdir "$folder/cmake"
    cp "$source"/examples/choose/* "$folder/cmake/"
    configure() { # FOLDER INSTALLATION
        CC=$(setting CC) CFLAGS="-std=c17 $sanitized" cmake \
            -S "$folder/cmake" -B "$1" -DCMAKE_PREFIX_PATH="$2" \
            >"$folder/err" 2>&1
    }
    configure "$folder/cmake/build" "$folder/moved" &&
        cmake --build "$folder/cmake/build" >"$folder/err" 2>&1 &&
        choose "$folder/cmake/build/choose"
    report $? "find_package builds the example, which runs"
    if [ -f "$lib/libshmtune.a" ]; then
        cp -R "$folder/moved" "$folder/archive"
        find "$folder/archive" -name 'libshmtune.so*' -exec rm {} +
        configure "$folder/cmake/archive" "$folder/archive" &&
            cmake --build "$folder/cmake/archive" >"$folder/err" 2>&1 &&
            choose "$folder/cmake/archive/choose"
        report $? "and where the archive alone is installed"
        cmake -S "$folder/cmake" -B "$folder/cmake/build" \
            -Dshmtune_DIR="$(find "$folder/archive" -name shmtune \
                -path '*/cmake/*')" >"$folder/err" 2>&1 &&
            cmake --build "$folder/cmake/build" >"$folder/err" 2>&1 &&
            ! readelf -d "$folder/cmake/build/choose" |
            grep 'libshmtune' >"$folder/err"
        report $? "and when shmtune_DIR becomes another one, that is used"
    else
        skip "where the archive alone is installed" "no archive was built"
        skip "when shmtune_DIR becomes another one" "no archive was built"
    fi
    sed -i 's/shmtune 0.2 /shmtune 0.1 /' "$folder/cmake/CMakeLists.txt"
    ! configure "$folder/cmake/other" "$folder/moved" &&
        grep -q "compatible with requested version \"0.1\"" "$folder/err"
    report $? "find_package refuses another minor version"
else
    skip "the example by CMake" "no cmake"
    skip "the archive by CMake" "no cmake"
    skip "another shmtune_DIR by CMake" "no cmake"
    skip "another minor version by CMake" "no cmake"
fi

mkdir "$folder/parts" "$folder/parts/one two"
echo kept >"$folder/parts/one"
make -s -k -C "$build" uninstall DESTDIR="$folder/parts/one two" \
    >"$folder/err" 2>&1
[ $? -ne 0 ] && [ -f "$folder/parts/one" ] &&
    grep -q "DESTDIR is \"$folder/parts/one two\": .*white space" "$folder/err" &&
    ! grep -q " rm -f" "$folder/err"
report $? "make uninstall refuses a DESTDIR with a space, and removes nothing"

make -s -C "$build" uninstall DESTDIR="$folder/first" >"$folder/err" 2>&1 &&
    find "$folder/first" -type f >"$folder/err" && [ ! -s "$folder/err" ]
report $? "make uninstall leaves nothing"
finish
