#!/bin/sh
# SPDX-License-Identifier: MIT
#
# A Slurm of its own on this machine: munged, slurmctld and one slurmd a node,
# in a folder.  Sourced by run.sh.  Needs root, as slurmd does.

# slurm_start FOLDER NODES
slurm_start() {
    slurm=$1
    # munge wants no folder on its way that others may write to.
    mkdir -p "$slurm/state" "$slurm/munge"
    chmod 755 "$slurm" "$slurm/munge"
    dd if=/dev/urandom of="$slurm/munge/key" bs=128 count=1 2>/dev/null
    chmod 400 "$slurm/munge/key"
    munged --force --key-file="$slurm/munge/key" \
        --socket="$slurm/munge/socket" --pid-file="$slurm/munge/pid" \
        --log-file="$slurm/munge/log" --seed-file="$slurm/munge/seed" ||
        return 1
    port=$((20000 + $$ % 20000))
    {
        cat <<END
ClusterName=test
SlurmctldHost=$(hostname)
SlurmctldAddr=127.0.0.1
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge/socket
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool-%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd-%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=0,defer_batch
SlurmctldParameters=idle_on_node_suspend
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
KillWait=1
MessageTimeout=10
SlurmdTimeout=60
InactiveLimit=0
END
        k=1
        while [ "$k" -le "$2" ]; do
            echo "NodeName=n$k NodeHostname=$(hostname) NodeAddr=127.0.0.1" \
                "Port=$((port + 1 + k)) CPUs=1 State=UNKNOWN"
            k=$((k + 1))
        done
        echo "PartitionName=low Nodes=ALL Default=YES PriorityTier=1" \
            "PreemptMode=REQUEUE State=UP"
        echo "PartitionName=high Nodes=ALL PriorityTier=10" \
            "PreemptMode=OFF State=UP"
    } >"$slurm/slurm.conf"
    SLURM_CONF=$slurm/slurm.conf
    export SLURM_CONF
    slurmctld -c -f "$SLURM_CONF" || return 1
    k=1
    while [ "$k" -le "$2" ]; do
        mkdir -p "$slurm/spool-n$k"
        slurmd -N "n$k" -f "$SLURM_CONF" || return 1
        k=$((k + 1))
    done
    k=0
    while [ "$k" -lt 300 ]; do
        [ "$(sinfo -h -o %T -N -p low 2>/dev/null | grep -c idle)" -eq "$2" ] &&
            return 0
        k=$((k + 1))
        sleep 0.2
    done
    return 1
}

# Waits until its daemons have ended, which write into its folder till then.
slurm_stop() {
    scancel -u "$(id -un)" 2>/dev/null
    daemons=
    for pid in "$slurm"/slurmd-*.pid "$slurm/slurmctld.pid" \
        "$slurm/munge/pid"; do
        [ -f "$pid" ] && daemons="$daemons $(cat "$pid")"
    done
    # shellcheck disable=SC2086
    kill $daemons 2>/dev/null
    k=0
    for pid in $daemons; do
        while [ "$k" -lt 300 ] && kill -0 "$pid" 2>/dev/null; do
            k=$((k + 1))
            sleep 0.1
        done
    done
}
