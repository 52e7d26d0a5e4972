#!/bin/sh
# Compiles the kernels for browsers to the WebAssembly that the page loads, where the
# source has changed since; with --check it only says whether it has, with --test it
# runs their tests in node, or says that there is none.
#   usage: scripts/simd128.sh [--check | --test]
# It needs clang of version 16 or later ($CLANG, or clang-16 on the path) and lld, and installs
# Debian's packages where they are missing. Earlier ones write another code for relaxed madd.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../netruntime/internal/kernel/simd128"

if [ "${1:-}" = --test ]; then
	if ! command -v node >/dev/null 2>&1; then
		echo "simd128: no node: the kernels for browsers, and work aside in them, are not tested (Debian's package is nodejs)"
		exit 0
	fi
	exec="node --stack-size=8192 --experimental-wasm-relaxed-simd $PWD/exec.js"
	cd ../../../..
	export GOOS=js GOARCH=wasm
	for module in simd128fma simd128; do
		SIMD128=$module.wasm ${GO:-go} test -count=1 -tags simd128 -exec "$exec" ./netruntime/internal/kernel
	done
	exec ${GO:-go} test -count=1 -tags simd128 -exec "$exec" -run 'Aside|WaitFor' ./netruntime/internal/pool ./netruntime
fi

# The sum of the source stands at the module's end, in a section of its own.
sum=$(sha256sum <simd128.c | cut -d' ' -f1)
if [ "$(tail -c 64 simd128.wasm 2>/dev/null)" = "$sum" ]; then
	echo "simd128: the kernels are those of the source"
	exit 0
fi
if [ "${1:-}" = --check ]; then
	echo "simd128: the source has changed since the kernels were made: run make simd128" >&2
	exit 1
fi

clang=${CLANG:-clang-16}
if ! command -v "$clang" >/dev/null 2>&1 || ! command -v wasm-ld-16 >/dev/null 2>&1; then
	sudo=''
	[ "$(id -u)" -eq 0 ] || sudo=sudo
	echo "simd128: installing clang-16 and lld-16: they compile the kernels"
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y --no-install-recommends clang-16 lld-16 >/dev/null
fi
new=simd128.wasm.new
trap 'rm -f "$new"' EXIT
for name in simd128fma simd128; do
	flags=''
	[ $name = simd128 ] || flags='-mrelaxed-simd -DFUSED'
	# shellcheck disable=SC2086
	"$clang" --target=wasm32 -msimd128 $flags -O2 -ffp-contract=off -ffreestanding -nostdlib -Wall -Wextra -Werror \
		-Wl,--no-entry -Wl,--import-memory -Wl,--strip-all -o "$new" simd128.c
	chmod 644 "$new"
	printf '\000\110\007sources%s' "$sum" >>"$new"
	mv "$new" $name.wasm
	echo "simd128: wrote netruntime/internal/kernel/simd128/$name.wasm"
done
