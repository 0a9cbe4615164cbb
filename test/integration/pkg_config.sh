#!/usr/bin/env bash
# The installed example of an operator in C, built by what pkg-config says and run by the tbemc that it names.
. "$(dirname "$0")/common.sh"
needs pkg-config cc
lib=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$BUILD/CMakeCache.txt")
export PKG_CONFIG_PATH=$installed/$lib/pkgconfig
cp -r "$installed/share/doc/tbemc/examples/own_operator" "$WORK/example"
cd "$WORK/example"
# shellcheck disable=SC2046 # flags are words
cc -std=c11 -Wall -Werror -O2 -fPIC -shared $(pkg-config --cflags tbem) -o liblrn.so lrn.c -lm
tbemc=$(pkg-config --variable=tbemc tbem)
version=$("$tbemc" --version)
[ "$version" = "tbemc $(pkg-config --modversion tbem)" ] || wrong "$tbemc is $version"
"$tbemc" measure own_operator.tbem --at batch=4,width=16 >measured || wrong "$(cat measured)"
grep -q ' ok ' measured || wrong "the row was not measured: $(cat measured)"
