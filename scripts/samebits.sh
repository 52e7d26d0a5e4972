#!/bin/sh
# Plays every scene here and as a program for arm64 in qemu, and compares the hashes of all states.
#   usage: scripts/samebits.sh [pattern of scenes and kernels, such as quadruped]
# It needs qemu-aarch64, Debian's package qemu-user, and is skipped without it. Plain Go takes
# minutes for all scenes, in qemu much longer.
set -eu
cd "$(dirname "$0")/.."
if ! command -v qemu-aarch64 >/dev/null 2>&1; then
	echo "samebits: no qemu-aarch64: programs for arm64 are not compared (Debian's package is qemu-user)"
	exit 0
fi
scenes=${1:-quadruped}
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
export MANNEQUIN_HASHES="$new/hashes"
go=${GO:-go}
$go test -count=1 -run "SameBits/$scenes" ./scenes/tape
GOOS=linux GOARCH=arm64 CGO_ENABLED=0 $go test -count=1 -timeout 0 -gcflags=all=-d=fmahash=qn \
	-exec qemu-aarch64 -run "SameBits/$scenes" ./scenes/tape
