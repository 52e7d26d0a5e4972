#!/bin/sh
# Makes FOLDER/hero.character, which is models/hero, from recordings: the Motion Matching sample of O3DE as BVH, ReActIdle, CMU's h21 jumps, and
# Mesh2Motion's base animations.
#   usage: scripts/hero.sh DATA FOLDER   (DATA has human-o3de, reactidle, cmu-actions and mesh2motion; FOLDER is for work; 50 minutes on two cores)
set -eu
data=$1 work=$2
mannequin=$(dirname "$0")/../bin/mannequin
in=$work/in
mkdir -p "$in"

"$mannequin" import "$data"/human-o3de/bvh/*.bvh --retarget --fps 60 --out "$in" --force
for n in 002 003 008 011; do
	"$mannequin" import "$data/reactidle/genuine/${n}_genuine.bvh" --retarget --fps 60 --out "$in/Idle_$n.bvh" --force
done
for n in h21_jump h21_jump-across; do
	"$mannequin" import "$data/cmu-actions/$n.bvh" --retarget --fps 60 --out "$in/$n.bvh" --force
done
for n in Roll_RM Sitting_Enter Sitting_Idle_Loop Sitting_Talking_Loop Sitting_Exit Hit_Chest Hit_Head; do
	"$mannequin" import "$data/mesh2motion/human/human-base-animations.2025-08-10.glb" --animation "$n" --retarget --fps 60 --out "$in/$n.bvh" --force
done
# The recordings' runs end at 3.9 m/s. A sprint is the fastest of them at 1.3 times their rate: up to 5 m/s, with 4.4 steps a second.
"$mannequin" import "$data/human-o3de/bvh/Acceleration1.bvh" --frame-rate 78 --retarget --fps 60 --out "$in/Sprint.bvh" --force

# What stands on boxes, is pushed, or leaves the stage is not learned. Of a roll, its end is not: a player waits for no more.
cat >"$work/labels.toml" <<'END'
[clips]
"Jumps1" = "auto 7.6-18.8"
"Roll_RM" = "roll 0-1.2"
"Sitting_Talking_Loop" = "sit"
"JumpsFreeRoam1" = "auto 0-20.9, 23.4-38.3, 40-48.6, 59-79.8"
"Sprint" = "auto 0-12.3, 34.5-38"
"h21_jump" = "auto 0-7.5"
"h21_jump-across" = "auto"
END
"$mannequin" make "$in" --skip 'Pushes1*' --skip 'OutofRange1*' --labels "$work/labels.toml" --responsive --train 45 --method matching --name hero --license MIT \
	--data "people: Motion Matching sample of O3DE (Apache-2.0 OR MIT), ReActIdle (MIT), CMU, Mesh2Motion (CC0)" \
	--networks "$work/hero.character" --out "$work/hero-full.character" --force
