#!/bin/sh
# SPDX-License-Identifier: MIT
#
# examples/kernel_tuner: the spec is a port of the script beside it.  The
# script's own restrictions, evaluated by Python over all combinations of its
# parameters, leave as many configurations as the spec's constraints do, one
# after the other.  Kernel Tuner need not be installed: what it counts stands
# in the README there, with the command that asks it.
. "${SHMT_SRCDIR:?}/tests/cli/tap.sh"

port=$source/examples/kernel_tuner

run check "$port/convolution.yaml" --no-compile
check "the spec is right" exits 0

run space "$port/convolution.yaml" --json
sed -n 's/.*"\(cartesian\|left\)": \([0-9]*\).*/\2/p' "$folder/out" >"$folder/left"
counted=$(sed -n 's/.*`python3 convolution.py --count` prints \([0-9]*\)\..*/\1/p' \
    "$port/README.md")
check "as many configurations as Kernel Tuner counted" \
    [ "$(tail -n 1 "$folder/left")" = "${counted:-none}" ]

if ! command -v python3 >/dev/null; then
    skip "as many after each of the script's restrictions" "no python3"
    finish
    exit 0
fi
cat >"$folder/count.py" <<'PYTHON'
import importlib.util
import itertools
import sys

loading = importlib.util.spec_from_file_location("script", sys.argv[1])
script = importlib.util.module_from_spec(loading)
sys.dont_write_bytecode = True
loading.loader.exec_module(script)
names = list(script.tune_params)
left = [dict(zip(names, values))
        for values in itertools.product(*script.tune_params.values())]
print(len(left))
for restriction in script.restrictions:
    left = [each for each in left if eval(restriction, {}, each)]
    print(len(left))
PYTHON
python3 "$folder/count.py" "$port/convolution.py" >"$folder/counts"
cp "$folder/counts" "$folder/err"
check "as many after each of the script's restrictions" \
    cmp "$folder/left" "$folder/counts"

python3 - "$port/convolution.py" "$port/convolution.yaml" >"$folder/out" <<'PYTHON'
import ast
import re
import sys

# The parameters with their values, read from both texts.
tree = ast.parse(open(sys.argv[1]).read())
script = next(ast.literal_eval(line.value) for line in tree.body
              if isinstance(line, ast.Assign)
              and line.targets[0].id == "tune_params")
spec = {name: ast.literal_eval(values) for name, values in re.findall(
    r"^  (\w+): \{values: (\[.*?\])", open(sys.argv[2]).read(), re.MULTILINE)}
print(script, spec, sep="\n")
sys.exit(script != spec)
PYTHON
status=$?
check "the parameters have the same values" exits 0
finish
