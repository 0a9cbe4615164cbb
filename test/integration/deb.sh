#!/usr/bin/env bash
# The Debian package: what it says of itself, its size, and its program, unpacked.
. "$(dirname "$0")/common.sh"
needs cpack dpkg-deb dpkg-shlibdeps
# xz, as released, takes longer; this is the same package.
(cd "$WORK" && cpack --config "$BUILD/CPackConfig.cmake" -G DEB -B "$WORK" -D CPACK_DEBIAN_COMPRESSION_TYPE=zstd >log 2>&1) ||
  wrong "$(cat "$WORK/log")"
package=$(echo "$WORK"/tbemc_*.deb)
rm -rf "$WORK/_CPack_Packages"
field() { dpkg-deb --field "$package" "$1"; }

[ "$(field Package)" = tbemc ] && [ "$(field Section)" = science ] && [ "$(field Architecture)" = "$(dpkg --print-architecture)" ] ||
  wrong "$(dpkg-deb --field "$package")"
for library in libc6 libz3-4 libdnnl2 libsqlite3-0; do
  [[ " $(field Depends)" == *" $library "* ]] || wrong "it does not depend on $library: $(field Depends)"
done
if grep -q '^TBEM_STATIC_LLVM:BOOL=ON' "$BUILD/CMakeCache.txt" && [[ $(field Depends) == *libllvm* ]]; then
  wrong "it depends on LLVM, which it holds: $(field Depends)"
fi
dpkg-deb --contents "$package" >"$WORK/contents"
foreign=$(awk '$2 != "root/root" || $6 !~ "^./usr/|^./$" && $6 != "./usr"' "$WORK/contents")
[ -z "$foreign" ] || wrong "not root's, or outside of /usr: $foreign"

dpkg-deb --extract "$package" "$WORK/tree"
[ -L "$WORK/tree/usr/lib/$(gcc -print-multiarch)/libtbem.so" ] || [ -L "$WORK/tree/usr/lib/libtbem.so" ] || wrong "libtbem.so is no link"
for program in bin/tbemc libexec/tbemc/tbemc-worker; do
  if readelf --sections --wide "$WORK/tree/usr/$program" | grep -E ' \.(debug_info|symtab) '; then wrong "$program is not stripped"; fi
done
cd "$WORK"
"$WORK/tree/usr/bin/tbemc" new fresh --quiet
TBEMC=$WORK/tree/usr/bin/tbemc fresh/test.sh
bytes=$(stat --format=%s "$package")
echo "package of $((bytes >> 20)) MiB (zstd), $(field Installed-Size) KiB installed; depends on $(field Depends)"
case $(sed -n 's/^CMAKE_BUILD_TYPE:[A-Z]*=//p' "$BUILD/CMakeCache.txt") in
  Release) [ "$bytes" -lt $((64 << 20)) ] || wrong "the package is larger than 64 MiB: something is in it that should not be" ;;
esac
