#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Workers on other machines through real launchers: a sshd on the loopback
# address, and a Slurm of several nodes on this machine, over the fake driver,
# with workers killed, frozen and preempted.  TAP.  About a minute.
#
#   tests/cluster/run.sh [BUILD]      [build]; needs root, and the packages
#       slurmctld slurmd slurm-client munge openssh-server; 77: one is missing
set -u
LC_ALL=C
export LC_ALL

source=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:-$source/build}" && pwd) || exit 1
failed=0
skip_all() {
    echo "1..0 # SKIP $1"
    exit 77
}
[ "$(id -u)" = 0 ] || skip_all "slurmd needs root"
for program in slurmctld slurmd srun munged sshd ssh-keygen; do
    command -v "$program" >/dev/null ||
        [ -x "/usr/sbin/$program" ] || skip_all "no $program"
done
PATH=$PATH:/usr/sbin:/sbin
make -s -C "$build" shmtune tests/fake/worker tests/fake/fake_cuda.la || exit 1

folder=$(mktemp -d /var/tmp/shmtune-cluster.XXXXXX) || exit 1
slurm='' sshd=''
. "$source/tests/cluster/slurm.sh"
clean() {
    [ -z "$slurm" ] || slurm_stop
    [ -z "$sshd" ] || kill "$sshd" 2>/dev/null
    # Those who were frozen and are still there.
    for pid in $(cat "$folder/frozen" 2>/dev/null); do
        kill -KILL "$pid" 2>/dev/null
    done
    rm -rf "$folder"
}
trap clean EXIT
chmod 755 "$folder"
cd "$folder" || exit 1

. "$source/tests/support/script.sh"
complain() {
    echo "# exit status $status"
    sed 's/^/# err: /' err
    failed=1
}
await() { # SECONDS CONDITION
    waited=0
    until eval "$2"; do
        waited=$((waited + 1))
        [ "$waited" -lt $(($1 * 10)) ] || return 1
        sleep 0.1
    done
}

# -- what is tuned ------------------------------------------------------------

cp "$source/tests/fake/data/toy.cu" "$source/tests/fake/fake_kernel.cu" .
sed -e '/^    values: \[good, fine/,/^    default: good/c\
    values: [good, fine, spills, wrong, die, unstable, unwritten]\
    default: good' "$source/tests/fake/data/faults.yaml" >faults.yaml
sed -e 's/^\(  TILE: {values: \).*/\1[32, 64], default: 64}/' \
    -e 's/^\(  STATED: {values: \).*/\1[right], default: right}/' \
    -e 's/^\(  FAULT: {values: \)[^]]*/\1[0, 1, 3, 5, 7, 9, 10/' \
    -e 's/^\(  COST: {values: \).*\(, scope\)/\1[100], default: 100\2/' \
    -e 's/^\(  SCRATCH: {values: \).*\(, scope\)/\1[1], default: 1\2/' \
    -e 's/^\(  DYNAMIC: {values: \).*\(, scope\)/\1[0], default: 0\2/' \
    "$source/tests/fake/fake_kernel.yaml" >fake_kernel.yaml
export SHMTUNE_LIBCUDA="$build/tests/fake/.libs/fake_cuda.so"
export HOME="$folder" TMPDIR="$folder" XDG_CACHE_HOME="$folder/cache"
fake=$build/tests/fake/worker
"$build/shmtune" worker --spec faults.yaml --images images --arch sm_90 \
    >out 2>err </dev/null || skip_all "$(head -n 1 err)"

results() {
    grep -h '^- {config' "$1"/*/*.journal | sed -e 's/ at: [^,]*,//g; s/ others: [^,]*,//' \
        -e 's/ compile_ms: [^,]*,//; s/ measure_ms: [^,}]*//' \
        -e 's/killed after [0-9.]* s/killed/' | sort
}
same() { # ONE OTHER
    results "$1" >one
    results "$2" >other
    diff one other >differ || { sed 's/^/# /' differ; return 1; }
}
measured() { # DIRECTORY: how many
    cat "$1"/*/*.journal 2>/dev/null | grep -c '^- {config'
}

# tune DIRECTORY ARGUMENT...: in the background; done: waits for its end.
# Where there is a far side, it takes its time there.
slowly='env SHMTUNE_NVRTC=/nowhere FAKE_WORKER_BUSY_MS=60'
tune() {
    directory=$1
    shift
    case " $* " in
    *" --on "*) set -- "$@" --far-program "$build/shmtune" --far-timeout 3 ;;
    esac
    "$build/shmtune" tune "$@" --strategy exhaustive -j 2 -o "$directory" \
        >out 2>err </dev/null &
    tuning=$!
}
done_tuning() {
    wait "$tuning"
    status=$?
}
relays() { pgrep -f 'worker --far --device' ; }
relay() { # the process itself, not its launchers
    program=$(readlink -f "$build/shmtune")
    for pid in $(relays); do
        [ "$(readlink "/proc/$pid/exe")" = "$program" ] && echo "$pid"
    done
}
freeze() {
    for pid in $(relay); do
        echo "$pid" >>frozen
        kill -STOP "$pid"
    done
}

tune here ./fake_kernel.yaml
done_tuning
check "this machine" all '[ $status -eq 0 ]'
SHMTUNE_WORKER=$fake
export SHMTUNE_WORKER
tune slow ./faults.yaml
done_tuning
check "this machine, slowly" all '[ $status -eq 0 ]'
unset SHMTUNE_WORKER

# -- ssh ----------------------------------------------------------------------

ssh-keygen -q -t ed25519 -N '' -f key
ssh-keygen -q -t ed25519 -N '' -f host
mkdir -p /run/sshd
port=$((40000 + $$ % 20000))
cat >sshd.conf <<END
ListenAddress 127.0.0.1:$port
HostKey $folder/host
AuthorizedKeysFile $folder/key.pub
PidFile $folder/sshd.pid
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PrintMotd no
END
"$(command -v sshd)" -f "$folder/sshd.conf" -E "$folder/sshd.log"
await 60 '[ -s sshd.pid ]' || { cat sshd.log; exit 1; }
sshd=$(cat sshd.pid)
ssh="ssh -F none -i $folder/key -o BatchMode=yes -p $port \
-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR \
root@127.0.0.1"
far="env SHMTUNE_LIBCUDA=$SHMTUNE_LIBCUDA TMPDIR=$folder \
XDG_CACHE_HOME=$folder/far-cache SHMTUNE_NVRTC=/nowhere"

tune ssh ./fake_kernel.yaml --on "$ssh $far"
done_tuning
check "ssh: the results are those of this machine" all '[ $status -eq 0 ]' \
    'same here ssh'

SHMTUNE_WORKER=$fake
export SHMTUNE_WORKER
far="$far SHMTUNE_WORKER=$fake $slowly"
tune ssh-killed ./faults.yaml --on "$ssh $far"
await 120 '[ "$(measured ssh-killed)" -ge 3 ]'
kill -KILL $(pgrep -P "$sshd")
done_tuning
check "ssh: a connection that ends" all '[ $status -eq 0 ]' \
    'grep -q "the far worker was lost: the launcher exited" err' \
    'same slow ssh-killed'
tune ssh-frozen ./faults.yaml --on "$ssh $far"
await 120 '[ "$(measured ssh-frozen)" -ge 3 ]'
freeze
done_tuning
check "ssh: a machine that freezes" all '[ $status -eq 0 ]' \
    'grep -q "was lost: nothing came for 3 s" err' 'same slow ssh-frozen'
unset SHMTUNE_WORKER
run_refused() {
    tune never ./faults.yaml --on "ssh -F none -o BatchMode=yes -p 1 127.0.0.1"
    done_tuning
}
run_refused
check "ssh: the words of one that leads nowhere" all '[ $status -eq 6 ]' \
    'grep -q "ssh: connect to host 127.0.0.1 port 1: Connection refused" err'

# -- Slurm --------------------------------------------------------------------

if ! slurm_start "$folder/slurm" 2; then
    tail -n 5 "$folder"/slurm/*.log | sed 's/^/# /'
    echo "not ok $((count + 1)) - a Slurm of two nodes"
    exit 1
fi
srun="srun -n1 --quiet --job-name=far -p low"
jobs_of() { squeue -h -o %i -n "$1" -t "${2:-RUNNING}"; }

tune srun ./fake_kernel.yaml --on "$srun env SHMTUNE_NVRTC=/nowhere"
done_tuning
check "srun: the results are those of this machine" all '[ $status -eq 0 ]' \
    'same here srun'

SHMTUNE_WORKER=$fake
export SHMTUNE_WORKER
tune cancelled ./faults.yaml --on "$srun $slowly"
await 120 '[ "$(measured cancelled)" -ge 3 ]'
scancel $(jobs_of far)
done_tuning
check "srun: a job that is cancelled" all '[ $status -eq 0 ]' \
    'grep -q "was lost: the launcher " err' 'same slow cancelled'
tune killed ./faults.yaml --on "$srun $slowly"
await 120 '[ "$(measured killed)" -ge 3 ]'
scancel --signal=KILL $(jobs_of far)
done_tuning
check "srun: a step that is killed" all '[ $status -eq 0 ]' \
    'grep -q "was lost: the launcher " err' 'same slow killed'
tune srun-frozen ./faults.yaml --on "$srun $slowly"
await 120 '[ "$(measured srun-frozen)" -ge 3 ]'
freeze
done_tuning
check "srun: a node that freezes" all '[ $status -eq 0 ]' \
    'grep -q "was lost: nothing came for 3 s" err' 'same slow srun-frozen'

# Both nodes are wanted by those who may have them, for longer than a notice
# takes.
tune preempted ./faults.yaml --on "$srun $slowly"
await 120 '[ "$(measured preempted)" -ge 3 ]'
sbatch -Q -p high -N2 --job-name=first -o /dev/null --wrap 'sleep 6'
done_tuning
check "srun: a job that is preempted, and granted again" all '[ $status -eq 0 ]' \
    'grep -q "was lost: the launcher " err' \
    'grep -q "waiting for srun .* for [0-9]* s" err' 'same slow preempted'

# -- the tuner in a job -------------------------------------------------------

cat >job <<END
#!/bin/sh
exec "$build/shmtune" tune "$folder/faults.yaml" --strategy exhaustive -j 2 \\
    -o "$folder/batch" --far-program "$build/shmtune" \\
    --on "srun -n1 --quiet --overlap $slowly"
END
sbatch -Q -p low -N1 --requeue --open-mode=append --job-name=batch \
    -o batch.out job
await 120 '[ "$(measured batch)" -ge 3 ]'
sbatch -Q -p high -N2 --job-name=second -o /dev/null --wrap 'sleep 1'
await 120 '[ -n "$(squeue -h -n batch -t PENDING)" ]'
# Slurm lets one that was preempted wait for two minutes.
await 120 '[ -z "$(squeue -h -n second)" ]'
scontrol update "JobId=$(jobs_of batch PENDING)" StartTime=now
await 180 '[ -z "$(squeue -h -n batch)" ]'
status=$?
cp batch.out err
check "sbatch: preempted, started again, resumed" all '[ $status -eq 0 ]' \
    'grep -q "resuming: [0-9]* candidate" err' 'same slow batch'
unset SHMTUNE_WORKER
for pid in $(cat frozen); do
    kill -KILL "$pid" 2>/dev/null
done
check "no relay is left, but for the frozen" all \
    'await 60 "[ -z \"\$(relay)\" ]"'
finish
exit "$failed"
