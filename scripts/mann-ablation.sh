#!/bin/sh
# Trains small variants of the dog, one thing changed in each, evaluates them and
# writes the table of docs/mann.md to OUT/table.md. What is done is not done again.
#
#   scripts/mann-ablation.sh DATA OUT [VARIANT...]
set -eu
[ $# -ge 2 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" >&2; exit 2; }
data=$1 out=$2
shift 2
mkdir -p "$out"
[ -x "$out/mannequin" ] || go build -o "$out/mannequin" ./cmd/mannequin

ours="--phases --reverse --walk 1 --keep 1 --change 0.1 --skate 0 --bend 0 --recover 0 --ticks 8 --cycle 7 --epochs 8"
# name | flags; of a flag that stands twice the second counts
variants="ours|
another seed|--seed 2
no phases: the gating reads velocities of paws|--phases=false
1 tick: recorded poses only|--ticks 1
4 ticks|--ticks 4
16 ticks|--ticks 16
dropout, 0.7 kept|--keep 0.7
no loss on changes|--change 0
sliding and bending in the loss|--skate 0.3 --bend 0.1
trot and canter visited once, 10 epochs|--repeat 1 --cycle 9 --epochs 10
walks and turns visited 4 times, 4 epochs|--walk 4 --cycle 3 --epochs 4
no reversed walks|--reverse=false
rate with warm restarts|--cycle 1
4 experts|--experts 4
recovery, 0.3 of the steps|--recover 0.3"

wanted() {
	[ $# -eq 1 ] && return 0
	name=$1
	shift
	for v; do [ "$v" = "$name" ] && return 0; done
	return 1
}

echo "$variants" | while IFS='|' read -r name flags; do
	wanted "$name" "$@" || continue
	f="$out/$(echo "$name" | tr ' ,:' '-__')"
	[ -s "$f.report" ] || {
		echo "$name" >&2
		# shellcheck disable=SC2086
		"$out/mannequin" train mann "$data" --out "$f.safetensors" --hidden 256 --batch 64 --clip 1 --rate 4e-4 --warm-up 0.3 \
			$ours $flags --resume 2> "$f.log"
		"$out/mannequin" eval mann "$data" --model "$f.safetensors" > "$f.report.new"
		mv "$f.report.new" "$f.report"
	}
done

{
	echo "| variant | places, mm | velocities, m/s | worst speed | skate walk, turn | leg angles walk, turn | starts that reach the gait | bars missed |"
	echo "|---|---|---|---|---|---|---|---|"
	echo "$variants" | while IFS='|' read -r name _; do
		f="$out/$(echo "$name" | tr ' ,:' '-__').report"
		[ -s "$f" ] || continue
		awk -v name="$name" '
			/^ *bone position/ { place = $4 * 1000 }
			/^ *bone velocity/ { vel = $4 }
			/bars missed, marked/ { match($0, /[0-9]+ of [0-9]+ bars/); bars = substr($0, RSTART, RLENGTH - 5) }
			/^skate ÷ recorded, matched, raw/ { skate = pick("walk") ", " pick("turn") }
			/^leg angle update ÷ recorded, matched, raw/ { legs = pick("walk") ", " pick("turn") }
			/^speed off the command, share/ { n = split($0, p, ") "); for (i = 2; i <= n; i++) if (p[i] + 0 > speed) speed = p[i] + 0 }
			/^share of starts that come/ { n = split($0, p, ") "); for (i = 2; i <= n; i++) starts += p[i] }
			function pick(k,    s) { s = substr($0, index($0, k) + length(k)); sub(/^ */, "", s); sub(/ .*/, "", s); return s }
			END { printf "| %s | %.1f | %.3f | %.0f %% | %s | %s | %d of 16 | %s |\n", name, place, vel, 100 * speed, skate, legs, 4 * starts, bars }' "$f"
	done
} > "$out/table.md"
cat "$out/table.md"
