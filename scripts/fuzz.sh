#!/bin/sh
# Fuzzes every FuzzX in the module for the given time each.
#   usage: scripts/fuzz.sh 30s
set -eu
[ $# -eq 1 ] || { echo "usage: $0 TIME" >&2; exit 2; }
grep -rlE '^func Fuzz' --include='*_test.go' . | while read -r file; do
	dir=$(dirname "$file")
	for name in $(sed -nE 's/^func (Fuzz[A-Za-z0-9_]+).*/\1/p' "$file"); do
		echo "$dir $name"
		go test -run '^$' -fuzz "^$name\$" -fuzztime "$1" -fuzzminimizetime 10x "$dir"
	done
done
