package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mannequin/internal/testing/must"
)

// The libraries for other machines have the bits of this one's, in an emulator. A part of make test-engines.
func TestElsewhere(t *testing.T) {
	if !long {
		t.Skip("it builds the library twice more: make test-engines runs it")
	}
	crowd := func(env []string, program ...string) (hashes []string) {
		out := run(t, env, program[0], append(program[1:], dogFile, "10", "120", "60")...)
		for _, line := range strings.Split(out, "\n") {
			if f := strings.Fields(line); len(f) == 2 && f[0] != "call" {
				hashes = append(hashes, f[0])
			}
		}
		if len(hashes) != 2 {
			t.Fatalf("it prints\n%s", out)
		}
		return hashes
	}
	want := crowd(nil, compile(t, library(t, plain), "testdata/crowd.c", "-O2"))
	same := func(t *testing.T, got []string) {
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("the hash is %s, and %s here", got[i], want[i])
			}
		}
	}
	// The flag keeps Go from fusing products and sums on arm64: docs/netruntime.md.
	build := func(os, arch, gcc, name, lib string, flags ...string) (dir, program string) {
		need(t, gcc)
		dir = t.TempDir()
		lib, program = filepath.Join(dir, lib), filepath.Join(dir, name)
		run(t, []string{"GOOS=" + os, "GOARCH=" + arch, "CC=" + gcc, "CGO_ENABLED=1"}, "go", "build", "-gcflags=all=-d=fmahash=qn", "-buildmode=c-shared", "-o", lib, ".")
		run(t, nil, gcc, append([]string{"-std=gnu11", "-O2", "-I.", "-o", program, "testdata/crowd.c", lib}, flags...)...)
		return dir, program
	}
	t.Run("linux arm64", func(t *testing.T) {
		qemu := need(t, "qemu-aarch64")
		dir, program := build("linux", "arm64", "aarch64-linux-gnu-gcc", "crowd", "libmannequin.so", "-lm")
		same(t, crowd(nil, qemu, "-L", "/usr/aarch64-linux-gnu", "-E", "LD_LIBRARY_PATH="+dir, program))
	})
	t.Run("windows amd64", func(t *testing.T) {
		const wine = "/usr/lib/wine/wine64" // Debian's has no name in the path
		if _, err := os.Stat(wine); err != nil {
			t.Skip("wine64 is missing")
		}
		dir, program := build("windows", "amd64", "x86_64-w64-mingw32-gcc", "crowd.exe", "mannequin.dll", "-D__USE_MINGW_ANSI_STDIO=1", "-static", "-lpthread")
		env := []string{"WINEPREFIX=" + filepath.Join(dir, "wine"), "WINEDEBUG=-all"}
		run(t, env, wine, "wineboot", "--init")
		// Wine 8 lacks a library of Windows 10 that Go takes random numbers from.
		random := filepath.Join(dir, "wine", "drive_c", "windows", "system32", "bcryptprimitives.dll")
		if _, err := os.Stat(random); err != nil {
			source := filepath.Join(dir, "random.c")
			must.Do(t, os.WriteFile(source, []byte("#include <windows.h>\n#include <ntsecapi.h>\n"+
				"__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return RtlGenRandom(data, size); }\n"), 0o644))
			run(t, nil, "x86_64-w64-mingw32-gcc", "-shared", "-o", random, source, "-ladvapi32")
		}
		same(t, crowd(env, wine, program))
	})
}
