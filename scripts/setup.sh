#!/bin/sh
# Makes this machine able to build and run mannequin: checks git, a C compiler
# and Go, and installs the system packages that are missing (Debian and
# Ubuntu; elsewhere it prints what is needed).
#   usage: scripts/setup.sh [web | webgpu | cluster | engines | dist]   (web: for the test in a browser, too; webgpu: a software driver of a GPU; cluster: for training on several processes; engines: what checks the library for other languages; dist: compilers for the library on other machines)
set -eu

fail() { echo "setup: $*" >&2; exit 1; }

command -v git >/dev/null 2>&1 || fail "git is missing: install it and run make again"
command -v "${CC:-cc}" >/dev/null 2>&1 || fail "a C compiler is missing (for the window and the GPU picture): install gcc and run make again"
command -v go >/dev/null 2>&1 || fail "Go is missing: install Go 1.21 or newer from https://go.dev/dl and run make again (it fetches 1.26 by itself)"
minor=$(GOTOOLCHAIN=local go env GOVERSION | sed -n 's/^go1\.\([0-9]*\).*/\1/p')
[ -n "$minor" ] && [ "$minor" -ge 21 ] || fail "$(GOTOOLCHAIN=local go env GOVERSION) is too old: install Go 1.21 or newer from https://go.dev/dl"

# package, then why it is needed
packages='
pkg-config|finds the libraries below
libgl-dev|OpenGL headers, for the picture
libx11-dev|window
libxcursor-dev|window
libxrandr-dev|window
libxinerama-dev|window
libxi-dev|window
libxxf86vm-dev|window
libopenal-dev|sound of g3n, which the example of a game links
libvorbis-dev|the same
xvfb|the tests that open a window
libegl1|rendering without a display
libegl-mesa0|rendering without a display
libgl1-mesa-dri|software OpenGL where there is no GPU
ffmpeg|MP4 videos
g++|the GPU kernels, compiled for the processor by the tests
'

if [ "${1:-}" = web ]; then
	packages="${packages}chromium|the browser that the page is tested in
"
fi

if [ "${1:-}" = webgpu ]; then
	packages="${packages}libvulkan1|networks through WebGPU
mesa-vulkan-drivers|the same, where there is no GPU
vulkan-validationlayers|checks how they use Vulkan
"
fi

if [ "${1:-}" = engines ]; then
	packages="${packages}valgrind|finds wrong uses of memory in the library's example
python3|the library from Python
libglfw3-dev|its viewer
godot3-server|the extension for Godot
godot3|its picture
mono-mcs|C#
mono-runtime|the same
nodejs|the library from JavaScript
gcc-aarch64-linux-gnu|the library for arm64
libc6-dev-arm64-cross|the same
qemu-user|runs it
gcc-mingw-w64-x86-64|the library for Windows
wine64|runs it
"
fi

if [ "${1:-}" = dist ]; then
	packages="${packages}gcc-aarch64-linux-gnu|the library for arm64
libc6-dev-arm64-cross|the same
gcc-mingw-w64-x86-64|the library for Windows
"
fi

if [ "${1:-}" = cluster ]; then
	packages="${packages}libopenmpi-dev|training on several processes
openmpi-bin|the same
nats-server|jobs for workers
munge|jobs under Slurm
slurmctld|the same
slurmd|the same
slurm-client|the same
nginx-light|a proxy in front of servers of networks
"
fi

if ! command -v dpkg-query >/dev/null 2>&1; then
	echo "setup: this is not Debian or Ubuntu; these packages, by Debian's names, are needed:"
	echo "$packages" | sed -n 's/^\(..*\)|\(.*\)$/  \1 (\2)/p'
	exit 0
fi

missing=''
for line in $(echo "$packages" | tr ' ' '_'); do
	name=${line%%|*}
	if ! dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed'; then
		missing="$missing $name"
		echo "setup: installing $name: $(echo "${line#*|}" | tr '_' ' ')"
	fi
done
[ -n "$missing" ] || exit 0

sudo=''
if [ "$(id -u)" -ne 0 ]; then
	command -v sudo >/dev/null 2>&1 || fail "not root and no sudo: run as root: apt-get install$missing"
	sudo=sudo
fi
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# shellcheck disable=SC2086 # the list is meant to split
if ! { $sudo apt-get update && $sudo apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	fail "apt-get could not install$missing (log: $log)"
fi
rm -f "$log"
