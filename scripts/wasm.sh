#!/bin/sh
# Builds the library for JavaScript: the WebAssembly module, its vector kernels, the classes, samples, and the model that they open.
#   usage: scripts/wasm.sh [FOLDER]   (default out/wasm)
set -eu

out=${1:-out/wasm}
go=${GO:-go}
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "$0")/.."

mkdir -p "$out/js" "$out/models"
GOOS=wasip1 GOARCH=wasm $go build -tags simd128 -trimpath -buildvcs=false -buildmode=c-shared -ldflags='-s -w -buildid=' -o "$out/js/mannequin.wasm" ./cmd/libmannequin
cp bindings/js/*.mjs bindings/js/*.html netruntime/internal/kernel/simd128/simd128fma.wasm netruntime/internal/kernel/simd128/simd128.wasm "$out/js/"
cp models/LICENSES.md models/dog-free/dog-free.safetensors "$out/models/"
echo "built ${out#"$PWD/"}: the library has $(($(wc -c <"$out/js/mannequin.wasm") / 1000)) kB, $(($(gzip -9 -c "$out/js/mannequin.wasm" | wc -c) / 1000)) kB compressed"
