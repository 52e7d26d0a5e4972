#!/bin/sh
# Packs the library for C and engines: out/dist has an archive for each machine whose C compiler is here, and one for JavaScript,
# with header, library, bindings, licences and two models. The same commit gives the same bytes.
#   usage: scripts/dist.sh            builds
#          scripts/dist.sh --check    builds twice, from two folders, and compares
set -eu

go=${GO:-go}
cd "$(dirname "$0")/.."
most=15000000 # bytes of a package without its models

if [ "${1:-}" = --check ]; then
	sh scripts/dist.sh
	copy=$(mktemp -d)
	trap 'rm -rf "$copy"' EXIT
	git archive HEAD | tar -x -C "$copy"
	(cd "$copy" && GOFLAGS=-a sh scripts/dist.sh >/dev/null)
	diff out/dist/SHA256SUMS "$copy/out/dist/SHA256SUMS"
	echo 'dist: two builds from two folders have the same bytes'
	exit 0
fi

# The licence of each module that the library links, and of Go. The environment says for which machine.
licences() {
	echo 'libmannequin contains these works, under the licences below.'
	$go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' ./cmd/libmannequin | sort -u |
		while read -r path version dir; do
			text=$(ls "$dir"/LICENSE* "$dir"/COPYING* 2>/dev/null | head -n 1)
			[ -n "$text" ] || { echo "dist: $path has no licence" >&2; exit 1; }
			printf '\n==== %s %s\n\n' "$path" "$version"
			cat "$text"
		done
	printf '\n==== the Go runtime and standard library\n\n'
	cat "$($go env GOROOT)/LICENSE"
}

# pack NAME puts licences and models into the folder of an archive, and packs it.
pack() {
	name=$1
	dir=out/dist/$name
	cp LICENSE docs/engines.md "$dir/"
	licences >"$dir/LICENSE-THIRD-PARTY"
	rm -rf "$dir/models"
	size=$(find "$dir" -type f -exec cat {} + | wc -c)
	[ "$size" -le $most ] || { echo "dist: $name has $size bytes without models, at most $most are allowed" >&2; exit 1; }
	mkdir "$dir/models"
	cp models/LICENSES.md models/dog-free/dog-free.safetensors models/hero/hero.character "$dir/models/"
	tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r-w,a+X -c -C out/dist "$name" | gzip -9 -n >"$dir.tar.gz"
	rm -r "$dir"
	echo "dist: $name.tar.gz, $(wc -c <"$dir.tar.gz") bytes; $size unpacked without the models"
}

# native GOOS GOARCH COMPILER LIBRARY
native() (
	command -v "$3" >/dev/null || { echo "dist: $1 $2 is left out: $3 is missing"; return 0; }
	export GOOS="$1" GOARCH="$2" CC="$3" CGO_ENABLED=1
	dir=out/dist/mannequin-$1-$2
	mkdir -p "$dir/include" "$dir/lib" "$dir/python" "$dir/examples" "$dir/csharp"
	exports=
	[ "$1" = windows ] || exports=-extldflags=-Wl,--version-script=$PWD/cmd/libmannequin/exports.map
	# The same bits as elsewhere: docs/netruntime.md.
	[ "$2" != arm64 ] || export GOFLAGS="${GOFLAGS:-} -gcflags=all=-d=fmahash=qn"
	$go build -trimpath -buildvcs=false -buildmode=c-shared -ldflags="-s -w -buildid= $exports" -o "$dir/lib/$4" ./cmd/libmannequin
	rm "$dir/lib/${4%.*}.h" # mannequin.h is for people
	cp cmd/libmannequin/mannequin.h cmd/libmannequin/mannequin.hpp "$dir/include/"
	cp cmd/libmannequin/python/mannequin.py "$dir/python/"
	cp cmd/libmannequin/examples/*/*.c "$dir/examples/"
	cp -r bindings/csharp/*.cs bindings/csharp/Unity "$dir/csharp/"
	mkdir "$dir/godot" "$dir/unreal"
	cp -r bindings/godot/project bindings/godot/src "$dir/godot/"
	cp -r bindings/unreal/Mannequin "$dir/unreal/"
	pack "mannequin-$1-$2"
)

wasm() (
	dir=out/dist/mannequin-wasm
	GO=$go sh scripts/wasm.sh "$dir" >/dev/null
	mkdir "$dir/include"
	cp cmd/libmannequin/mannequin.h "$dir/include/"
	export GOOS=wasip1 GOARCH=wasm CGO_ENABLED=0
	pack mannequin-wasm
)

rm -rf out/dist
mkdir -p out/dist
native linux amd64 "$([ "$(uname -m)" = x86_64 ] && echo gcc || echo x86_64-linux-gnu-gcc)" libmannequin.so
native linux arm64 "$([ "$(uname -m)" = aarch64 ] && echo gcc || echo aarch64-linux-gnu-gcc)" libmannequin.so
native windows amd64 x86_64-w64-mingw32-gcc mannequin.dll
wasm
(cd out/dist && sha256sum ./*.tar.gz >SHA256SUMS)
