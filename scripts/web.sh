#!/bin/sh
# Builds the scenes for the browser: the program, its page, and the weights beside it.
#   usage: scripts/web.sh [FOLDER]   (default out/web)
set -eu

out=${1:-out/web}
go=${GO:-go}
case $out in /*) ;; *) out=$PWD/$out ;; esac
cd "$(dirname "$0")/.."

# A folder of its own first, so that a failed build leaves the last one whole.
new=$out.new
rm -rf "$new"
mkdir -p "$new/models"
trap 'rm -rf "$new"' EXIT
GOOS=js GOARCH=wasm $go build -tags simd128,webgpu -trimpath -ldflags='-s -w' -o "$new/mannequin.wasm" ./cmd/web
cp "$($go env GOROOT)/lib/wasm/wasm_exec.js" "$new/"
cp cmd/web/page/* "$new/"
cp netruntime/internal/kernel/simd128/simd128.js netruntime/internal/kernel/simd128/simd128fma.wasm netruntime/internal/kernel/simd128/simd128.wasm "$new/"
cp models/LICENSES.md "$new/"
for f in models/*/*.safetensors models/hero/hero.character; do cp "$f" "$new/models/"; done
gzip -9 -n -k "$new/mannequin.wasm"

# Sizes before compression, which the page shows progress by.
(
	cd "$new"
	sep='{'
	for f in mannequin.wasm models/*; do
		printf '%s"%s": %d' "$sep" "$f" "$(wc -c <"$f")"
		sep=', '
	done
	echo '}'
) >"$new/sizes.json"

rm -rf "$out"
mv "$new" "$out"
wasm=$(wc -c <"$out/mannequin.wasm")
small=$(wc -c <"$out/mannequin.wasm.gz")
echo "built ${out#"$PWD/"}: the program has $((wasm / 1000)) kB, $((small / 1000)) kB compressed"
