//go:build cuda

package fakecuda

// #cgo LDFLAGS: -ldl
// #include <dlfcn.h>
// #include <stdlib.h>
//
// static void *symbol(const char *library, const char *name) {
// 	void *l = dlopen(library, RTLD_NOW);
// 	return l ? dlsym(l, name) : 0;
// }
// static unsigned long long calls(const char *library, const char *name) {
// 	unsigned long long (*f)(const char *) = symbol(library, "fakeCalls");
// 	return f ? f(name) : 0;
// }
// static long long live(const char *library) {
// 	long long (*f)(void) = symbol(library, "fakeLive");
// 	return f ? f() : -1;
// }
// struct range;
// extern int fakecudaLoad(char *);
// extern int fakecudaRun(char *, long long, long long, long long, unsigned long long *, long long, struct range *, long long);
// static int interpret(const char *library) {
// 	void (*f)(void *, void *) = symbol(library, "fakeInterpret");
// 	if (f) f(fakecudaLoad, fakecudaRun);
// 	return f != 0;
// }
// static void heal(const char *library) {
// 	void (*f)(void) = symbol(library, "fakeHeal");
// 	if (f) f();
// }
import "C"

import (
	"os"
	"unsafe"
)

func library() *C.char { return C.CString(os.Getenv(driverVariable)) }

// setInterpreter lets the driver run PTX.
func setInterpreter() {
	l := library()
	defer C.free(unsafe.Pointer(l))
	if C.interpret(l) == 0 {
		panic("fakecuda: the driver can't interpret kernels")
	}
}

// Calls returns the number of calls of a function of the fake driver, such as "cuLaunchKernel", or
// of all functions for "".
func Calls(function string) int {
	l, name := library(), C.CString(function)
	defer C.free(unsafe.Pointer(l))
	defer C.free(unsafe.Pointer(name))
	return int(C.calls(l, name))
}

// Live returns the number of allocations, streams, events and modules that are not freed.
func Live() int {
	l := library()
	defer C.free(unsafe.Pointer(l))
	return int(C.live(l))
}

// Fail makes the n-th call of a function from now on return code. Codes that end a context make all
// later calls fail too. With "hang" for the code the device does no work from that call on. Fail
// returns a function that repairs the device, after which one that hung does its work.
func Fail(failure string) (mend func()) {
	os.Setenv("FAKE_CUDA_FAIL", failure)
	return func() {
		os.Unsetenv("FAKE_CUDA_FAIL")
		l := library()
		defer C.free(unsafe.Pointer(l))
		C.heal(l)
	}
}
