#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A measure worker on "another machine": through a launcher that passes standard
# input and output on, to a relay on the fake driver, where no compiler is.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

unset SHMTUNE_WORKER
SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
TMPDIR=$folder/tmp
XDG_CACHE_HOME=$folder/cache
export SHMTUNE_LIBCUDA TMPDIR XDG_CACHE_HOME
cd "$folder" || exit 1
cp "$source/tests/fake/fake_kernel.cu" .
sed -e 's/^\(  TILE: {values: \).*/\1[32, 64], default: 64}/' \
    -e 's/^\(  STATED: {values: \).*/\1[right], default: right}/' \
    -e 's/^\(  FAULT: {values: \)[^]]*/\1[0, 1, 3, 5, 7, 9, 10/' \
    -e 's/^\(  COST: {values: \).*\(, scope\)/\1[100], default: 100\2/' \
    -e 's/^\(  SCRATCH: {values: \).*\(, scope\)/\1[1], default: 1\2/' \
    -e 's/^\(  DYNAMIC: {values: \).*\(, scope\)/\1[0], default: 0\2/' \
    "$source/tests/fake/fake_kernel.yaml" >fake_kernel.yaml

run worker --spec fake_kernel.yaml --images images --arch sm_90
if ! exits 0; then
    echo "1..0 # SKIP $(head -n 1 "$folder/err")"
    exit 0
fi
[ -f "$SHMTUNE_LIBCUDA" ] || {
    echo "1..0 # SKIP the fake driver is not built"
    exit 0
}

# The other machine: no compiler, a cache of its own, and a login that talks.
# Each line of "tricks" is what the next use of the launcher does.
cat >launcher <<END
#!/bin/sh
echo use >>$folder/uses
trick=\$(sed -n 1p $folder/tricks 2>/dev/null)
sed -i 1d $folder/tricks 2>/dev/null
echo "Welcome to the other machine."
export SHMTUNE_NVRTC=/nowhere SHMTUNE_NVCC=/nowhere PATH=/usr/bin:/bin
export XDG_CACHE_HOME=$folder/far-cache TMPDIR=$folder/far-tmp
case \$trick in
kill*) exec timeout -s KILL \${trick#kill} "\$@" ;;
busy*) export FAKE_WORKER_BUSY_MS=60000
    exec timeout -s KILL \${trick#busy} "\$@" ;;
term*) exec timeout \${trick#term} "\$@" ;;
few*)   # measurements, and then one that lasts
    export FAKE_WORKER_BUSY_FROM=\$((\${trick#few} + 1)) FAKE_WORKER_BUSY_MS=60000
    exec "\$@" ;;
freeze)
    export FAKE_WORKER_BUSY_FROM=3 FAKE_WORKER_BUSY_MS=60000
    exec 3<&0   # what runs in the background has no other standard input
    "\$@" <&3 3<&- & relay=\$!
    until worker=\$(cat /proc/\$relay/task/\$relay/children)
        grep -qs -e --spec "/proc/\${worker% }/cmdline"; do
        sleep 0.1
    done
    kill -STOP \$relay
    exec sleep 30 ;;
deaf)
    trap '' TERM
    export FAKE_WORKER_BUSY_FROM=3 FAKE_WORKER_BUSY_MS=60000
    echo \$\$ >>$folder/deaf
    "\$@"
    while :; do sleep 0.1; done ;;
signal*) export FAKE_WORKER_BUSY_MS=900
    exec 3<&0
    "\$@" <&3 3<&- & relay=\$!
    for _ in 1 2 3 4; do
        sleep \${trick#signal}
        worker=\$(cat /proc/\$relay/task/\$relay/children)
        ! grep -qs -e --spec "/proc/\${worker% }/cmdline" ||
            kill -TERM \$worker
    done
    wait \$relay ;;
unended) printf 'no end of a line'
    exec "\$@" ;;
label) "\$@" | sed -u 's/^/0: /' ;;
crlf) "\$@" | sed -u 's/\$/\r/' ;;
late*) echo "job 17 is queued." >&2
    seconds=0
    while [ \$seconds -lt \${trick#late} ]; do
        sleep 1
        seconds=\$((seconds + 1))
        grep -q "job 17" $folder/err || echo \$((seconds + 1)) >$folder/told
    done
    exec "\$@" ;;
only) mkdir held 2>/dev/null ||
    { echo "no GPU is left here" >&2; exit 3; }
    exec "\$@" ;;
queue) mkdir waits 2>/dev/null && exec sleep 60
    exec "\$@" ;;
refuse) echo "no GPU is left here" >&2; exit 3 ;;
motd) exit 0 ;;
version) echo '{relay: 1, shmtune: 9.8.7, device: {new: true}}'; exec cat ;;
protocol) echo '{relay: 77, shmtune: 9.8.7}'; exec cat ;;
garbage) echo '{relay: 1, shmtune: '; exec cat ;;
endless) exec yes 'no greeting' ;;
slow) python3 -c '
import os, time
while True:
    part = os.read(0, 2048)
    if not part: break
    time.sleep(0.005)
    os.write(1, part)' | "\$@" ;;
*) exec "\$@" ;;
esac
END
chmod +x launcher
mkdir far-tmp
far() { # TRICK... -- ARGUMENT...
    : >tricks
    : >uses
    while [ "$1" != -- ]; do
        echo "$1" >>tricks
        shift
    done
    shift
    run tune "$@" --on ./launcher --far-program "$build/shmtune"
}
uses() { [ "$(wc -l <uses)" -eq "$1" ]; }

# What the candidates came to, without the times of day.
results() {
    grep -h '^- {config' "$1"/*/*.journal | sed -e 's/ at: [^,]*,//g; s/ others: [^,]*,//' \
        -e 's/ compile_ms: [^,]*,//; s/ measure_ms: [^,}]*//' \
        -e 's/killed after [0-9.]* s/killed/' | sort
}
same() { # DIRECTORY [AS]
    results "${2:-here}" >one
    results "$1" >other
    diff one other >differ || { sed 's/^/# /' differ; return 1; }
}
# The same without times: one who helps has its own scale.
same_verdicts() { # DIRECTORY AS
    results "$2" | sed 's/, registers.*//' >one
    results "$1" | sed 's/, registers.*//' >other
    diff one other >differ || { sed 's/^/# /' differ; return 1; }
}
left_over() {
    ls -d far-tmp/* tmp/* >left 2>/dev/null
    [ -s left ]
}
all_gone() {
    for _ in $(seq 150); do
        left_over || return 0
        sleep 0.2
    done
    sed 's/^/# left: /' left
    return 1
}

set -- ./fake_kernel.yaml --strategy exhaustive -j 2
run tune "$@" -o here
check "the run on this machine" exits 0
far -- "$@" -o plain
check "through a launcher" all 'exits 0' 'uses 1' 'err_lacks "lost"'
check "the results are those of this machine" same plain
check "a crash there is the candidate's" \
    grep -q 'FAULT: 1, .*verdict: crash' plain/fake_kernel/*.journal
check "nothing stays behind, here or there" all_gone
check "files of some size stay in the cache there" \
    [ -n "$(ls far-cache/shmtune/far)" ]
check "under their digests" sh -c 'cd far-cache/shmtune/far &&
    for f in *; do echo "$f  $f"; done | sha256sum -c --status'
echo damaged >"$(ls -d far-cache/shmtune/far/* | head -n 1)"
far -- "$@" -o damaged
check "what is damaged there is sent again" all 'exits 0' 'same damaged'

run explain ./fake_kernel.yaml --on ./launcher --config TILE=32 --no-counters \
    --far-program "$build/shmtune"
check "explain measures through it, too" all 'exits 0' \
    'out_has "^time  *us  *[0-9]"' 'out_has "^registers"'
run explain ./fake_kernel.yaml --on ./launcher --config TILE=32 \
    --far-program "$build/shmtune"
check "and says why nothing is counted there" all 'exits 8' \
    'out_has "^time  *us  *[0-9]"' \
    'err_has "no counters: ncu counts on the machine .*--no-counters"'
run explain ./fake_kernel.yaml --on ' ' --config TILE=32
check "through nothing" all 'exits 1' 'err_has "on is empty"' out_empty
run explain ./fake_kernel.yaml --on ./launcher --device replay:h100
check "on a recording" all 'exits 1' 'err_has "with --on it names GPUs"'

# -- what else a spec may have -------------------------------------------------

if command -v python3 >/dev/null; then
    mkdir -p data
    python3 -c '
import struct
head = "{\x27descr\x27: \x27<f4\x27, \x27fortran_order\x27: False, \x27shape\x27: (1000,), }"
head = head.ljust(117) + "\n"
open("data/x.npy", "wb").write(b"\x93NUMPY\x01\x00" +
    struct.pack("<H", len(head)) + head.encode() + struct.pack("<1000f", *[0.5] * 1000))'
    sed -e 's|^\(  x: .*\)fill: uniform, range: .-1, 1.|\1fill: {file: data/x.npy}|' \
        fake_kernel.yaml >filled.yaml
    run tune ./filled.yaml --strategy random --budget 3 -o filled-here
    check "inputs of a file, on this machine" exits 0
    far -- ./filled.yaml --strategy random --budget 3 -o filled
    check "inputs of a file are sent" all 'exits 0' 'same filled filled-here'
    sed -e 's/^  x: {type: f32/  x: {type: u32/' filled.yaml >odd.yaml
    far -- ./odd.yaml --strategy random --budget 3 -o odd
    check "files there are named as here" all 'exits 2' \
        'err_has "error: \./odd.yaml:[0-9]*:[0-9]*: .*data/x.npy"'
fi
answer="{command: [sh, oracle.sh, $folder/ran], timeout_s: 20}"
sed -e "/^reference:/,/^  arguments:/d" -e "s|^arguments:|answer: $answer\n&|" \
    -e 's/fill: uniform, range: .-1, 1./fill: zero/; s/fill: ramp/fill: zero/' \
    fake_kernel.yaml >asking.yaml
cat >oracle.sh <<'END'
[ "$SHMTUNE_NVRTC" != /nowhere ] && touch "$1"
head -c 128 x.npy >out.answer.npy
head -c 4000 /dev/zero >>out.answer.npy
head -c 128 acc.npy >acc.answer.npy
i=0
while [ $i -lt 1000 ]; do
    printf '\001\000\000\000'
    i=$((i + 1))
done >>acc.answer.npy
END
far -- ./asking.yaml --strategy random --budget 1 -o asked
check "the program of an answer runs here" all 'exits 0' '[ -e ran ]' \
    'out_has FAULT=0'
run tune ./asking.yaml --strategy random --budget 1 -o asked-here
check "and says there what it says here" same asked asked-here
rm ran
far -- ./asking.yaml --strategy random --budget 1 -o asked --no-resume
check "once" all 'exits 0' '[ ! -e ran ]'
printf 'echo because of this >&2\nexit 5\n' >oracle.sh
far -- ./asking.yaml --strategy random --budget 1 -o asked --no-resume
check "what it says when it fails" all 'exits 4' \
    'err_has "the answer failed: sh ended with 5: because of this"'
cp "$source"/tests/fake/fake_setup.* .
far -- ./fake_setup.yaml --strategy random --budget 2 -o setup
run tune ./fake_setup.yaml --strategy random --budget 2 -o setup-here
check "a setup runs there" all 'exits 0' 'same setup setup-here'
sed "s|source: .*|source: $folder/fake_kernel.cu|" fake_kernel.yaml >elsewhere.yaml
far -- elsewhere.yaml --strategy random --budget 1 -o elsewhere
check "a file by an absolute path is refused" all 'exits 2' \
    'err_has "names .*fake_kernel.cu by an absolute path"'
set -- ./fake_kernel.yaml --strategy exhaustive -j 2

# -- a worker that is lost ----------------------------------------------------

# By a worker that takes its time, and does what a word says.
cp "$source/tests/fake/data/toy.cu" .
words() { # NAME WORD...
    name=$1
    shift
    sed -e "/^    values: \\[good, fine/,/^    default: good/c\\
    values: [$(echo "$*" | sed 's/ /, /g')]\\
    default: good" -e "s/^name: .*/name: $name/" \
        "$source/tests/fake/data/faults.yaml" >"$name.yaml"
}
words deaths good die die_once crash hang
sed -i 's/^\(  BLOCK_X: {values: \).*/\1[64], default: 64}/' deaths.yaml
words slowly good fine spills wrong slow unstable unwritten
SHMTUNE_WORKER=$build/tests/fake/worker
export SHMTUNE_WORKER
set -- ./deaths.yaml --strategy exhaustive -j 2
run tune "$@" -o mortal
check "those who die and hang on this machine" all 'exits 0' \
    'grep -q "hang, .*verdict: timeout" mortal/*/*.journal'
far -- "$@" -o deaths
check "those who do there" all 'exits 0' 'uses 1' 'same deaths mortal' \
    'err_lacks "lost"'
check "and what one died of is told" \
    grep -q 'die, .*verdict: crash, reason: .*killed by signal 11' \
    deaths/deaths/*.journal
set -- ./slowly.yaml --strategy exhaustive -j 2
run tune "$@" -o slowly
# From here on a request takes its time there.
sed -i 's/^case /FAKE_WORKER_BUSY_MS=40\nexport FAKE_WORKER_BUSY_MS\n&/' launcher
far kill0.6 kill0.6 -- "$@" -o killed
check "killed twice" all 'exits 0' 'uses 3' \
    'err_has "the far worker was lost: the launcher .*again$"'
check "its candidates have the same results" same killed slowly
far busy1 busy1 busy1 -- "$@" -o busy
check "lost three times over one candidate" all 'exits 0' 'uses 4' \
    'same busy slowly'
far term0.6 -- "$@" -o preempted
check "told to end" all 'exits 0' 'uses 2' 'err_has "was lost: the launcher"' \
    'same preempted slowly'
far signal0.5 -- ./slowly.yaml --budget 1 -o signalled
check "its measure worker is told to end, by a person or a batch system" all \
    'exits 0' 'uses 1' 'err_lacks "lost"' '[ "$(results signalled | wc -l)" = 1 ]'
far freeze -- "$@" -o frozen --far-timeout 5
check "frozen" all 'exits 0' 'uses 2' 'same frozen slowly' \
    'err_has "was lost: nothing came for 5 s"'
far refuse refuse -- "$@" -o refused
check "refused twice, and then granted" all 'exits 0' 'uses 3' 'same refused slowly'
far refuse refuse refuse refuse refuse -- "$@" -o never
check "refused for good: the launcher's own words" all 'exits 6' 'uses 5' \
    'err_has "lost 5 times in a row, the last time because the launcher exited with status 3: no GPU is left here"'
far motd motd motd motd motd -- "$@" -o never
check "what came before a greeting is told" all 'exits 6' \
    'err_has "before a greeting it wrote \"Welcome to the other machine.\""'
far unended -- "$@" -o unended
check "what is no whole line before a greeting" all 'exits 0' 'uses 1' \
    'same unended slowly'
far label label label label label -- "$@" -o never
check "lines with something before them" all 'exits 6' \
    'err_has "because it has \"0: \" before each line: .*srun --label)\. "'
far crlf crlf crlf crlf crlf -- "$@" -o never
check "lines of a terminal" all 'exits 6' \
    'err_has "because its lines end as a terminal.s do: .*--pty)\. "'
far endless endless endless endless endless -- "$@" -o never
check "a launcher that never ends to write" all 'exits 6' \
    'err_has "writes and writes, and no relay greets"'

# -- the run itself is told to end --------------------------------------------

# told_to_end TRICK OUTPUT: SIGTERM, once there is a result and another is awaited
told_to_end() {
    echo "$1" >tricks
    "$build/shmtune" tune ./slowly.yaml --strategy exhaustive -j 2 -o "$2" \
        --on ./launcher --far-program "$build/shmtune" >out 2>err </dev/null &
    tuning=$!
    for _ in $(seq 300); do
        ! grep -qs "verdict: ok" "$2"/slowly/*.journal || break
        sleep 0.1
    done
    begin
    kill -TERM $tuning
    wait $tuning
    status=$?
}
told_to_end few2 ended
check "SIGTERM writes what there is" all 'exits 130 || exits 9 || exits 7' \
    'grep -q "verdict: ok" ended/slowly/*.journal'
run tune "$@" -o ended
check "and the same command resumes on another machine" all 'exits 0' \
    'same ended slowly'
told_to_end deaf unheard
# ended: whether the launchers are gone that do not end by themselves
ended() {
    for _ in $(seq 100); do
        { tr '\0' ' ' </proc/"$(cat deaf)"/cmdline; } 2>/dev/null |
            grep -q launcher || return 0
        sleep 0.1
    done
    return 1
}
check "a launcher that goes on all the same is killed, and not waited for long" all \
    'exits 130' 'ended' '[ "$(passed)" -le 4 ]' \
    'grep -q "verdict: ok" unheard/slowly/*.journal'
check "nothing of the lost stays behind" all_gone
far garbage -- "$@" -o garbage
check "a greeting that is none" all 'exits 0' 'uses 2' 'same garbage slowly'

# -- several workers ----------------------------------------------------------

sizes='--size n=4096 --size n=8192 --size n=5000'
run tune "$@" $sizes -o dealt-here
far -- "$@" $sizes -o dealt --workers 2
check "problems are dealt to two workers" all 'exits 0' \
    'same_verdicts dealt dealt-here'
rm -rf held
far only only only only only only -- "$@" $sizes -o granted --workers 2
check "what one is not granted, the other measures" all 'exits 0' \
    'err_has "no GPU is left here"' 'same_verdicts granted dealt-here'
far queue queue -- "$@" $sizes -o queued --workers 2
check "one that waits in a queue is not waited for" all 'exits 0' 'uses 2' \
    'err_lacks "lost"' 'same_verdicts queued dealt-here'
begun=$(date +%s)
far late8 -- "$@" -o late --budget 7s --total 7s
most=$(($(date +%s) - begun + 1))
waited() { sed -n 's/.*waiting for .\/launcher for \([0-9]*\) s: .*/\1/p' err; }
check "waiting in a queue is not part of the budget" all 'exits 0' \
    '[ "$(results late | wc -l)" -gt 3 ]' 'err_lacks "too short"' \
    'err_has "waiting for ./launcher for [0-9]* s: job 17 is queued; before a gr"' \
    '[ "$(waited)" -ge 5 ]' '[ "$(waited)" -le "$most" ]' '[ "$(cat told)" -le 6 ]'
run tune "$@" --workers 2 -o never
check "--workers without --on is refused" all 'exits 1' \
    'err_has "workers is for --on"'
for option in "--far-program bin/shmtune" "--far-timeout 20"; do
    # shellcheck disable=SC2086
    run tune fake_kernel --device 0 $option
    check "so is ${option%% *}" all 'exits 1' \
        'err_has "far-program and --far-timeout are for --on"'
done
run tune "$@" --on ./launcher --device all -o never
check "all GPUs there are not known here" all 'exits 1' \
    'err_has "device is \"all\"; with --on it names GPUs of the machine"'
run tune "$@" --on ./launcher --device 0,1 --workers 2 -o never
check "several GPUs of several machines are refused" all 'exits 1' \
    'err_has "and --workers 2 one of each of several"'
run tune "$@" --on ./launcher --device 0,1,0 -o never
check "a GPU there twice is refused" all 'exits 1' 'err_has "names 0 twice"'
FAKE_WORKER_DEVICES=H100,H100
FAKE_WORKER_LOG=$folder/log
export FAKE_WORKER_DEVICES FAKE_WORKER_LOG
far -- "$@" $sizes -o two --device 0,1
check "problems are dealt to two GPUs of one machine" all 'exits 0' 'uses 2' \
    'same_verdicts two dealt-here' 'grep -q "^measure .* on 0$" log' \
    'grep -q "^measure .* on 1$" log'
FAKE_WORKER_DEVICES=H100,A100
rm log
far -- "$@" $sizes -o two --no-resume --device 0,1
check "of two kinds one drops out" all 'exits 0' \
    'err_has "far GPU . is not used any more, .*of one kind"' \
    'grep -q "^measure .* on" log'
unset FAKE_WORKER_DEVICES FAKE_WORKER_LOG

# -- another version ----------------------------------------------------------

far version -- "$@" -o never
check "another version is refused, with both" all 'exits 6' 'uses 1' \
    'err_has "there it is shmtune 9.8.7, here shmtune [0-9.]*; install the same"'
far protocol -- "$@" -o never
check "another protocol, too" all 'exits 6' 'uses 1' \
    'err_has "shmtune 9.8.7 there speaks version 77 of the relay.s protocol, .* here version 1"'
run tune "$@" --on ./launcher --far-program /nowhere/shmtune -o never
check "no shmtune there" all 'exits 6' 'err_has "/nowhere/shmtune"' \
    'err_has "./launcher /nowhere/shmtune worker --far --device 0 </dev/null. shows"' \
    'err_has "; --far-program PATH names shmtune"' 'err_lacks "stands in for it"'
unset SHMTUNE_WORKER
FAKE_CUDA_DEVICES=0
export FAKE_CUDA_DEVICES
far -- "$@" -o never
check "no device there" all 'exits 6' 'uses 1' 'err_has "finds no GPU"'

# -- the command line ---------------------------------------------------------

run tune "$@" --on ' ' -o never
check "an empty launcher is refused" all 'exits 1' 'err_has "on is empty"'
run tune "$@" --on ./launcher --far-program 'a b' -o never
check "a program with a blank is refused" all 'exits 1' \
    'err_has "far-program is \"a b\"; expected letters"'

unset FAKE_CUDA_DEVICES

# -- a slow pipe --------------------------------------------------------------

set -- ./fake_kernel.yaml --strategy exhaustive -j 2
if command -v python3 >/dev/null; then
    far slow -- "$@" -o slow
    check "a slow pipe" all 'exits 0' 'uses 1' 'same slow'
else
    skip "a slow pipe" "no python3"
fi
finish
