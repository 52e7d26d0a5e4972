#!/bin/sh
# Compiles the CUDA kernels to the PTX that the backend embeds, where the sources
# have changed since; with --check it only says whether they have.
#   usage: scripts/cuda-kernels.sh [--check]
# It needs nvcc 11.8 ($NVCC, or nvcc on the path), and installs Debian's package
# nvidia-cuda-toolkit, of the section non-free, where there is none. A newer
# nvcc would write PTX that older drivers refuse.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../netruntime/cuda/kernels"
sum=$(cat -- *.cu *.h | sha256sum | cut -d' ' -f1)

stale=''
for cc in 80 90; do
	[ "$(sed -n '1s/^\/\/ sources: //p' sm_$cc.ptx 2>/dev/null)" = "$sum" ] || stale="$stale $cc"
done
if [ -z "$stale" ]; then
	echo "kernels: the PTX is that of the sources"
	exit 0
fi
if [ "${1:-}" = --check ]; then
	echo "kernels: the sources have changed since the PTX was made: run make cuda" >&2
	exit 1
fi

nvcc=${NVCC:-nvcc}
if ! command -v "$nvcc" >/dev/null 2>&1; then
	sudo=''
	[ "$(id -u)" -eq 0 ] || sudo=sudo
	echo "kernels: installing nvidia-cuda-toolkit: nvcc compiles the kernels"
	DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y --no-install-recommends nvidia-cuda-toolkit >/dev/null || {
		echo "kernels: no nvcc: enable Debian's section non-free, or set NVCC to an nvcc of CUDA 11.8" >&2
		exit 1
	}
fi
"$nvcc" --version | grep -q 'release 11\.8' || {
	echo "kernels: $nvcc is not of CUDA 11.8: set NVCC to one that is" >&2
	exit 1
}
for cc in $stale; do
	"$nvcc" -ptx -arch=compute_"$cc" -O3 -std=c++17 kernels.cu -o sm_"$cc".ptx.new
	{ echo "// sources: $sum"; cat sm_"$cc".ptx.new; } >sm_"$cc".ptx.all
	mv sm_"$cc".ptx.all sm_"$cc".ptx
	rm sm_"$cc".ptx.new
	echo "kernels: wrote netruntime/cuda/kernels/sm_$cc.ptx"
done
