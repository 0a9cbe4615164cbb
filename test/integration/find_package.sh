#!/usr/bin/env bash
# A CMake project finds the installed tree, builds an operator of its own and runs it: every number against the formula.
. "$(dirname "$0")/common.sh"
cmake -S "$root/test/integration/find_package" -B "$WORK/build" -DCMAKE_PREFIX_PATH="$installed" >"$WORK/log" 2>&1 ||
  wrong "$(cat "$WORK/log")"
grep -q "^tbem_DIR:PATH=$installed/" "$WORK/build/CMakeCache.txt" || wrong "another tbem was found"
cmake --build "$WORK/build" >"$WORK/log" 2>&1 || wrong "$(cat "$WORK/log")"
python3 "$root/test/integration/softsign_check.py" "$WORK/build/step.npz"
# A version that is not there is refused.
sed 's/find_package(tbem 0.1 /find_package(tbem 0.2 /' "$root/test/integration/find_package/CMakeLists.txt" >"$WORK/CMakeLists.txt"
! cmake -S "$WORK" -B "$WORK/newer" -DCMAKE_PREFIX_PATH="$installed" >"$WORK/log" 2>&1 || wrong "a tbem 0.2 was found"
grep -q 'tbemConfig.cmake, version: 0.1' "$WORK/log" || wrong "$(cat "$WORK/log")"
