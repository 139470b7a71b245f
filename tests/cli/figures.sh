#!/bin/sh
# SPDX-License-Identifier: MIT
#
# --metric, --require and --pareto of tune and show: what they show, what is
# refused, what a run that goes on makes of other requirements, and that what
# breaks one before it is launched is not launched.  tests/fake/worker plays the
# workers.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker
schema=$source/docs/output.schema.json
place=toy/sm_90-pretended-h100.4096x1.journal
tuning=toy/sm_90-pretended-h100.yaml
holds() { # NAME
    out_has "\"format\": \"$1.json/1\"" &&
        "$build/tests/support/holds" "$schema" "$folder/out"
}
# python CODE FILE: as a condition; `it` is the JSON of the file.
python() {
    python3 -c "import json, sys
it = json.load(open(sys.argv[1]))
$1" "$2"
}

run tune toy --size n=4096 --strategy exhaustive -o all --record "$root/tunings"
check "a run without" all 'exits 0' '! grep -q "^require:" all/$place' \
    'grep -q "^format: tuning/1" all/$tuning' 'err_lacks unmet'

# -- metrics -------------------------------------------------------------------
run tune toy --size n=4096 --budget 40 -o m --metric time --metric occupancy \
    --metric 'bits = registers * 32' --wide
check "metrics are columns" all 'exits 0' \
    'out_has "time_us  occupancy_percent  *bits  configuration"'
run tune toy --size n=4096 --budget 40 -o m --json --metric registers \
    --metric 'bits = registers * 32' --metric gflop_per_s
check "and members" all 'exits 0' 'holds tune' 'python "
one = it[\"results\"][0]
assert one[\"metrics\"] == {\"registers\": one[\"result\"][\"registers\"],
    \"bits\": 32 * one[\"result\"][\"registers\"],
    \"gflop_per_s\": one[\"gflop_per_s\"]}" "$folder/out"'
run show m/$tuning --metric 'bits = registers * 32' --json
check "show of a tuning has them" all 'exits 0' 'holds tuning' \
    'out_has "\"bits\": [0-9]"'
run show m/$place --metric 'bits = registers * 32' --json
check "and of a journal" all 'exits 0' 'holds journal' \
    'out_has "\"bits\": [0-9]"'
run show m/$place --metric '_bits = registers * 32' --top 3
check "one whose name begins with a dash below" out_has \
    '^ *us  .*  occ %  *_bits  configuration$'
run show m/$place --metric shared_bytes --top 3
check "as a column" all 'exits 0' 'out_has "shared_bytes  configuration"'

# -- what is refused -----------------------------------------------------------
for words in '--metric speed' '--require registers=3' '--require speed>3' \
    '--pareto time_us' '--pareto time_us,speed' '--metric registers+1'; do
    # shellcheck disable=SC2086
    run tune toy --size n=4096 -o refused $words
    check "refused: $words" all 'exits 1' 'err_has "toy: --[mrp]"' \
        '[ ! -e refused ]'
done
run show m/$tuning --pareto time_us,registers
check "a tuning has no other set" all 'exits 1' 'err_has "is for journals"'

# -- requirements --------------------------------------------------------------
FAKE_WORKER_LOG=$folder/log run tune toy --size n=4096 --strategy exhaustive \
    -o r --require 'shared_bytes <= 4096' --require 'BLOCK_X >= 64' --json
check "what breaks a requirement has a verdict" all 'exits 0' 'holds tune' \
    'python "
one = it[\"results\"][0]
assert one[\"verdicts\"][\"unmet\"] > 10, one[\"verdicts\"]
assert one[\"config\"][\"BLOCK_X\"] >= 64" "$folder/out"' \
    'grep -q "^require: \"shared_bytes <= 4096; BLOCK_X >= 64\"$" r/$place' \
    'grep -q "verdict: unmet, reason: \"--require: 32 >= 64 is false where BLOCK_X = 32\"" r/$place'
unmet=$(grep -c "verdict: unmet" r/$place)
grep "verdict: unmet" r/$place | sed 's/.*config: {\([^}]*\)}.*/\1/' >broken
tried=0
while IFS= read -r config; do
    grep -q "try: {$config}" r/$place && tried=$((tried + 1))
done <broken
check "and was not launched" all '[ "$unmet" -gt 10 ]' '[ "$tried" -eq 0 ]' \
    '! grep "verdict: unmet" r/$place | grep -q time_us'
check "nor compiled where the configuration says it" \
    sh -c '! grep "where BLOCK_X = " "$1" | grep -q registers' sh r/$place
run show r/$place
check "show has the requirement" all 'exits 0' \
    'out_has "required: shared_bytes <= 4096; BLOCK_X >= 64"' \
    'out_has "^unmet .* does not meet a --require"' \
    'out_has "^unmet, for example: "'

# -- a run that goes on --------------------------------------------------------
before=$(grep -c "config:" r/$place)
run tune toy --size n=4096 --strategy exhaustive -o r
check "without requirements all that was refused is tried" all 'exits 0' \
    'err_has "resuming with other requirements: now none; when the journal was begun shared_bytes <= 4096; BLOCK_X >= 64"' \
    'err_lacks unmet' '[ "$(grep -c config: r/$place)" -eq $((before + unmet)) ]'
tail -n +2 "$folder/out" | sed 's/.*BLOCK_X/BLOCK_X/' >winner
run tune toy --size n=4096 --strategy exhaustive -o all -q
tail -n +2 "$folder/out" | sed 's/.*BLOCK_X/BLOCK_X/' >best
check "and the winner is that of a run without" cmp -s winner best
before=$(grep -c "config:" all/$place)
run tune toy --size n=4096 --strategy exhaustive -o all --require 'registers < 40' \
    --json
check "with another nothing is measured again" all 'exits 0' \
    'python "
one = it[\"results\"][0]
assert one[\"verdicts\"][\"unmet\"] > 0
assert one[\"result\"][\"registers\"] < 40" "$folder/out"' \
    '[ "$(grep -c config: all/$place)" -eq "$before" ]'

# -- by what was measured ------------------------------------------------------
best=$(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["results"][0]["result"]["time_us"])' \
    "$folder/out")
run tune toy --device replay:h100 --size n=4096 --strategy exhaustive -o t \
    --require "time_us > $best" --json
check "a time can be required" all 'exits 0' 'python "
one = it[\"results\"][0]
assert one[\"verdicts\"][\"unmet\"] > 0
assert one[\"result\"][\"time_us\"] > $best" "$folder/out"' \
    'grep "verdict: unmet" t/$place | grep -q "time_us: "'
before=$(grep -c "config:" t/$place)
run tune toy --device replay:h100 --size n=4096 --strategy exhaustive -o t
check "and what has a time counts without it" all 'exits 0' \
    'err_lacks unmet' '[ "$(grep -c config: t/$place)" -eq "$before" ]'
run tune toy --device replay:h100 --size n=4096 --strategy exhaustive -o few \
    --require 'BLOCK_X == 32'
check "what most do not meet is no failure of theirs" all 'exits 0' \
    'err_lacks "most candidates fail"' 'err_has " unmet; few/"' \
    'err_has "of [0-9]* unmet, for example "'
run tune toy --device replay:h100 --size n=4096 --strategy exhaustive -o none \
    --require 'time_us < 0'
check "what nothing meets has no winner" all 'exits 3' \
    'err_has "default configuration cannot win"' \
    'err_has "[0-9.]* < 0 is false where time_us = [0-9.]*$"' \
    'err_lacks "[0-9]\{11\}"' \
    'err_has "none of [0-9]* candidates works: [0-9]* unmet"' \
    '[ ! -e none/$tuning ]'

# -- Pareto sets ---------------------------------------------------------------
run tune toy --device replay:h100 --size n=4096 --strategy exhaustive -o p \
    --metric 'waste = shared_bytes + registers' \
    --pareto time_us,waste,occupancy --json
check "a Pareto set is in JSON" all 'exits 0' 'holds tune' 'python "
pareto = it[\"results\"][0][\"pareto\"]
assert pareto[\"of\"] == {\"time_us\": \"min\", \"waste\": \"min\",
                          \"occupancy_percent\": \"max\"}
points = [tuple(p[\"at\"][a] for a in pareto[\"of\"]) for p in pareto[\"set\"]]
assert len(points) == pareto[\"all\"] > 1
for a in points:
    for b in points:
        assert a is b or not (a[0] <= b[0] and a[1] <= b[1] and a[2] >= b[2])
" "$folder/out"'
check "and in the tuning" all 'grep -q "^format: tuning/3$" p/$tuning' \
    'grep -q "    of: {time_us: min, waste: min, occupancy_percent: max}" p/$tuning'
run show p/$tuning
check "which show shows" all 'exits 0' \
    'out_has "Pareto set of time_us, waste, occupancy_percent (more is better): [0-9]* configurations"'
run show p/$tuning --json
check "as JSON too" all 'exits 0' 'holds tuning' 'out_has "\"pareto\": {"'
run check --no-compile p/$tuning
check "and check takes" exits 0
run show all/$place --pareto time_us,shared_bytes:max
check "a journal has one when it is asked" all 'exits 0' \
    'out_has "Pareto set of time_us, shared_bytes (more is better)"'
cp p/$tuning before.yaml
run tune toy --device replay:h100 --size n=4096 --strategy exhaustive -o p
check "without --pareto the tuning has none" all 'exits 0' \
    'grep -q "^format: tuning/1$" p/$tuning' '! grep -q pareto p/$tuning'
finish
