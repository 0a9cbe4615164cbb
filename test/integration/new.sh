#!/usr/bin/env bash
# What the installed `tbemc new` makes passes its own test, found in PATH.
. "$(dirname "$0")/common.sh"
cd "$WORK"
export PATH=$installed/bin:$PATH
tbemc new fresh
fresh/test.sh
left=$(cd fresh && find . -type f | sort | tr '\n' ' ')
[ "$left" = "./.github/workflows/test.yml ./.gitignore ./README.md ./expected.txt ./fresh.tbem ./test.sh " ] ||
  wrong "the folder has $left"
