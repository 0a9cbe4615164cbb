# For the scripts of this folder, which ctest starts with BUILD (the build's folder) and WORK (a folder of theirs, emptied) set.
# Ends with 77 where a test cannot be done here: ctest shows it as skipped, and its log says why.
set -euo pipefail
export LC_ALL=C NO_COLOR=1
unset COLUMNS TBEM_STDLIB TBEM_PATH TBEMC || true
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
installed=$(dirname "$WORK")/installed # what install.sh leaves
rm -rf "$WORK"
mkdir -p "$WORK"
export XDG_CACHE_HOME=$WORK/cache

skip() {
  echo "skipped: $*"
  exit 77
}
wrong() {
  echo "wrong: $*" >&2
  exit 1
}
needs() {
  for tool in "$@"; do command -v "$tool" >/dev/null || skip "there is no $tool here"; done
}
