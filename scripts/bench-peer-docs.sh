#!/bin/sh
# Puts the output of make bench-peer, read from standard input, into
# docs/netruntime.md.
#   usage: make bench-peer | scripts/bench-peer-docs.sh
set -eu
doc=$(dirname "$0")/../docs/netruntime.md
table=$(sed -n '/^ONNX Runtime/,$p')
[ -n "$table" ] || { echo "bench-peer-docs: nothing to put in: give the output of make bench-peer" >&2; exit 1; }
new=$(mktemp -p "$(dirname "$doc")")
trap 'rm -f "$new"' EXIT
TABLE=$table awk '
	/^<!-- make bench-peer: begin/ { print; print "```\n$ make bench-peer\n" ENVIRON["TABLE"] "\n```"; skip = 1 }
	/^<!-- make bench-peer: end/ { skip = 0 }
	!skip { print }
' "$doc" >"$new"
chmod 644 "$new"
mv "$new" "$doc"
