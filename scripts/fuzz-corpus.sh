#!/bin/sh
# Stores inputs that fuzzing found, as seeds for later runs, in testdata/fuzz of each package: of each
# FuzzX up to 12 inputs of at most 1 kB that reach most of what its other seeds do not. Go has the
# inputs in its cache. While it starts, it reads them in the order of their names and counts what
# each adds.
#   usage: scripts/fuzz-corpus.sh [FOLDER...]
set -eu
cache=$(go env GOCACHE)/fuzz/$(go list -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
types() { sed 's/(.*//' "$1"; } # of an input's values
for file in $(grep -rlE '^func Fuzz' --include='*_test.go' "${@:-.}" | sort); do
	dir=$(dirname "${file#./}")
	go test -c -fuzz=Fuzz -o "$work/test" "./$dir"
	for name in $(sed -nE 's/^func (Fuzz[A-Za-z0-9_]+).*/\1/p' "$file"); do
		seeds=$dir/testdata/fuzz/$name
		rm -rf "$work/cache"
		mkdir -p "$work/cache/$name"
		newest=$(ls -t "$cache/$dir/$name" 2>/dev/null | head -n 1)
		for input in $(find "$cache/$dir/$name" -type f -size -3 2>/dev/null); do # blocks of 512 bytes
			to=$(printf %05d "$(wc -c <"$input")")-$(basename "$input") # small inputs first
			# The test may have had other arguments once.
			[ -e "$seeds/$(basename "$input")" ] || [ "$(types "$input")" != "$(types "$cache/$dir/$name/$newest")" ] ||
				cp "$input" "$work/cache/$name/$to"
		done
		have=$(find "$seeds" -type f 2>/dev/null | wc -l)
		ls "$work/cache/$name" >"$work/inputs"
		n=$(wc -l <"$work/inputs")
		(cd "$dir" && GODEBUG=fuzzdebug=1 "$work/test" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime $((n + 500))x -test.parallel 1 -test.fuzzcachedir "$work/cache") >"$work/log" 2>&1 ||
			grep -q 'context deadline exceeded' "$work/log" || { cat "$work/log"; exit 1; }
		sed -nE 's/.*processed an initial input.* new bits: ([0-9]+),.*/\1/p' "$work/log" | tail -n "$n" | paste - "$work/inputs" |
			grep -v '^0' | sort -rn | head -n $((have < 12 ? 12 - have : 0)) | while read -r _ input; do
			mkdir -p "$seeds"
			cp "$work/cache/$name/$input" "$seeds/${input#*-}"
		done
		echo "$dir $name: $(find "$seeds" -type f 2>/dev/null | wc -l) seeds"
	done
done
