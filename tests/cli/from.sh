#!/bin/sh
# SPDX-License-Identifier: MIT
#
# --from of tune and score: what another run found, what is refused of it, and
# what is shipped.  tests/fake/worker plays the workers.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker

device=sm_90-pretended-h100
place=toy/$device.4096x1
configs() { grep -o 'config: {[^}]*}' "$1"; }

# -- a source, and a target that is another size -----------------------------
run toy --size n=4096 --strategy exhaustive --output small --record small -q
run toy --size n=8192 --strategy exhaustive --output large --record large -q
small=small/$place.journal.gz
large=large/toy/$device.8192x1.journal.gz
check "two sizes are recorded" all '[ -f $small ]' '[ -f $large ]'

run tune toy --device replay:$large --budget 6 --output cold
configs cold/toy/$device.8192x1.journal >cold.configs
check "a recorded device has no prior unasked" all 'exits 0' \
    'err_lacks learning'
run tune toy --device replay:$large --budget 6 --output none --from none
configs none/toy/$device.8192x1.journal >none.configs
check "none is the same" all 'exits 0' 'err_lacks learning' \
    'same cold.configs none.configs'
run tune toy --device replay:$large --budget 6 --output warm --from $small
configs warm/toy/$device.8192x1.journal >warm.configs
check "a recording is learned from" all 'exits 0' \
    'err_has "^shmtune: toy: learning from $device.4096x1.journal.gz (Pret"' \
    '! same cold.configs warm.configs'
run tune toy --device replay:$large --budget 6 --output again --from $small
configs again/toy/$device.8192x1.journal >again.configs
check "the same again" all 'exits 0' 'same warm.configs again.configs'
run tune toy --device replay:$large --budget 6 --output yaml \
    --from small/toy/$device.yaml --from $small
check "a tuning and a recording" all 'exits 0' \
    'err_has "learning from $device.yaml (.*), $device.4096x1.journal.gz"'
run tune toy --device replay:$large --budget 6 --output folder --from small
check "a folder of them" all 'exits 0' \
    'err_has "learning from $device.4096x1.journal (.*$device.yaml"'

mkdir -p laid/tunings
cp -r small/toy laid/tunings/
run tune toy --device replay:$large --budget 6 --output laid.out --from laid
check "a folder of kernels and tunings, as import lays it" all 'exits 0' \
    'err_has "learning from $device.4096x1.journal (.*$device.yaml"'

# -- resuming ---------------------------------------------------------------
mine=warm/toy/$device.8192x1.journal
check "the journal says what was learned from" all \
    'grep -q "^from: .*$device.4096x1.journal.gz (Pretended H100)" $mine' \
    'grep -q "^from_digest: .[0-9a-f]*.$" $mine'
check "and nothing where it was nothing" \
    all '! grep -q "^from" none/toy/$device.8192x1.journal'
run tune toy --device replay:$large --budget 8 --output warm --from $small
check "who goes on learns from the same" all 'exits 0' \
    'err_has "resuming: [0-9]* candidates"' 'err_lacks "other files"'
run tune toy --device replay:$large --budget 9 --output warm
check "from nothing instead, which is told" all 'exits 0' \
    'err_has "resuming with other files to learn from: now none; when the journal was begun $device.4096x1.journal.gz (Pret"'
run tune toy --device replay:$large --budget 9 --output none --from $small
check "from something at last, too" all 'exits 0' \
    'err_has "now $device.4096x1.journal.gz (.*); when the journal was begun none that it names"'
mkdir later
cp $small later
run tune toy --device replay:$large --budget 6 --output later/out \
    --from later/$device.4096x1.journal.gz
zcat $small | sed '/time_us: 6/s/time_us: 6/time_us: 9/' | gzip \
    >later/$device.4096x1.journal.gz
run tune toy --device replay:$large --budget 7 --output later/out \
    --from later/$device.4096x1.journal.gz
check "the file has changed, which is told" all 'exits 0' \
    'err_has "other files to learn from: $device.4096x1.journal.gz (.*) changed since the journal was begun"'
sed '/^from_digest/d' $mine >half.journal
run tune toy --device replay:$large --output no --from half.journal
check "from without its digest is refused" all 'exits 2' \
    'err_has "half.journal:[0-9]*:[0-9]*: .*from without from_digest"'

# -- a live device ----------------------------------------------------------
mkdir -p shipped/tunings/toy
cp small/toy/$device.yaml shipped/tunings/toy/
cp $small shipped/tunings/toy/
sed 's/compute_major: 9/compute_major: 8/' small/toy/$device.yaml \
    >shipped/tunings/toy/sm_80-other.yaml
SHMTUNE_PATH=$PWD/shipped:$SHMTUNE_PATH
run toy --size n=8192 --budget 8 --output live
check "on a GPU what is shipped for the nearest is learned from" all \
    'exits 0' \
    'err_has "learning from $device.yaml (.*), $device.4096x1.journal.gz"' \
    'err_lacks sm_80'
run toy --size n=8192 --budget 8 --output live2 --from none
check "but not where nobody wants it" all 'exits 0' 'err_lacks learning'
run toy --size n=8192 --budget 8 --output live3 --strategy random
check "nor by a strategy that does not learn" all 'exits 0' \
    'err_lacks learning'
SHMTUNE_PATH=${SHMTUNE_PATH#*:}
sed 's/^name: toy/name: twin/' "$root/kernels/toy.yaml" >"$root/kernels/twin.yaml"
for from in "--from small" "--from small/toy/$device.yaml --from $small"; do
    # shellcheck disable=SC2086
    run tune toy twin --size n=8192 --budget 8 --no-resume --output both $from
    check "of several kernels each has its own: $from" all 'exits 0' \
        'err_has "toy: learning from .*$device"' \
        'err_has "twin: learning from nothing: --from has none of its files"'
done
rm "$root/kernels/twin.yaml"

# -- refusals ---------------------------------------------------------------
run tune toy --device replay:$large --output no --from absent.yaml
check "a file that is not there" all 'exits 5' \
    'err_has absent.yaml' '[ ! -e no/$place.journal ]'
sed 's/^kernel: toy/kernel: other/' small/toy/$device.yaml >other.yaml
run tune toy --device replay:$large --output no --from other.yaml
check "a tuning of another kernel" all '! exits 0' \
    'err_has "other.yaml: a tuning of other, not of toy"'
zcat $small | sed 's/^kernel: toy/kernel: other/' >other.journal
run export $small --to kernel-tuner -o cache.json
run tune toy --device replay:$large --output no --from cache.json
check "the cache of another tuner" all 'exits 2' \
    'err_has "cache.json:1:1: found JSON, expected a journal: .*shmtune import"'
run tune toy --device replay:$large --output no --from other.journal
check "a journal of another kernel" all '! exits 0' \
    'err_has "other.journal:2:.*of the kernel other, expected toy"'
mkdir empty
cp "$root/kernels/toy.yaml" empty/
sed 's/^kernel: toy/kernel: other/' small/$place.journal >empty/a.journal
sed '/^records:/q' small/$place.journal >empty/begun.journal
run tune toy --device replay:$large --output no --from empty
check "a folder without any" all '! exits 0' \
    'err_has "empty: no tuning, journal or recording of toy"'
zcat $small | sed 's,journal/[0-9]*,journal/999,' >newer.journal
sed 's,tuning/[0-9]*,tuning/999,' small/toy/$device.yaml >newer.yaml
head -n 40 small/toy/$device.yaml >cut.yaml
head -c 90 small/$place.journal >cut.journal
ln -s nowhere lost.journal
for file in newer.journal newer.yaml cut.journal cut.yaml lost.journal; do
    rm -rf damaged
    mkdir damaged
    cp -P $file $small damaged
    run tune toy --device replay:$large --output no --from damaged
    check "a folder with what cannot be read, $file" all '! exits 0' \
        'err_has "error: damaged/$file:"'
done
mkdir many
for name in a b c d e f g h i j k l m n o p q; do
    cp $small many/$name.journal.gz
done
run tune toy --device replay:$large --output no --from many
check "more than 16 files" all 'exits 1' \
    'err_has "many/q.journal.gz: more than 16 files to learn from: name fewer"'
run tune toy --device replay:$large --output no --from none --from $small
check "none beside a file" all 'exits 1' 'err_has "none stands alone"'
run tune toy --device replay:$large --output no --from $small \
    --strategy hill
check "a strategy that does not learn" all 'exits 1' \
    'err_has "hill does not learn from other runs"'

# -- other sources ----------------------------------------------------------
zcat $small | sed -e 's/^digest: "..../digest: "ffff/' \
    -e '/^- /s/BLOCK_X: 32,/BLOCK_X: 33,/' >changed.journal
lost=$(grep -c 'BLOCK_X: 33' changed.journal)
run tune toy --device replay:$large --budget 6 --output changed \
    --from changed.journal
check "what the kernel does not have now is left out, and told" all \
    'exits 0' '[ $lost -gt 0 ]' \
    'err_has "other sources, $lost configurations left out"'
zcat $small | sed '/^- /s/BLOCK_X: /BLOCK_X: 7/' >strange.journal
run tune toy --device replay:$large --output no --from strange.journal
check "nothing is left of it" all '! exits 0' \
    'err_has "strange.journal: nothing to learn from: toy has none of its 252 configurations now, of the first: strange.journal:[0-9]*:[0-9]*: 732 is not a value of BLOCK_X"'
sed -e 's/^digest: ..../digest: ffff/' -e 's/UNROLL: /UNR: /' \
    small/toy/$device.yaml >renamed.yaml
run tune toy --device replay:$large --output no --from renamed.yaml
check "nor of a tuning whose default may have been another" all \
    'exits 2' 'err_has "renamed.yaml: nothing to learn from: .* 1 configuration now, of the first: .*UNROLL"'
sed '/^records:/q' small/$place.journal >begun.journal
run tune toy --device replay:$large --output no --from begun.journal
check "nor of a run that has only begun" all 'exits 2' \
    'err_has "begun.journal: nothing to learn from: found no result, expected"'
for file in small/$place.journal small/toy/$device.yaml; do
    other=other-size.${file##*.}
    sed -e 's/^digest: \(.\)..../digest: \1ffff/' \
        -e 's/size: {n: 4096, m: 1}/size: {problem_x: 4096, m: 1}/' \
        $file >$other
    run tune toy --device replay:$large --budget 6 --output $other.out \
        --from $other
    check "the size of a ${other#*.} may have other dimensions" all 'exits 0' \
        'err_has "learning from $other (Pretended H100, other sources)"' \
        'out_has "^toy .* 48.67 .*BLOCK_X=256 UNROLL=4 PAD=1"'
done
zcat $small | sed '$s/verdict: [a-z]*/verdict: superb/' >broken.journal
run tune toy --device replay:$large --output no --from broken.journal
check "and what is broken is refused" all '! exits 0' \
    'err_has "broken.journal:[0-9]*:[0-9]*:"'

# -- winners of others --------------------------------------------------------
run tune toy --device replay:$large --output no --also absent.yaml
check "winners of a file that is not there" all 'exits 5' \
    'err_has absent.yaml'
for file in renamed.yaml other-size.yaml; do
    run tune toy --device replay:$large --output no --also $file
    check "none of $file is left, which is told" all 'exits 2' \
        'err_has "$file: toy has none of its winners now, of the last: "'
done

# -- how much it helps --------------------------------------------------------
run score $large --from $large --repeats 20 --jobs 1
check "from the answer it takes one evaluation" all 'exits 0' err_empty \
    'out_has "^model --from  *1.0  *0.0 "' \
    'out_has "^copied in order  *1$"' \
    'out_has "evaluations to within 5 %, of 20 repeats"' \
    'out_has "^from .*252 configurations; it is the recording itself"'
run score $large --from $small --repeats 2
check "which is not said of another" all 'exits 0' 'out_lacks itself'
run score $large --from $small --repeats 9 --within 1 --json
check "as JSON" all 'exits 0' is_json 'out_has "\"percent\": 1"' \
    'out_has "\"from\": true"' 'out_has "\"best_of_20\""' \
    '"$build/tests/support/holds" "$source/docs/output.schema.json" "$folder/out"' \
    'out_has "\"file\": \"$small\""' 'out_has "\"configurations\": 252"'
run score $large --from changed.journal --repeats 2 --json
check "which has what is left out, too" all 'exits 0' \
    'out_has "\"other_sources\": true"' 'out_has "\"left_out\": $lost"'
run score $large --from $small --repeats 9 --strategies random,model
check "who does not learn is there to compare with" all 'exits 0' \
    'out_has "^random  "' 'out_lacks "^random --from"' \
    'out_has "^model --from"'
run score $large --within 5 --repeats 9 --strategies model,random
check "without a source" all 'exits 0' 'out_has "^random "' \
    'out_lacks -- --from' 'out_lacks copied'
run score $large --from $small --plot x.svg
check "there is no curve of it" all 'exits 1' 'err_has -- "leave out --plot"'
run score $large --from $small --ahead 3
check "nor anything ahead" all 'exits 1' 'err_has -- "leave out --ahead"'
run score $large --from other.yaml
check "another kernel's is refused" all '! exits 0' 'err_has "not of toy"'

finish
