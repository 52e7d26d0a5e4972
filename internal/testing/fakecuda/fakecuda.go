// Package fakecuda runs tests of the CUDA backend without a GPU, on a driver of our own. That
// driver runs the same kernels, compiled for the processor (netruntime/cuda/host).
package fakecuda

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// driverVariable names the driver's library to netruntime/cuda/driver.
const driverVariable = "CUDA_DRIVER_LIB"

// Device reports whether the tests run on a GPU: whether MANNEQUIN_GPU is set.
func Device() bool { return os.Getenv("MANNEQUIN_GPU") != "" }

// PTX reports whether the fake driver runs the PTX that a GPU gets in place of the kernels' sources: whether FAKE_CUDA_PTX is
// set.
func PTX() bool { return !Device() && os.Getenv("FAKE_CUDA_PTX") != "" }

// interpret lets the fake driver run PTX.
var interpret = func() {}

// Main runs a package's tests on the fake driver, or on a GPU if MANNEQUIN_GPU is set. A program
// chooses its driver before its first line, so the tests run in a second process.
func Main(m *testing.M) {
	if Device() || os.Getenv(driverVariable) != "" {
		if PTX() {
			interpret()
		}
		os.Exit(m.Run())
	}
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakecuda:", err)
		code = 1
	}
	os.Exit(code)
}

func run() (code int, err error) {
	dir, err := os.MkdirTemp("", "fakecuda")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	_, file, _, _ := runtime.Caller(0)
	sources := filepath.Join(filepath.Dir(file), "..", "..", "..", "netruntime", "cuda")
	library := filepath.Join(dir, "libfakecuda.so")
	out, err := exec.Command("g++", "-O2", "-std=c++17", "-shared", "-fPIC", "-I"+filepath.Join(sources, "host"), "-I"+filepath.Join(sources, "kernels"),
		filepath.Join(sources, "host", "fake.cpp"), "-o", library).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("compile the kernels for the processor: %w\n%s", err, out)
	}
	c := exec.Command(os.Args[0], os.Args[1:]...)
	c.Env = append(os.Environ(), driverVariable+"="+library)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	var exit *exec.ExitError
	if err := c.Run(); errors.As(err, &exit) {
		return exit.ExitCode(), nil
	} else if err != nil {
		return 0, err
	}
	return 0, nil
}
