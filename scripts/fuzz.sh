#!/bin/sh
# Fuzzes every FuzzX in the module for the given time each, adds a line for each to docs/fuzz.tsv and
# prints the executions of all time.
#   usage: scripts/fuzz.sh 30s [FOLDER...]
set -eu
[ $# -ge 1 ] || { echo "usage: $0 TIME [FOLDER...]" >&2; exit 2; }
time=$1
shift
log=$(mktemp)
trap 'rm -f "$log"' EXIT
day=$(date -u +%F) commit=$(git rev-parse --short HEAD) crashed=
for file in $(grep -rlE '^func Fuzz' --include='*_test.go' "${@:-.}" | sort); do
	dir=$(dirname "${file#./}")
	for name in $(sed -nE 's/^func (Fuzz[A-Za-z0-9_]+).*/\1/p' "$file"); do
		echo "$dir $name"
		crashes=0
		# At the end of its time Go sometimes reports its own deadline as a failure.
		go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 10x "./$dir" >"$log" 2>&1 ||
			grep -q 'context deadline exceeded' "$log" || crashes=1
		[ $crashes = 0 ] || { cat "$log"; crashed=1; }
		line=$(grep '^fuzz: elapsed: .* execs: ' "$log" | tail -n 1)
		execs=$(echo "$line" | sed -E 's/.*execs: ([0-9]+).*/\1/')
		printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$day" "$commit" "$dir" "$name" "${execs:-0}" $crashes >>docs/fuzz.tsv
	done
done
awk -F"\t" '{ n += $5; c += $6 } END { print n " executions, " c " crashes in all" }' docs/fuzz.tsv
[ -z "$crashed" ]
