# SPDX-License-Identifier: MIT
#
# Sourced with BUILD as the first argument by the parts of the lane that are
# scripts: a folder of their own, and what all scripts that test share.
# shellcheck shell=sh disable=SC2034

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?}" && pwd)
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
. "$here/../support/script.sh"
