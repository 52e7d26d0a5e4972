#!/bin/sh
# Renders the scenes' pictures in docs/ anew, in 256 colours. Needs bin/demo (make
# build; for herd make build-webgpu) and ffmpeg.
#   usage: scripts/pictures.sh [NAME...]   dog person course crowd herd people latent-scene strnn-crowd interact cutscene; all but herd without a name
set -eu

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# picture NAME FRAME FLAGS... writes docs/NAME.png: that frame of a recording.
picture() {
	name=$1 frame=$2
	shift 2
	bin/demo --headless --out "$tmp/$name" "$@"
	ffmpeg -loglevel error -i "$tmp/$name/frame_$frame.png" \
		-vf 'split[a][b];[a]palettegen=reserve_transparent=0[p];[b][p]paletteuse=dither=none' \
		-frames:v 1 -update 1 "$tmp/$name.png"
	mv "$tmp/$name.png" "docs/$name.png"
}

[ $# -gt 0 ] || set -- dog person course crowd people latent-scene strnn-crowd interact cutscene
for name; do
	case $name in
	dog) picture dog 00007 --scene quadruped --seconds 4 --fps 2 ;;
	course) picture course 00029 --scene course --seconds 15.5 --fps 2 --width 960 --height 540 ;;
	crowd) picture crowd 00017 --scene crowd --agents 150 --seconds 9 --fps 2 ;;
	herd) picture herd 00004 --scene herd --agents 60 --gpu-beyond 9 --seconds 2.5 --fps 2 --width 960 --height 540 ;;
	cutscene) picture cutscene 00041 --scene cutscene --seconds 21 --fps 2 --width 960 --height 540 ;;
	people) picture people 00011 --scene people --agents 200 --seconds 12 --fps 1 --width 960 --height 540 ;;
	latent-scene) picture latent-scene 00013 --scene latent --seconds 14 --fps 1 --width 960 --height 540 ;;
	strnn-crowd) picture strnn-crowd 00021 --scene strnn --agents 60 --seconds 12 --fps 2 --width 960 --height 540 ;;
	person) picture person 00038 --scene person --seconds 7.8 --fps 5 --width 960 --height 540 ;;
	interact) picture interact 00014 --scene interact --seconds 8 --fps 2 --width 960 --height 540 ;;
	*) echo "pictures: no picture is named $name" >&2; exit 2 ;;
	esac
done
