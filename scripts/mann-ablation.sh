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

ours="--phases --reverse --keep 1 --change 0.1"
# name | flags of both stages | flags of the second stage
variants="ours|$ours|--ticks 8
without phases|--reverse --keep 1 --change 0.1|--ticks 8
recorded poses only|$ours|--ticks 1
4 ticks|$ours|--ticks 4
16 ticks|$ours|--ticks 16
dropout 0.7|--phases --reverse --keep 0.7 --change 0.1|--ticks 8
without the change loss|--phases --reverse --keep 1|--ticks 8
without reversed walks|--phases --keep 1 --change 0.1|--ticks 8
walks and turns visited 4 times|$ours --walk 4|--ticks 8
noise of 0.1|$ours --noise 0.1|--ticks 8
drift of 2 cm|$ours --drift 0.02|--ticks 8
changes as outputs|$ours --residual|--ticks 8
warm restarts|$ours|--ticks 8 --cycle 1
4 experts|$ours --experts 4|--ticks 8
1 expert, hidden 2048|$ours --experts 1 --hidden 2048|--ticks 8"

wanted() {
	[ $# -eq 1 ] && return 0
	name=$1
	shift
	for v; do [ "$v" = "$name" ] && return 0; done
	return 1
}

echo "$variants" | while IFS='|' read -r name both second; do
	wanted "$name" "$@" || continue
	f="$out/$(echo "$name" | tr ' ,' '-_')"
	common="--data $data --batch 64 --clip 1 --rate 2e-4 $both"
	# shellcheck disable=SC2086
	[ -s "$f.report" ] || {
		echo "$name" >&2
		"$out/mannequin" train mann --out "$f.one.safetensors" $common --warm-up 0.2 --cycle 3 --epochs 3 --resume 2> "$f.one.log"
		"$out/mannequin" train mann --out "$f.safetensors" --start "$f.one.safetensors" $common --warm-up 0.3 --cycle 4 --epochs 4 $second --resume 2> "$f.log"
		"$out/mannequin" eval mann --model "$f.safetensors" --data "$data" > "$f.report.new"
		mv "$f.report.new" "$f.report"
	}
done

{
	echo "| variant | places, mm | velocities, m/s | worst speed | skate walk, turn | leg angles walk, turn | starts that reach the gait | bars missed |"
	echo "|---|---|---|---|---|---|---|---|"
	echo "$variants" | while IFS='|' read -r name _; do
		f="$out/$(echo "$name" | tr ' ,' '-_').report"
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
