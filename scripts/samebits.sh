#!/bin/sh
# Plays scenes here, as a program for WebAssembly in node and as one for arm64 in qemu, and compares the
# hashes of all states.
#   usage: scripts/samebits.sh [pattern of scenes and kernels, such as quadruped; . is all]
# What is missing is skipped: node 20 or later, and qemu-aarch64, Debian's package qemu-user. All scenes
# take ten minutes in qemu for 30 ticks. MANNEQUIN_TICKS=300 plays five seconds of each.
set -eu
cd "$(dirname "$0")/.."
scenes=${1:-quadruped}
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
export MANNEQUIN_HASHES="$new/hashes"
go=${GO:-go}
$go test -count=1 -run "SameBits/$scenes/avx|SameBits/$scenes/neon" ./scenes/tape
if command -v node >/dev/null 2>&1; then
	SIMD128=simd128fma.wasm GOOS=js GOARCH=wasm $go test -count=1 -timeout 0 -tags simd128 -run "SameBits/$scenes/simd128" \
		-exec "node --stack-size=8192 --experimental-wasm-relaxed-simd $PWD/netruntime/internal/kernel/simd128/exec.js" ./scenes/tape
else
	echo "samebits: no node: programs for WebAssembly are not compared (Debian's package is nodejs)"
fi
if command -v qemu-aarch64 >/dev/null 2>&1; then
	GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $go test -count=1 -timeout 0 -gcflags=all=-d=fmahash=qn \
		-exec qemu-aarch64 -run "SameBits/$scenes" ./scenes/tape
else
	echo "samebits: no qemu-aarch64: programs for arm64 are not compared (Debian's package is qemu-user)"
fi
