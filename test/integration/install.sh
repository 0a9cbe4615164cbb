#!/usr/bin/env bash
# Installs below a prefix with DESTDIR and moves the tree elsewhere. What is to be there is there, nothing names the build or the
# prefix, and shells and man read what is for them.
. "$(dirname "$0")/common.sh"

DESTDIR=$WORK/staged cmake --install "$BUILD" --prefix /opt/tbemc >"$WORK/log"
[ "$(ls "$WORK/staged")" = opt ] || wrong "something was installed outside of the prefix: $(ls "$WORK/staged")"
rm -rf "$installed"
mv "$WORK/staged/opt/tbemc" "$installed"

lib=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
for file in bin/tbemc libexec/tbemc/tbemc-worker include/tbem/native.h include/tbem/backend.h "$lib/cmake/tbem/tbemConfig.cmake" \
  "$lib/cmake/tbem/tbemConfigVersion.cmake" "$lib/pkgconfig/tbem.pc" share/man/man1/tbemc.1 \
  share/bash-completion/completions/tbemc share/zsh/site-functions/_tbemc share/fish/vendor_completions.d/tbemc.fish \
  share/tbemc/editors/neovim/syntax/tbem.vim share/tbemc/editors/vscode/package.json share/tbemc/editors/emacs/tbem-mode.el \
  share/doc/tbemc/examples/table1/table1.tbem share/doc/tbemc/docs/cli.md share/doc/tbemc/copyright; do
  [ -s "$installed/$file" ] || wrong "$file was not installed"
done
named=$(grep -rlF -e "$BUILD" -e /opt/tbemc "$installed" || true)
[ -z "$named" ] || wrong "these name the folder of the build or the prefix, so the tree cannot be moved: $named"
odd=$(find "$installed" -type l ! -name 'libtbem.so*' -o -name '*.pyc' -o -name '*.tbemdb' -o ! -type d -size 0)
[ -z "$odd" ] || wrong "links, empty files or what a run left: $odd"

# What the program says of itself is what was installed.
share=$installed/share
"$installed/bin/tbemc" doc --man | cmp - "$share/man/man1/tbemc.1"
"$installed/bin/tbemc" completion bash | cmp - "$share/bash-completion/completions/tbemc"
bash -n "$share/bash-completion/completions/tbemc"
! command -v zsh >/dev/null || zsh -n "$share/zsh/site-functions/_tbemc"
! command -v fish >/dev/null || fish --no-execute "$share/fish/vendor_completions.d/tbemc.fish"
if command -v man >/dev/null; then
  page=$(man -M "$share/man" -w tbemc)
  [ "$page" = "$share/man/man1/tbemc.1" ] || wrong "man finds $page"
fi

# A symbolic link in another folder is the same program: its worker is found.
ln -s "$installed/bin/tbemc" "$WORK/linked"
"$WORK/linked" measure --store "$WORK/rows.tbemdb" -e 'network n(x: tensor[b, c]) -> tensor[b, 2] { return dense(x, 2) }
  design d of n() { factor batch: 2; input x: [batch, 3]; full }
  measure d { on cpu; metric latency; repeat 1 }' >"$WORK/measured" || wrong "$(cat "$WORK/measured")"
grep -q ' ok ' "$WORK/measured" || wrong "the row was not measured: $(cat "$WORK/measured")"
du -sh "$installed"
