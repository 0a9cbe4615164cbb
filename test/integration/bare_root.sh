#!/usr/bin/env bash
# The Debian package in a bare Debian root, installed by apt as the workflow of `tbemc new` does it, whose steps are run as they
# are written. Takes minutes and the network, so only with TBEM_BARE_ROOT=1.
. "$(dirname "$0")/common.sh"
[ "${TBEM_BARE_ROOT:-}" = 1 ] || skip "it makes a Debian root from the network: TBEM_BARE_ROOT=1 asks for it"
needs mmdebstrap apt-config curl unshare
[ "$(id -u)" = 0 ] || skip "only root can install a package in a root of its own"
package=$(echo "$(dirname "$WORK")"/deb/tbemc_*.deb)
[ -f "$package" ] || wrong "there is no package: the test integration.deb makes it"

# Mirrors, keys and proxies are those of this machine.
. /etc/os-release
sources=()
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
  if [ -f "$file" ] && grep -qE "^(deb |Suites:).*\b$VERSION_CODENAME\b" "$file"; then sources+=("$file"); fi
done
[ ${#sources[@]} -gt 0 ] || skip "apt knows no mirror of $VERSION_CODENAME"
apt-config dump | grep -E '^Acquire::(http|https|ftp|Retries|ForceIPv[46])\b' >"$WORK/apt.conf" || true
mmdebstrap --quiet --variant=apt --aptopt="$WORK/apt.conf" "$VERSION_CODENAME" "$WORK/root" "${sources[@]}" >"$WORK/log" 2>&1 || {
  cat "$WORK/log"
  skip "no root could be made: see above"
}
trap 'rm -rf "$WORK/root"' EXIT

# What the template makes, put under the workflow's steps. `docker run` is the bare root.
cd "$WORK"
"$installed/bin/tbemc" new fresh --quiet
mkdir bin
cat >bin/enter <<'ENTER'
#!/bin/sh
# enter COMMAND...: in the bare root, with the processes of this machine and nothing else of it.
exec unshare --mount sh -ec 'mount -t proc proc "$BARE_ROOT/proc"
  exec chroot "$BARE_ROOT" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root "$@"' sh "$@"
ENTER
cat >bin/docker <<'SHIM'
#!/usr/bin/env bash
# docker run --rm -v FOLDER:/work -w /work debian:12 COMMAND...
set -euo pipefail
[ "$1 $2 $3" = "run --rm -v" ] && [ "$5 $6 $7" = "-w /work debian:12" ] || { echo "docker: what is $*?" >&2; exit 125; }
folder=${4%:/work}
shift 7
cp -a "$folder" "$BARE_ROOT/work"
exec enter sh -c 'cd /work && exec "$@"' sh "$@"
SHIM
chmod +x bin/docker bin/enter
python3 - fresh/.github/workflows/test.yml >steps.sh <<'STEPS'
"""The texts of the steps' `run: |`, each as a shell of its own, as GitHub runs them."""
import re
import sys

text = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"^( +)run: \|\n((?:\1  .*\n|\n)+)", text, re.MULTILINE)
assert len(blocks) == 2, blocks
for indent, block in blocks:
    lines = [line[len(indent) + 2:] for line in block.splitlines()]
    print("bash -e <<'END_OF_STEP'\n" + "\n".join(lines) + "\nEND_OF_STEP")
STEPS
export BARE_ROOT=$WORK/root PATH=$WORK/bin:$PATH
cd fresh
! TBEMC_DEB='' bash -e ../steps.sh 2>../unset || wrong "the workflow passes without a package"
grep -q 'TBEMC_DEB is not set' ../unset || wrong "$(cat ../unset)"
TBEMC_DEB=file://$package bash -e ../steps.sh

# And as a user of that machine would.
enter sh -ec 'cd /root && tbemc --version && tbemc new x && x/test.sh && tbemc x/x.tbem --no-plots >x/said && grep -c " 0.99" x/said'
enter dpkg --remove tbemc >"$WORK/log"
left=$(enter find /usr -name '*tbem*')
[ -z "$left" ] || wrong "the removed package left $left"
