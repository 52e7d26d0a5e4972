#!/bin/sh
# Fetches ONNX Runtime's library for Linux on x86-64 into the cache folder
# ($XDG_CACHE_HOME/mannequin, or ~/.cache/mannequin) and prints its path. Set
# ORT_LIB to use another libonnxruntime.
#   usage: scripts/onnxruntime.sh
set -eu

package=onnxruntime-node
version=1.30.0
sum=6e3390d6b783e7be946fad629292799da28d0b42f84856e50d2c1b0383291e75 # of the package
member=package/bin/napi-v6/linux/x64/libonnxruntime.so.1

fail() { echo "onnxruntime: $*" >&2; exit 1; }

if [ -n "${ORT_LIB:-}" ]; then
	[ -f "$ORT_LIB" ] || fail "ORT_LIB names $ORT_LIB, which is no file"
	echo "$ORT_LIB"
	exit 0
fi
[ "$(uname -s) $(uname -m)" = 'Linux x86_64' ] ||
	fail "the package has no library for $(uname -s) on $(uname -m) that is known to work: install ONNX Runtime and set ORT_LIB to its library"

lib=${XDG_CACHE_HOME:-$HOME/.cache}/mannequin/onnxruntime-$version/libonnxruntime.so.1
if [ -f "$lib" ]; then
	echo "$lib"
	exit 0
fi
command -v npm >/dev/null 2>&1 || fail "npm is missing, which fetches the library: install it, or set ORT_LIB to a libonnxruntime.so"

mkdir -p "${lib%/*}"
temp=$(mktemp -d -p "${lib%/*}")
trap 'rm -rf "$temp"' EXIT
trap 'exit 1' INT TERM
echo "onnxruntime: fetching $package $version (108 MB)" >&2
(cd "$temp" && npm pack --ignore-scripts --silent "$package@$version" >/dev/null) || fail "npm could not fetch $package@$version"
tgz=$temp/$package-$version.tgz
echo "$sum  $tgz" | sha256sum -c - >/dev/null 2>&1 || fail "$package $version is not the file that is expected: its SHA-256 is $(sha256sum <"$tgz" | cut -d' ' -f1), want $sum"
tar -xzf "$tgz" -C "$temp" "$member" || fail "$member is not in the package"
mv "$temp/$member" "$lib"
echo "$lib"
