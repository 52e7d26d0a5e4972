// Package egl makes OpenGL contexts without a window.
package egl

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

// EGL's few entry points that are needed here. The library is opened at run
// time, so that a machine without it gets an error message from us and not one
// from the loader.
typedef void *(*get_proc_t)(const char *);
typedef void *(*get_platform_display_t)(unsigned, void *, const int *);
typedef unsigned (*query_devices_t)(int, void **, int *);
typedef unsigned (*initialize_t)(void *, int *, int *);
typedef unsigned (*bind_api_t)(unsigned);
typedef unsigned (*choose_config_t)(void *, const int *, void **, int, int *);
typedef void *(*create_context_t)(void *, void *, void *, const int *);
typedef void *(*create_pbuffer_t)(void *, void *, const int *);
typedef unsigned (*make_current_t)(void *, void *, void *, void *);
typedef unsigned (*destroy_t)(void *, void *);
typedef unsigned (*terminate_t)(void *);

static void *lib, *display, *context, *surface;

static void *sym(const char *name) { return dlsym(lib, name); }

// open_display tries Mesa's display without a window system, then, for drivers
// that have none, every graphics device. It returns 0 when nothing works.
static int open_display(get_proc_t get_proc, get_platform_display_t get_display, initialize_t initialize) {
	display = get_display(0x31DD, NULL, NULL); // EGL_PLATFORM_SURFACELESS_MESA
	if (display && initialize(display, NULL, NULL))
		return 1;
	query_devices_t query = (query_devices_t)get_proc("eglQueryDevicesEXT");
	void *devices[16];
	int n = 0;
	if (query && query(16, devices, &n)) {
		for (int i = 0; i < n; i++) {
			display = get_display(0x313F, devices[i], NULL); // EGL_PLATFORM_DEVICE_EXT
			if (display && initialize(display, NULL, NULL))
				return 1;
		}
	}
	display = NULL;
	return 0;
}

// egl_open makes an OpenGL 3.3 core context current, without any window system.
// It returns NULL, or what failed.
static const char *egl_open(void) {
	if (!lib && !(lib = dlopen("libEGL.so.1", RTLD_LAZY | RTLD_GLOBAL)))
		return "libEGL.so.1 is not installed";
	get_proc_t get_proc = (get_proc_t)sym("eglGetProcAddress");
	initialize_t initialize = (initialize_t)sym("eglInitialize");
	bind_api_t bind_api = (bind_api_t)sym("eglBindAPI");
	choose_config_t choose = (choose_config_t)sym("eglChooseConfig");
	create_context_t create = (create_context_t)sym("eglCreateContext");
	create_pbuffer_t pbuffer = (create_pbuffer_t)sym("eglCreatePbufferSurface");
	make_current_t make_current = (make_current_t)sym("eglMakeCurrent");
	if (!get_proc || !initialize || !bind_api || !choose || !create || !pbuffer || !make_current)
		return "libEGL.so.1 lacks a function";
	get_platform_display_t get_display = (get_platform_display_t)get_proc("eglGetPlatformDisplayEXT");
	if (!get_display)
		return "this EGL cannot render without a window system";
	if (!open_display(get_proc, get_display, initialize))
		return "no graphics driver, not even a software one";
	static const int want[] = {
		0x3033, 0x0001, // EGL_SURFACE_TYPE: pbuffer
		0x3040, 0x0008, // EGL_RENDERABLE_TYPE: OpenGL
		0x3024, 8, 0x3023, 8, 0x3022, 8, // red, green, blue
		0x3038};
	void *config;
	int n = 0;
	if (!bind_api(0x30A2) || !choose(display, want, &config, 1, &n) || n < 1)
		return "the graphics driver has no OpenGL";
	static const int version[] = {
		0x3098, 3, 0x30FB, 3, // 3.3
		0x30FD, 1,            // core profile
		0x3038};
	if (!(context = create(display, config, NULL, version)))
		return "the graphics driver has no OpenGL 3.3";
	static const int size[] = {0x3057, 16, 0x3056, 16, 0x3038};
	if (!(surface = pbuffer(display, config, size)))
		return "cannot make an offscreen surface";
	if (!make_current(display, surface, surface, context))
		return "cannot use the OpenGL context";
	return NULL;
}

static int egl_is_open(void) { return context != NULL; }

static void egl_close(void) {
	if (!lib || !display)
		return;
	make_current_t make_current = (make_current_t)sym("eglMakeCurrent");
	destroy_t destroy_context = (destroy_t)sym("eglDestroyContext");
	destroy_t destroy_surface = (destroy_t)sym("eglDestroySurface");
	terminate_t terminate = (terminate_t)sym("eglTerminate");
	make_current(display, NULL, NULL, NULL);
	if (surface) destroy_surface(display, surface);
	if (context) destroy_context(display, context);
	terminate(display);
	display = context = surface = NULL;
}
*/
import "C"

import (
	"errors"
	"fmt"

	"github.com/g3n/engine/gls"

	"mannequin/engine/internal/gl"
)

// Open makes an OpenGL 3.3 context without a window current on this thread. There may be one: a second one
// would take the place of the first.
func Open() (*gls.GLS, error) {
	if C.egl_is_open() != 0 {
		return nil, errors.New("an offscreen screen or stage is open already: close it first")
	}
	if msg := C.egl_open(); msg != nil {
		C.egl_close()
		return nil, errors.New("cannot render offscreen: " + C.GoString(msg) + " (Debian: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri)")
	}
	gs, err := gls.New()
	if err == nil {
		err = gl.Init()
	}
	if err != nil {
		C.egl_close()
		return nil, fmt.Errorf("cannot load OpenGL: %w", err)
	}
	return gs, nil
}

// Close ends the context.
func Close() { C.egl_close() }
