#!/bin/sh
# Runs the tests of netruntime/webgpu in a copy of Chromium whose WebGPU has float16, on the processor: webgpu-float16.c has how.
#   usage: scripts/webgpu-float16.sh [pattern of the browser's tests, such as networks; sessions is the default]
# It needs a C compiler and Debian's packages chromium and mesa-vulkan-drivers (make test-web and make test-webgpu install them).
set -eu
cd "$(dirname "$0")/.."
from=${CHROMIUM:-/usr/lib/chromium}
[ -f "$from/libvk_swiftshader.so" ] || { echo "webgpu-float16: no Chromium in $from: set CHROMIUM to its folder" >&2; exit 1; }
new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
cp -r "$from" "$new/browser"
${CC:-cc} -Wall -shared -fPIC -DSWIFTSHADER="\"$from/libvk_swiftshader.so\"" -o "$new/browser/libvk_swiftshader.so" scripts/webgpu-float16.c -ldl
mkdir "$new/bin"
printf '#!/bin/sh\nexec "%s" --disable-gpu-sandbox "$@"\n' "$new/browser/chromium" >"$new/bin/chromium"
chmod +x "$new/bin/chromium"
PATH="$new/bin:$PATH" MANNEQUIN_WEB=1 ${GO:-go} test -count=1 -timeout 30m -v -run "Browser/${1:-sessions}" ./netruntime/webgpu >"$new/said" 2>&1 || { cat "$new/said"; exit 1; }
cat "$new/said"
if grep -q "no float16 on" "$new/said"; then
	echo "webgpu-float16: Chromium's WebGPU has no float16 here" >&2
	exit 1
fi
