//go:build linux && !wayland

package stage

/*
#cgo LDFLAGS: -lX11 -ldl
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <X11/Xlib.h>

static volatile int gone;

static int onError(Display *d) { gone = 1; return 0; }

static void onExit(Display *d, void *data) {}

static int displayGone(void) { return gone; }

// Xlib of version 1.7 or newer can be told not to end the process when the server closes.
static void watchDisplay(void *d) {
	typedef void (*set_t)(Display *, void (*)(Display *, void *), void *);
	set_t set = (set_t)dlsym(RTLD_DEFAULT, "XSetIOErrorExitHandler");
	if (set != NULL) {
		XSetIOErrorHandler(onError);
		set((Display *)d, onExit, NULL);
	}
}
*/
import "C"

import (
	"unsafe"

	"github.com/go-gl/glfw/v3.3/glfw"
)

// watchDisplay lets the program outlive its display, so that it can end properly.
func watchDisplay() { C.watchDisplay(unsafe.Pointer(glfw.GetX11Display())) }

// displayGone reports whether the display is gone, so that glfw and OpenGL may not be called.
func displayGone() bool { return C.displayGone() != 0 }

const goneMessage = "stage: the display has gone: the X server closed its connection"
