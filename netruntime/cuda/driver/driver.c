// A libcuda to link against if none is installed, and to start with if there is
// no driver. It opens the real driver when cuInit is called, and passes every
// function of cuda_functions.h on to it.
//
// $CUDA_DRIVER_LIB names the driver's library; unset or empty, it is
// libcuda.so.1. If a name is given, no other is tried, so a name of no library
// switches the GPU off.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

// Hidden from libraries that are opened later. A program linked with -rdynamic
// shows them its functions, and the driver must not call these as its own.
#pragma GCC visibility push(hidden)
#include <cuda.h>

// The driver's functions, or NULL if it lacks one. Written once, by
// open_driver.
static struct {
#define CUDA_FUNCTION(name, params, args) CUresult (*name) params;
#include "cuda_functions.h"
} driver;

// The result of the driver's cuInit. A thread that reads CUDA_SUCCESS here may
// read the functions above.
static CUresult status = CUDA_ERROR_NOT_INITIALIZED;

// Used from CUDA_FUNCTION, which has already replaced the name by the one with
// a version.
#define FIND(name) (__typeof__(&name))dlsym(library, #name)

static CUresult open_driver(void) {
	const char *path = getenv("CUDA_DRIVER_LIB");
	if (path == NULL || *path == '\0') {
		path = "libcuda.so.1";
	}
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL) {
		return CUDA_ERROR_NO_DEVICE;
	}
#define CUDA_FUNCTION(name, params, args) driver.name = FIND(name);
#include "cuda_functions.h"
	CUresult (*init)(unsigned) = FIND(cuInit);
	return init == NULL ? CUDA_ERROR_NOT_FOUND : init(0);
}

static void start(void) {
	__atomic_store_n(&status, open_driver(), __ATOMIC_RELEASE);
}

// cuInit always succeeds, because gorgonia.org/cu ends the process from an init
// function if it does not. Every other function returns the real status if that
// is an error, cuDeviceGetCount included. The flags are dropped: zero is their
// only value.
CUresult cuInit(unsigned flags) {
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	(void)flags;
	pthread_once(&once, start);
	return CUDA_SUCCESS;
}

#define CUDA_FUNCTION(name, params, args) \
	CUresult name params { \
		CUresult now = __atomic_load_n(&status, __ATOMIC_ACQUIRE); \
		if (now != CUDA_SUCCESS) { \
			return now; \
		} \
		return driver.name == NULL ? CUDA_ERROR_NOT_FOUND : driver.name args; \
	}
#include "cuda_functions.h"
