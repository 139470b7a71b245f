#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Names of files, and texts out of files, that are made to steer a terminal:
# what people read has them escaped, JSON has them whole.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

bad=$(printf 'a\033[2Jb\nQ\377d')
shown='a\\x1b\[2Jb\\nQ\\xffd'
json_shown='a\\u001B\[2Jb\\nQ?d'

# Neither an escape sequence nor a line that a name has begun.
escaped() { plain && ! grep -q '^Q' "$folder/out" "$folder/err"; }
named() { grep -q -e "$shown" "$folder/out" "$folder/err"; }

mkdir "$folder/$bad"
for file in scale.yaml scale.cu scale.h; do
    cp "$data/$file" "$folder/$bad/"
done
make_tuning "$folder/$bad/t.yaml"
make_journal "$folder/$bad/j.journal"
gzip -c "$folder/$bad/j.journal" >"$folder/$bad/j.journal.gz"
cp "$source/tests/fuzz/corpus/import/cache.json" "$folder/$bad/"
sed 's/default: 1000/default: x/' "$data/scale.yaml" >"$folder/$bad/bad.yaml"

# escapes NAME ARGUMENT...
escapes() {
    what=$1
    shift
    run "$@"
    check "$what" all escaped named
}

escapes "check of a tuning" check "$folder/$bad/t.yaml"
escapes "check of a spec" check "$folder/$bad/scale.yaml"
escapes "check of a bad spec" check "$folder/$bad/bad.yaml"
escapes "space" space "$folder/$bad/bad.yaml"
escapes "inspect" inspect "$folder/$bad/bad.yaml" --arch sm_90
escapes "explain" explain "$folder/$bad/bad.yaml"
escapes "show" show "$folder/$bad/none.yaml"
escapes "score" score "$folder/$bad/none.journal.gz"
escapes "import" import "$folder/$bad/cache.json" -o "$folder/$bad/made"
escapes "import of nothing" import "$folder/$bad/none.json"
escapes "export" export "$folder/$bad/none.journal" --to t4
escapes "tune" tune "$folder/$bad/bad.yaml" --device 0
escapes "tune on a recording" tune scale \
    --device "replay:$folder/$bad/none.journal.gz"
escapes "a command that there is not" "$bad"
escapes "an option that there is not" "--$bad"
escapes "a kernel that there is not" space "$bad"
escapes "a worker" worker --spec "$folder/$bad/bad.yaml" --arch sm_90 \
    --images "$folder/images"
SHMTUNE_PATH=$folder/$bad/none:$root
escapes "doctor" doctor
SHMTUNE_PATH=$root

run check "$folder/$bad/t.yaml" --json
check "JSON has the name as JSON writes it" all is_json plain \
    "out_has '$json_shown'"
run space "$folder/$bad/bad.yaml" --json
check "in errors, too" all is_json plain "out_has '$json_shown'"

cp "$folder/$bad/t.yaml" "$root/tunings/scale/$bad.yaml"
mkdir -p "$folder/$bad/kernels"
cp "$folder/$bad/bad.yaml" "$folder/$bad/kernels/$bad.yaml"
SHMTUNE_PATH=$folder/$bad:$root
run list
check "list" all "exits 0" escaped named
run list --json
check "list as JSON" all "exits 0" is_json plain
SHMTUNE_PATH=$root

# What a file says.
cat >"$folder/device.json" <<'JSON'
{"device_name": "A\u001b[2J\nB", "tune_params_keys": ["a"],
 "tune_params": {"a": [1]}, "cache": {"1": {"a": 1, "time": 2}}}
JSON
run import "$folder/device.json" -o "$folder/device"
check "another tuner's name of a device" all "exits 0" escaped
run show "$folder"/device/tunings/*/*.gz
check "of which we can read what we wrote" all "exits 0" escaped \
    "out_has 'A.x1b\[2J.nB'"
sed 's/name: .*/name: "A\\e[2J\\nB"/' "$folder/$bad/j.journal" \
    >"$folder/device.journal"
run show "$folder/device.journal"
check "the name of a device" all escaped "! grep -q '^B' $folder/out"
sed 's/reason: .*/reason: "A\\e[2J\\nB"}/' "$folder/$bad/j.journal" \
    >"$folder/reason.journal"
run show "$folder/reason.journal"
check "a reason" all "exits 2" plain "err_has 'printable text'"
printf '#!/bin/sh\nprintf "A\\033[2J\\nB\\n" >&2\nexit 1\n' >"$folder/fails"
chmod +x "$folder/fails"
SHMTUNE_WORKER=$folder/fails
export SHMTUNE_WORKER
run inspect scale --arch sm_90
check "what a worker complains of" all plain "! grep -q '^B' $folder/err" \
    "err_has 'A\\\\x1b\[2J\\\\nB'"
finish
