#!/bin/sh
# Tests NAME.tbem with tbemc alone. ./test.sh [--update]: --update records what is estimated now in expected.txt.
# TBEMC names another tbemc than the one in PATH.
set -eu
tbemc=${TBEMC:-tbemc}
case $tbemc in
  */*) [ ! -x "$tbemc" ] || tbemc=$(cd "$(dirname "$tbemc")" && pwd)/${tbemc##*/} ;;
esac
cd "$(dirname "$0")"
program=NAME.tbem
unset COLUMNS TBEM_STDLIB TBEM_PATH || true # what is recorded must not depend on who runs the test

command -v "$tbemc" >/dev/null || {
  echo "test.sh: there is no \`$tbemc\`: install tbemc, or name it: TBEMC=/path/to/tbemc ./test.sh" >&2
  exit 3
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

# What follows from shapes is the same on every machine: parameters, FLOPs, memory of live tensors.
"$tbemc" estimate "$program" --on none --quiet >"$scratch/estimated.txt"
if [ "${1:-}" = --update ]; then
  cp "$scratch/estimated.txt" expected.txt
  echo "expected.txt is what is estimated now: look at the difference before you commit it"
  exit 0
fi

echo "layout, names, and the conditions of every row"
"$tbemc" fmt --check "$program"
"$tbemc" check "$program"

echo "proofs for all sizes, nothing left to run time"
"$tbemc" spec --strict "$program" >"$scratch/spec.txt" || {
  cat "$scratch/spec.txt"
  exit 1
}

echo "estimates as recorded in expected.txt"
diff -u expected.txt "$scratch/estimated.txt" || {
  echo "test.sh: the estimates differ; if that is meant: ./test.sh --update" >&2
  exit 1
}

echo "one row as native code: its arena takes the bytes that were planned"
"$tbemc" measure "$program" --at batch=8,channels=4 --repeat 1 --quiet --store "$scratch/rows.tbemdb" >"$scratch/measured.txt" || {
  cat "$scratch/measured.txt"
  exit 1
}
echo "passed"
