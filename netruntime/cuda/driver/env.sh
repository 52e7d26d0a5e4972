#!/bin/sh
# Prints the settings with which a program that imports gorgonia.org/cu builds
# without a CUDA toolkit and starts without a GPU:
#
#   eval "$(sh netruntime/cuda/driver/env.sh [BUILD_DIR])"
#   go build -tags cuda ./...
#
# First it compiles driver.c to BUILD_DIR/libcuda.a, if that file is missing or
# older than its sources. It needs go and the C compiler that go uses.
set -eu

new=
# A failure is printed as false, so that eval fails too.
trap 'ok=$?; [ -z "$new" ] || rm -f "$new" "$new.o"; [ $ok = 0 ] || echo false' EXIT

here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
dir=${1:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/mannequin/cuda}
mkdir -p -- "$dir"
dir=$(CDPATH= cd -- "$dir" && pwd)

if [ ! -f "$dir/libcuda.a" ] || [ -n "$(find "$here" -type f -newer "$dir/libcuda.a")" ]; then
	# Built aside and renamed: another build may be linking the old one.
	new=$dir/libcuda.$$
	$(go env CC) -O2 -Wall -fPIC "-I$here/include" -c -o "$new.o" "$here/driver.c"
	$(go env AR) rcs "$new" "$new.o"
	mv -f -- "$new" "$dir/libcuda.a"
fi

# word quotes a flag for go if it has blanks.
word() {
	case $1 in
	*[[:blank:]]*) printf '"%s"' "$1" ;;
	*) printf '%s' "$1" ;;
	esac
}

# set_flags NAME FLAGS puts FLAGS before the value that NAME has, once.
set_flags() {
	old=$(go env "$1")
	case " $old " in
	*" $2 "*) flags=$old ;;
	*) flags="$2 $old" ;;
	esac
	printf "export %s='%s'\n" "$1" "$(printf %s "$flags" | sed "s/'/'\\\\''/g")"
}

# Go does not check whether cuda.h and libcuda.a are newer than its results. It
# checks the flags: the linker ignores -D, which here is the sources' checksum.
sum=$(cat "$here/driver.c" "$here"/include/*.h | cksum | cut -d' ' -f1)

# Our folders come before those that cu names, and so win over an installed cuda.h
# and libcuda.so. On an old glibc -lcuda needs the two libraries after it.
set_flags CGO_CFLAGS "$(word "-I$here/include")"
set_flags CGO_LDFLAGS "$(word "-L$dir") -lcuda -ldl -lpthread -DCUDA_DRIVER=$sum"
