#!/bin/sh
# Compares the speed of two processes of one thread that train together with that of one process of two threads:
# scripts/ranks-speed.sh [DATA]. They take turns, ROUNDS (5) times, SECONDS_EACH (15) seconds each, with a batch of BATCH
# (64). Without DATA it trains on motion that rules make.
set -eu
rounds=${ROUNDS:-5} seconds=${SECONDS_EACH:-15} batch=${BATCH:-64}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
${GO:-go} build -tags mpi -o "$dir/mannequin" ./cmd/mannequin
data=${1:-}
if [ -z "$data" ]; then
	data=$dir/data
	"$dir/mannequin" procgen --out "$data" --minutes 4 >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
fi
minutes=$(awk "BEGIN { print $seconds / 60 }")

# speed NAME COMMAND... trains, and adds the samples per second to the file NAME.
speed() {
	name=$1; shift
	rm -f "$dir"/net.*
	"$@" train mann "$data" --out "$dir/net.safetensors" --minutes "$minutes" --batch "$batch" --json $flags >"$dir/json" 2>"$dir/log" || { cat "$dir/log"; exit 1; }
	sed -n 's/.*"samples_per_second": *\([0-9.]*\).*/\1/p' "$dir/json" >>"$dir/$name"
}
for _ in $(seq "$rounds"); do
	flags='--threads 2' speed alone "$dir/mannequin"
	flags='--threads 2 --shards 2' speed shards "$dir/mannequin"
	flags='--threads 1 --shards 2' speed ranks mpirun --quiet --oversubscribe --bind-to none -n 2 "$dir/mannequin"
done
ratio() { paste "$dir/$1" "$dir/$2" | awk '{ print $1 / $2 }' >"$dir/$1-$2"; }
median() { sort -n "$dir/$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
show() { printf '%-42s %.0f (%s)\n' "$2" "$(median "$1")" "$(sort -n "$dir/$1" | sed -n '1p;$p' | paste -sd' ')"; }
ratio ranks alone
ratio ranks shards
echo "batch $batch, samples/s: median of $rounds rounds (least, most)"
show alone 'one process, two threads'
show shards 'the same with --shards 2'
show ranks 'two processes of one thread, --shards 2'
printf 'in one round, median: two processes are %.2f times as fast as one, %.2f times as fast as one with --shards 2\n' \
	"$(median ranks-alone)" "$(median ranks-shards)"
