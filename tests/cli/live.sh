#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tune --report and --plot: the page while the run goes on and at its end, what
# is refused before anything is measured; and metrics and Pareto sets on a page.
# tests/fake/worker plays the workers.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

use_fake_worker
place=toy/sm_90-pretended-h100.4096x1.journal
tuning=toy/sm_90-pretended-h100.yaml
has() { grep -q -e "$2" "$1"; } # FILE PATTERN
lacks() { ! has "$1" "$2"; }

# -- while the run goes on -----------------------------------------------------
# It is slow until the pages have been seen.
FAKE_WORKER_BUSY_MS=200 FAKE_WORKER_COMPILE_MS=1 \
    FAKE_WORKER_BUSY_UNTIL=$folder/seen "$build/shmtune" tune toy --size n=4096 \
    --strategy exhaustive -o slow --report live.html -v >out 2>err &
pid=$!
seen=0 refreshed=0 old=
while kill -0 "$pid" 2>/dev/null; do
    if [ -s live.html ]; then
        cp live.html look.html
        new=$(cksum <look.html)
        if [ "$new" != "$old" ] && [ "$(tail -n 1 look.html)" = "</html>" ]; then
            seen=$((seen + 1))
            if has look.html "The run goes on"; then
                has look.html 'http-equiv="refresh" content="2"' &&
                    refreshed=$((refreshed + 1))
                has look.html 'The search over time' &&
                    cp look.html middle.html
            fi
        fi
        old=$new
    fi
    [ "$seen" -ge 3 ] && [ "$refreshed" -ge 2 ] && [ -s middle.html ] &&
        touch seen
    sleep 0.2
done
wait "$pid"
status=$?
check "a page is rewritten while it goes on" all 'exits 0' \
    '[ "$seen" -ge 3 ]' '[ "$refreshed" -ge 2 ]' '[ -s middle.html ]' \
    'has middle.html "being tuned"'
check "and its last one is at rest" all \
    'lacks live.html http-equiv=.refresh' 'lacks live.html "goes on"' \
    'has live.html "toy, tuned"' 'has live.html "configurations were tried"'
spent=$(sed -n 's/.*page was written .* in \([0-9.]*\) s of.*/\1/p' err)
check "for at most a twentieth of the time:$spent s" sh -c \
    'sed -n "s/.*written \([0-9]*\) times, in \([0-9.]*\) s of \([0-9.]*\) s$/\1 \2 \3/p" "$1" |
        awk "{ good = \$1 >= 3 && \$2 <= 0.05 * \$3 } END { exit !good }"' \
    sh err
rm -f live.html
run tune toy --size n=4096 --size n=4096,m=2 --budget 20 -o two --report live.html
check "the page has all runs of the command" all 'exits 0' \
    'has live.html "n=4096 m=1"' 'has live.html "n=4096 m=2"'

# -- a drawing -----------------------------------------------------------------
run tune toy --size n=4096 --budget 60 -o plot --plot run.svg
check "a run is drawn" all 'exits 0' 'has run.svg "^<svg xmlns"' \
    'has run.svg "The search over time"' 'has run.svg ">BLOCK_X<"'
run report plot/$place --plot same.svg
check "as report draws it" all 'exits 0' 'cmp -s run.svg same.svg'
run tune toy -o refused --report -
check "standard output is no page that is drawn anew" all 'exits 1' out_empty \
    'err_has "standard output (\"-\") cannot be; name a file"' '[ ! -e - ]'
run tune toy --budget 60 -o refused --plot no.svg
check "not of two runs" all 'exits 1' 'err_has "draws one run, and there are 2"' \
    '[ ! -e no.svg ]' '[ ! -e refused/$place ]'

# -- where nothing runs --------------------------------------------------------
echo page >old.html
echo plot >old.svg
for option in "--report old.html --plot old.svg" \
    "--report new.html --plot new.svg"; do
    # shellcheck disable=SC2086
    FAKE_WORKER_START=refuse run tune toy --size n=4096 --budget 9 -o none $option
    check "no device leaves what was there: $option" all '! exits 0' \
        '[ "$(cat old.html old.svg)" = "page
plot" ]' '[ ! -e new.html ]' '[ ! -e new.svg ]'
done
FAKE_WORKER_REFERENCE=bad run tune toy --size n=4096 -o none --report new.html \
    --plot old.svg
check "nor has a run without a time a drawing" all 'exits 4' \
    'has new.html "None was timed"' '[ "$(cat old.svg)" = plot ]'

# -- what cannot be written ----------------------------------------------------
for option in --report --plot; do
    run tune toy --size n=4096 -o refused "$option" absent/file
    check "$option: an absent folder is refused at the start" all 'exits 5' \
        'err_has "absent/file: "' '[ ! -e refused/$place ]'
done
if [ -c /dev/full ]; then
    run tune toy --size n=4096 -o refused --report /dev/full
    check "and a full disk" all 'exits 5' '[ ! -e refused/$place ]'
else
    skip "and a full disk" "no /dev/full here"
fi

# -- metrics and Pareto sets ---------------------------------------------------
run tune toy --size n=4096 --strategy exhaustive -o more --metric 'twice = registers * 2' \
    --pareto time,shared_bytes --report page.html --require 'registers < 99'
check "the page has what tune was asked for" all 'exits 0' \
    'has page.html "<th scope=\"row\">twice</th><td class=\"x\">[0-9]"' \
    'has page.html "<h5>Pareto set</h5>"' \
    'has page.html "that no other beats on all of time_us, shared_bytes"' \
    'has page.html "Required: registers &lt; 99"'
run report more/$tuning -o page.html
check "report shows the set of a tuning" all 'exits 0' \
    'has page.html "that no other beats on all of time_us, shared_bytes"'
run report more/$place -o page.html
check "and none of a journal" all 'exits 0' 'lacks page.html "<h5>Pareto"'
run report more/$place -o page.html --pareto occupancy,time \
    --metric 'h = registers // 2'
check "unless it is asked for" all 'exits 0' \
    'has page.html "beats on all of occupancy_percent (more is better), time_us"' \
    'has page.html ">h</th><td class=\"x\">[0-9]"'
run report more/$place -o no.html --metric speed
check "of what there is no number" all 'exits 1' \
    'err_has "toy: --metric: \"speed\" is no number"' '[ ! -e no.html ]'
finish
