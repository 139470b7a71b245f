# SPDX-License-Identifier: MIT
#
# Sourced by benches: `venv`, a virtual environment with Kernel Tuner's current
# release ($SHMT_VENV, by default venv-kernel-tuner in the folder `build`).
# shellcheck shell=sh disable=SC2154
venv=${SHMT_VENV:-$build/venv-kernel-tuner}
if [ ! -x "$venv/bin/python" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check kernel_tuner >&2
fi
