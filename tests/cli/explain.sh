#!/bin/sh
# SPDX-License-Identifier: MIT
#
# `shmtune explain`: on a recording, and on the fake driver with a fake
# for Nsight Compute that writes what the real one does, or worse.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

cd "$folder" || exit 1

# -- recorded: a toy, by the fake worker --------------------
cp "$source/tests/fake/data/toy.yaml" "$source/tests/fake/data/toy.cu" "$root/kernels/"
chmod u+w "$root/kernels/toy."*
SHMTUNE_WORKER=$build/tests/fake/worker run tune toy --strategy exhaustive \
    --record "$root/tunings" --output "$root/tunings" -j 2 -q
check "has a recording and a tuning" exits 0
rm "$root/tunings/toy/"*.journal
run explain toy --device replay:h100
check "explains a recording" all 'exits 0' 'out_has "^time  *us "' \
    'out_has "^toy, n=4096 m=1, on "' 'out_has "^  tuned: BLOCK_X="' \
    'out_has "limited by"' 'err_has "a recording holds no counters"' \
    'out_lacks "sectors a load"' plain
run explain toy --device replay:h100 --no-counters
check "and is silent when none are wanted" all 'exits 0' err_empty
run explain toy --device replay:h100 --json --size n=4096,m=1
check "as JSON" all 'exits 0' is_json 'out_has "\"no_counters\": \"a rec"' \
    'out_has "\"label\": \"tuned\""' 'out_has "\"n\": 4096"'
run explain toy --device replay:h100 --size n=12345
check "a problem that is not tuned names those that are" all 'exits 8' \
    'err_has "no entry for n=12345 .*it has n=4096 m=1; n=65536 m=3"' \
    out_empty
run explain toy --device replay:h100 --size n=12345 --config BLOCK_X=64
check "a problem that is not recorded" all 'exits 6' 'err_has "n=4096 m=1"'
run explain toy --device replay:h100 --config BLOCK_X=32 \
    --config BLOCK_X=64
check "configurations beside the default" all 'exits 0' \
    'out_has "default  *config 1  *config 2$"' \
    'out_has "config 2: BLOCK_X=64"'
whole=$(ls "$root/tunings/toy/"*.4096x1.journal.gz)
gzip -dc "$whole" | grep -v 'config: {BLOCK_X: 64,' | gzip >part.gz
mv "$whole" whole.gz
mv part.gz "$whole"
run explain toy --device replay:h100 --config BLOCK_X=64 --size n=4096,m=1
check "what is not known of one has no ratio" all 'exits 0' \
    'out_has "config 1: BLOCK_X=64 .*not in the recording"' \
    'out_has "^time  *us  *[0-9.]*  *-$"' 'out_lacks " -[0-9]"' \
    'out_has "^  bandwidth of its work  *GB/s  *0[.]5[0-9]*  *-$"'
mv whole.gz "$whole"
make_tuning other.yaml
run explain toy --device replay:h100 --tuning other.yaml
check "another kernel's tuning" all 'exits 2' 'err_has "not of toy"'
run explain toy --device replay:h100 --output nowhere
check "no tuning" all 'exits 8' 'err_has "in nowhere: .shmtune tune"'
run explain toy --device replay:h100 --output x --config BLOCK_X=64
check "a tuning and configurations" all 'exits 1' 'err_has "leave"'
run explain toy --device cpu
check "a device that cannot be" all 'exits 1' \
    'err_has "device is .cpu.; .*number of a GPU"' 'err_lacks driver'
echo '/* another */' >>"$root/kernels/toy.cu"
run explain toy --device replay:h100
check "sources that have changed" all 'exits 0' 'err_has "have changed"'
run explain toy scale
check "one kernel at a time" exits 1

# -- on a device ------------------------------------------------------------
cp "$source/tests/fake/fake_kernel.yaml" "$source/tests/fake/fake_kernel.cu" .
chmod u+w fake_kernel.*
spec=./fake_kernel.yaml
unset CUDA_HOME SHMTUNE_NCU SHMTUNE_WORKER
if [ ! -f "$build/tests/fake/.libs/fake_cuda.so" ] || ! has_nvrtc; then
    skip "on a device" "no NVRTC or no fake driver"
    finish
    exit 0
fi
SHMTUNE_LIBCUDA=$build/tests/fake/.libs/fake_cuda.so
export SHMTUNE_LIBCUDA

# The fake profiler.  FAKE_NCU says how it behaves.
mkdir bin
cat >bin/ncu <<'SH'
#!/bin/sh
here=$(dirname "$0")
printf '%s\n' "$@" >"$here/../arguments"
echo >>"$here/../runs"
while [ $# -gt 0 ]; do
    case $1 in
    --csv) shift; continue ;;
    --log-file) log=$2 ;;
    --metrics) metrics=$2 ;;
    --*) ;;
    *) break ;;
    esac
    shift 2
done
refuse() {
    echo "==ERROR== $1" >>"$log"
    exit 1
}
echo "==PROF== Connected to process $$ ($1)" >"$log"
case ${FAKE_NCU-} in
unknown) case $metrics in *warps_active*)
    refuse "Failed to find metric sm__warps_active.avg.pct_of_peak_sustained_active" ;;
    esac ;;
broken) refuse "Failed to load libraries" ;;
silent) exit 0 ;;
dies) kill -KILL $$ ;;
esac
FAKE_CUDA_PROFILE=$here/../launches
export FAKE_CUDA_PROFILE
rm -f "$FAKE_CUDA_PROFILE"
echo "==PROF== this is on the same pipe as the replies"
case ${FAKE_NCU-} in
ids) "$@" | sed 's/tag: 1,/tag: 7,/' ;;
swapped) "$@" | sed 's/tag: 0,/tag: 2,/;s/tag: 1,/tag: 0,/;s/tag: 2,/tag: 1,/' ;;
twice) "$@" | sed '/tag: 1,/p' ;;
huge) "$@" | sed 's/tag: 1,/tag: 18446744073709551615,/' ;;
little) "$@" | sed '/tag: 1,/d' ;;
*) "$@" ;;
esac
status=$?
case ${FAKE_NCU-} in
denied)
    refuse "ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0." ;;
esac
fixed='"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC"'
launches=$(wc -l <"$FAKE_CUDA_PROFILE")
[ "${FAKE_NCU-}" != more ] || launches=$((launches + 1))
awk -v metrics="$metrics" -v fixed="$fixed" -v launches="$launches" \
    -v how="${FAKE_NCU-}" 'BEGIN {
    count = split(metrics, name, ",")
    value["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] = "1,000"
    value["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = "32,000"
    value["smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"] = "12.50"
    value["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] = "1,000"
    value["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = "4,000"
    value["smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"] = "100"
    value["dram__bytes_read.sum"] = "104,972,800"
    value["dram__throughput.avg.pct_of_peak_sustained_elapsed"] = "91.25"
    value["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] = "4,000"
    value["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"] = "3,000"
    value["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"] = "0"
    value["l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"] = "0"
    value["smsp__thread_inst_executed_per_inst_executed.ratio"] = "16.5"
    value["gpu__time_duration.sum"] = "180,608"
    value["sm__warps_active.avg.pct_of_peak_sustained_active"] = "n/a"
    printf "%s,\"device__attribute_display_name\"", fixed
    for (k = 1; k <= count; k++)
        printf ",\"%s\"", name[k]
    printf "\n\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\""
    for (k = 1; k <= count; k++)
        printf ",\"%s\"", name[k] ~ /bytes_(read|write)/ ? "byte" : name[k] ~ /time/ ? "ns" : ""
    printf "\n"
    for (i = 0; i < launches; i++) {
        printf "\"%d\",\"1\",\"shmtune\",\"127.0.0.1\",\"scale\",\"1\",\"13\",\"(64, 1, 1)\",\"(16, 1, 1)\",\"0\",\"9.0\",\"Fake, \"\"device\"\"\"", i
        for (k = 1; k <= count; k++) {
            v = name[k] in value ? value[name[k]] : "7"
            if (how == "garbage" && i == 1 && k == 3)
                v = "12; rm -rf"
            if (how == "atomics" && name[k] ~ /global_op_st/)
                v = "0"
            if (how ~ /waits|brief/ && name[k] ~ /dram__throughput/)
                v = "12"
            if (how == "brief" && name[k] ~ /time_duration/)
                v = "2,440"
            if (how == "waits" && name[k] ~ /local_op_ld/)
                v = "640"
            printf ",\"%s\"", v
        }
        printf "\n"
        if (how == "short")
            exit
    }
}' >>"$log"
[ "${FAKE_NCU-}" != cut ] || { head -c $(($(wc -c <"$log") - 40)) "$log" >"$log.cut"; mv "$log.cut" "$log"; }
exit $status
SH
chmod +x bin/ncu
PATH=$folder/bin:$PATH
export FAKE_NCU

config=TILE=128
FAKE_NCU=good
run explain $spec --config $config
check "reads counters" all 'exits 0' err_empty plain \
    'out_has "^sectors a load request  *32.00  *32.00  *1.00$"' \
    'out_has "^sectors a store request  *4.00 "' \
    'out_has "^DRAM read  *MB  *104.97 "' \
    'out_has "bank conflict of loads  *way  *4.00 "' \
    'out_has "^warps active (achieved)  *%  *-  *-$"' \
    'out_has "^local-memory sectors  *0 "' \
    'out_has "^time  *us  *100.00  *100.00  *1.00$"'
check "says what they mean" all \
    'out_has "^default: a load request takes 32.0 sectors and uses 12 % of"' \
    'out_lacks "store request takes"' \
    'out_has "^config 1: shared-memory loads take 4.0 times the steps"' \
    'out_has "16.5 of a warp"' 'out_has "DRAM is 91 % busy"'
check "profiles the launches alone" \
    [ "$(cat launches)" = "$(printf 'scale\nscale')" ]
check "with ncu as it should be" all 'grep -qx -e --profile-from-start arguments' \
    'grep -qx raw arguments' 'grep -q -e "^gpu__time_duration.sum,l1tex__" arguments'
check "and cleans up behind it" [ -z "$(ls "$folder/tmp")" ]
run explain $spec --config $config --json
check "counters as JSON" all 'exits 0' is_json 'out_lacks no_counters' \
    'out_has "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\": 32000"' \
    'out_has "\"sectors_per_load_request\": 32"' \
    'out_has "\"warps_active_percent\": null"'
check "with their sentences, and whose sources they are" all \
    'out_has "\"a load request takes 32.0 sectors and uses 12 % of"' \
    'out_has "\"shared-memory loads take 4.0 times the steps"' \
    'out_has "^  \"digest\": \"[0-9a-f]*\",$"' \
    '"$build/tests/support/holds" "$source/docs/output.schema.json" out'
# The page of a report has them beside the winner of the tuning.
run tune $spec --device 0 --strategy random --budget 6 -j 2 -q
check "tunes what is then explained" exits 0
run explain $spec --json
check "the tuned one" all 'exits 0' 'out_has "\"label\": \"tuned\""'
mkdir page
cp tunings/*/*.yaml page/
cp out page/one.explain.json
run report page -o page.html
check "counters get into a report" all 'exits 0' 'err_lacks "left out"' \
    'grep -q "What the hardware counted" page.html' \
    'grep -q ">sectors a load request</th><td [^>]*>32.00</td>" page.html' \
    'grep -q "<b>default</b>: a load request takes 32.0 sectors" page.html' \
    'grep -q "<b>winner</b>: shared-memory loads take 4.0 times" page.html'
run explain $spec --config $config --no-counters
check "without counters when none are wanted" all 'exits 0' err_empty \
    'out_lacks "sectors a load"' 'out_has "^time "'

fails() { # NAME FAKE_NCU STATUS TEXT
    FAKE_NCU=$2
    rm -f runs
    run explain $spec --config $config
    check "$1" all "exits $3" "err_has 'no counters: .*$4'" \
        '[ "$(wc -l <runs)" -eq 1 ]' \
        'out_has "^time  *us "' 'out_lacks "sectors a load"' \
        '[ -z "$(ls "$folder/tmp")" ]'
}
fails "counters that are not permitted" denied 10 'NVreg_Restrict'
fails "an ncu that cannot start" broken 10 'Failed to load libraries'
fails "an ncu that says nothing" silent 10 'after 0 of 2 configurations'
fails "an ncu that dies" dies 10 'killed by signal 9'
fails "a value that is no number" garbage 2 'no number'
fails "a row too few" short 2 'counters of 1 launches, expected 2 of 2 conf'
fails "a row too many" more 2 'counters of 3 launches, expected 2 of 2 conf'
fails "an answer to what was not asked" ids 70 \
    'answered request 7, expected the answer to request 1 of 2'
fails "answers that are exchanged" swapped 70 \
    'answered request 1, expected the answer to request 0 of 2'
fails "an answer twice" twice 70 'gave 3 answers to 2 requests: .* request 1'
fails "an answer to nothing" huge 70 'answered request 18446744073709551615'
fails "an answer too few" little 10 'after 1 of 2 configurations'
fails "a file that is cut" cut 2 "ncu.s output:[0-9]*: "
FAKE_NCU=unknown
run explain $spec --config $config
check "a metric that this ncu does not know is left out" all 'exits 0' \
    'out_has "^warps active (achieved)  *%  *-  *-$"' \
    'out_has "^sectors a load request  *32.00 "' \
    '! grep -q warps_active arguments'
FAKE_NCU=atomics
run explain $spec --config $config
check "one that stores nothing has no sectors a store" all 'exits 0' \
    'out_has "^sectors a store request  *-  *-$"' 'out_lacks "nan"' \
    '[ -z "$(sed -n "/^sectors a store/{n;/[0-9]/p}" out)" ]' \
    'out_lacks "store request takes"'
FAKE_NCU=waits
run explain $spec --config $config --size n=1000000
check "what keeps nothing busy waits" all 'exits 0' \
    'out_has "^default: neither DRAM (12 %) nor .*peak: it waits, for memory"' \
    'out_has "^default: 640 sectors of local memory are moved: arrays with a computed index, for no"'
run explain $spec --config $config
check "with few blocks it leaves the device idle" all 'exits 0' \
    'out_has "^default: .*: a launch has 16 blocks at most, so of 132 multiprocessors 116 are idle"' \
    'out_has "^config 1: .*: a launch has 8 blocks at most, "' \
    'out_lacks "it waits, for"'
FAKE_NCU=brief
run explain $spec --config $config --size n=1000000
check "and a short one hardly begins" all 'exits 0' \
    'out_has "^default: .*: a launch takes 2.4 us, of which much is its start"' \
    'out_lacks "it waits, for"'
FAKE_NCU=good
run explain $spec --config FAULT=8
check "a wrong configuration is named, and not counted" all 'exits 4' \
    'out_has "config 1: .*output differs"' 'err_has "did not run"'

# One that stands where its own package puts it: of several versions the last.
if can_mount && case $(sed -n 's/^CUDA_DIR = //p' "$build/Makefile") in
    /opt/*) false ;;
    esac && [ -z "$(ls -d /usr/local/cuda*/bin/ncu 2>/dev/null)" ]; then
    on_path=$PATH
    PATH=${PATH#*:}
    run_after "mount -t tmpfs none /opt
cd /opt
mkdir -p nvidia/nsight-compute/2024.3.2 nvidia/nsight-compute/2025.1.0
printf '#!/bin/sh\nexit 9\n' >nvidia/nsight-compute/2024.3.2/ncu
printf '#!/bin/sh\nexec \"$folder/bin/ncu\" \"\$@\"\n' \
    >nvidia/nsight-compute/2025.1.0/ncu
chmod +x nvidia/nsight-compute/*/ncu
cd '$folder'" explain $spec --config $config
    check "an ncu of a package of its own" all 'exits 0' err_empty \
        'out_has "^sectors a load request  *32.00 "'
    PATH=$on_path
else
    skip "an ncu of a package of its own" "nothing may be mounted on /opt"
fi
SHMTUNE_NCU=/no/such/ncu
export SHMTUNE_NCU
run explain $spec --config $config
check "no ncu" all 'exits 8' 'err_has "SHMTUNE_NCU is"' 'out_has "^time "'
run explain $spec --config $config --json
check "no ncu, as JSON" all 'exits 8' is_json 'out_has "\"no_counters\": "'
finish
