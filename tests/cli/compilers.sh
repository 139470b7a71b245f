#!/bin/sh
# SPDX-License-Identifier: MIT
#
# How a source is compiled: for which target, with which options, by which
# compiler, with which headers.  Compiled for real, where there is a compiler.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

if ! has_nvrtc; then
    echo "1..0 # SKIP no NVRTC: $(head -n 1 "$folder/err")"
    exit
fi
mkdir "$folder/own"

# spec NAME [LINE]...: the spec of a kernel NAME of one buffer and one number,
# with these lines at its top; its source comes from standard input.
spec() {
    name=$1
    shift
    cat >"$folder/own/$name.cu"
    {
        printf 'format: kernel/2\nname: %s\nsource: %s.cu\n' "$name" "$name"
        [ $# -eq 0 ] || printf '%s\n' "$@"
        cat <<END
problem:
  n: {default: 1024}
parameters:
  BLOCK: {values: [128, 256], default: 128}
launches:
- entry: $name
  grid: ["ceildiv(n, BLOCK)"]
  block: [BLOCK]
  arguments: [o, n]
arguments:
  o: {type: f32, role: output, count: "roundup(n, 256)"}
  n: {type: i32, value: n}
END
    } >"$folder/own/$name.yaml"
}

# inspects NAME [ARGUMENT]...
inspects() {
    name=$1
    shift
    run inspect "$folder/own/$name.yaml" "$@"
}

# -- targets -----------------------------------------------------------------

asm='asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");'
setmaxnreg() {
    spec "$@" <<END
extern "C" __global__ void $1(float *o, int n)
{
    $asm
    o[blockIdx.x * BLOCK + threadIdx.x] = n;
}
END
}

setmaxnreg plain
inspects plain --arch sm_90
check "an instruction of sm_90a is not one of sm_90" all "exits 9" \
    "err_has 'if sm_90a has it, write \"features: architecture\" into the s'"
inspects plain --arch sm_90a --json
check "an architecture with a suffix is compiled as that" all "exits 0" \
    is_json "out_has '\"arch\": \"sm_90a\"'" "out_lacks compile_error"
inspects plain --arch sm_89a
check "an architecture that has no features of its own" all "exits 1" \
    "err_has '\"sm_89a\", expected one of'"
setmaxnreg own 'features: architecture'
inspects own --arch sm_90
check "a spec asks for the architecture's own features" all "exits 0" \
    "out_has 'on generic sm_90, compiled for sm_90a$'" "out_lacks compile_er"
inspects own --arch sm_80
check "where a device has none it is compiled as portable" all "exits 9" \
    "out_has 'on generic sm_80$'" "out_has 'target .sm_80'" \
    "err_lacks 'write \"features'"
run check "$folder/own/own.yaml"
check "so is the reference, which check compiles" all "exits 0" \
    "out_has 'the default compiles'"
setmaxnreg family 'features: family'
inspects family --arch sm_100 --json
check "those of its family" all "exits 0" "out_has '\"sm_100f\"'"
inspects family --arch sm_90
check "of which sm_90 has none" all "exits 9" "out_has 'on generic sm_90$'"

check "no folder is left behind" [ -z "$(ls "$TMPDIR")" ]
finish
